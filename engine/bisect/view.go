package bisect

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/treecopy"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/apply"
)

// How says how a directory of the project that no checkpoint has is shown in the scratch directory.
type How string

// All but linked are private: what a command writes there does not come to the project.
const (
	linked    How = "link"      // a symbolic link; only where it was asked for
	reflinked How = "reflink"   // a copy that shares blocks until it is written
	overlaid  How = "overlay"   // who runs the command mounts it, with a layer on top that takes what is written
	readOnly  How = "read-only" // who runs the command mounts it so
	copied    How = "copy"
)

// shown makes what the links of a session ask for in the scratch directory, where the state does not have something at
// the path itself. It decides how, when a link is needed first. mounts are the paths that who runs the command mounts
// for this state.
func (b *Bisector) shown(
	ctx context.Context, in worktreefs.Dir, session string, r *record, root objstore.ID,
) (mounts []string, err error) {
	for i := range r.Links {
		l := &r.Links[i]
		if l.Why != "" {
			continue
		}
		switch _, err := tree.Lookup(b.log.Objs, root, l.Path); {
		case err == nil:
			continue
		case !errors.Is(err, tree.ErrNotFound):
			return nil, err
		}
		if err := b.show(ctx, in, session, r, l); err != nil {
			return nil, &value.OpError{Op: "bisect: show", Subject: l.Path, Err: err}
		}
		if l.How == overlaid || l.How == readOnly {
			mounts = append(mounts, l.Path)
		}
	}
	return mounts, nil
}

// show makes one of them. What a command has put in its place stays.
func (b *Bisector) show(ctx context.Context, in worktreefs.Dir, session string, r *record, l *Link) error {
	if l.How == "" {
		if _, err := in.Lstat(l.Path); err == nil {
			return nil // a command has put it there
		}
		if err := b.decide(ctx, session, r, l); err != nil {
			return err
		}
	}
	switch l.How {
	case linked:
		return b.setLink(in, l.Path)
	case readOnly:
		return mkdir(in, l.Path)
	case overlaid:
		return unhide(in, l.Path)
	case reflinked, copied:
		if _, err := in.Lstat(l.Path); err == nil || !errors.Is(err, worktreefs.ErrNotExist) {
			return err
		}
		return b.copy(ctx, session, l.Path, l.How, treecopy.Size{}) // that it is not too large is known
	}
	return nil
}

// unhide removes what an overlay leaves where a directory of the project was removed, so that it is seen again.
func unhide(in worktreefs.Dir, path string) error {
	st, err := in.Lstat(path)
	if err == nil && st.Type == worktreefs.TypeDevice {
		err = apply.RemoveTree(in, path)
	}
	if errors.Is(err, worktreefs.ErrNotExist) {
		return nil
	}
	return err
}

// copy copies a directory of the project into the scratch directory. Errors: treecopy.ErrNoReflink,
// treecopy.ErrTooLarge.
func (b *Bisector) copy(ctx context.Context, session, path string, how How, limit treecopy.Size) error {
	from, err := os.OpenRoot(b.log.Project.Root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(b.treeDir(session))
	if err != nil {
		return err
	}
	defer to.Close()
	c := treecopy.Copier{From: from, To: to, FromPath: b.log.Project.Root, Limit: limit}
	if how == reflinked {
		c.Clone = reflink
	}
	return c.Copy(ctx, path)
}

// private are the directories that are shown privately: those that the tip's note says are ignored at the root.
func (b *Bisector) private(root worktreefs.Dir, tip *model.Checkpoint, asked []Link) (list []Link, err error) {
	skips, err := b.log.Note(tip)
	if err != nil {
		return nil, err
	}
	for _, s := range skips {
		own := strings.EqualFold(s.Path, ".git") || s.Path == ".agent"
		asks := slices.ContainsFunc(asked, func(l Link) bool { return l.Path == s.Path })
		below := strings.Contains(s.Path, "/")
		leave := own || asks || below
		if s.Reason != tree.ReasonIgnored || s.IsNamed() || leave {
			continue
		}
		switch st, err := root.Lstat(s.Path); {
		case err != nil:
		case st.Type == worktreefs.TypeSymlink:
			list = append(list, Link{Path: s.Path, Why: "it is a symbolic link"})
		case st.Type == worktreefs.TypeDir:
			list = append(list, Link{Path: s.Path})
		}
	}
	return list, nil
}
