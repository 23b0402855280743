package bisect

import (
	"context"
	"errors"
	"fmt"
	"os"

	"rewind/engine/project"
	"rewind/internal/treecopy"
)

// Mounts is what who runs the command can mount for it.
type Mounts struct {
	Overlay  bool `json:"overlay,omitempty"`
	ReadOnly bool `json:"read_only,omitempty"`
	// The mounts are a user namespace's, to which only files of this user and Group are known: an overlay cannot take
	// in others.
	Own   bool `json:"own,omitempty"`
	Group int  `json:"group,omitempty"`
}

// Limits of what is copied for a session, all directories together.
var (
	reflinkLimit = treecopy.Size{Entries: 200_000}
	copyLimit    = treecopy.Size{Entries: 50_000, Bytes: 512 << 20}
)

// reflink makes a reflink; tests have one for file systems without.
var reflink treecopy.Clone = treecopy.Reflink

// dependencies are directories that hold what was fetched as other files name it: a command needs them, and reads them.
// Others are made by building, or are data: without them a build makes its own, and a copy could take long. So where
// directories can only be copied or shown read-only, these are, and the others are left out.
var dependencies = map[string]string{
	"node_modules":     "npm, yarn, pnpm: packages",
	"bower_components": "Bower: packages",
	".yarn":            "yarn: its cache and unplugged packages",
	".venv":            "Python: an environment with packages",
	"venv":             "Python: the same",
	"__pypackages__":   "Python: packages",
	".pixi":            "pixi: environments",
	"vendor":           "Go, Composer, Bundler, cargo: packages",
	".bundle":          "Bundler: packages and settings",
	".cargo":           "cargo: its registry, where CARGO_HOME lies in the project",
	"Pods":             "CocoaPods: packages",
	"deps":             "mix, rebar: packages",
}

// mountable is what can be mounted: nothing where the scratch directory lies in the project, which is covered by a
// mount.
func (b *Bisector) mountable(m Mounts) Mounts {
	if project.Within(b.home(), b.log.Project.Root) {
		return Mounts{Group: m.Group}
	}
	return m
}

// decide settles how a directory is shown, or why it is left out. A copy is made by that.
func (b *Bisector) decide(ctx context.Context, session string, r *record, l *Link) error {
	found, err := b.measure(ctx, r, l.Path)
	switch {
	case err == nil:
		err = b.copy(ctx, session, l.Path, reflinked, left(reflinkLimit, r.Copied))
		if err == nil {
			l.How, r.Copied = reflinked, r.Copied.Add(found.Size)
			return nil
		}
		if !errors.Is(err, treecopy.ErrNoReflink) && !errors.Is(err, treecopy.ErrTooLarge) {
			return err
		}
	case !errors.Is(err, treecopy.ErrTooLarge):
		return err
	}
	if l.How, l.Why = r.Mounts.how(l.Path, found); l.How == copied {
		return b.decideCopy(ctx, session, r, l, found.Size)
	}
	return nil
}

// measure looks through a directory of the project, as far as reflinks may be made of it. Errors: treecopy.ErrTooLarge.
func (b *Bisector) measure(ctx context.Context, r *record, path string) (treecopy.Survey, error) {
	root, err := os.OpenRoot(b.log.Project.Root)
	if err != nil {
		return treecopy.Survey{}, err
	}
	defer root.Close()
	user := uint32(os.Geteuid()) //nolint:gosec // the system's own number
	mine := func(uid, gid uint32) bool { return uid == user && int(gid) == r.Mounts.Group }
	return treecopy.Measure(ctx, root, path, left(reflinkLimit, r.Copied), mine)
}

// how is how a directory is shown without reflinks, or why it is left out.
func (m Mounts) how(path string, found treecopy.Survey) (how How, why string) {
	_, known := dependencies[path]
	foreign := m.Own && found.Foreign != ""
	switch {
	case m.Overlay && !foreign:
		return overlaid, ""
	case known && (m.Overlay || m.ReadOnly):
		return readOnly, ""
	case known:
		return copied, ""
	case m.Overlay:
		return "", fmt.Sprintf("%q is another user's or group's, and cannot be shown privately", found.Foreign)
	}
	return "", "it cannot be shown privately here"
}

// decideCopy copies a directory of dependencies, or says why not.
func (b *Bisector) decideCopy(ctx context.Context, session string, r *record, l *Link, size treecopy.Size) error {
	err := treecopy.ErrTooLarge
	if !r.Copied.Add(size).Over(copyLimit) {
		err = b.copy(ctx, session, l.Path, copied, left(copyLimit, r.Copied))
	}
	switch {
	case err == nil:
		r.Copied = r.Copied.Add(size)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, treecopy.ErrTooLarge):
		l.Why = "it is too large to copy"
	default:
		l.Why = "it cannot be copied: " + err.Error()
	}
	l.How = ""
	return nil
}

// left is what is left of a limit. It is never 0, which would be no limit.
func left(limit, used treecopy.Size) treecopy.Size {
	limit.Entries = max(1, limit.Entries-used.Entries)
	if limit.Bytes > 0 {
		limit.Bytes = max(1, limit.Bytes-used.Bytes)
	}
	return limit
}
