package bisect

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/engine/model"
	"rewind/internal/osfile"
	"rewind/internal/treecopy"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/apply"
)

// Names in a session's directory.
const (
	treeName  = "tree"  // the scratch directory
	stageName = "stage" // where files for it are prepared
	laidName  = "laid"  // says what is in it
	clockName = ".clock"
)

func (b *Bisector) treeDir(session string) string { return filepath.Join(b.dir(session), treeName) }

// laid says what was laid out in a scratch directory. It is not there while that changes.
type laid struct {
	Tree  objstore.ID `json:"tree"`
	Since int64       `json:"since"` // what has a ctime from there on was changed by somebody else; ns since 1970
	Boot  string      `json:"boot"`  // of the system: nothing is synced, so after a crash nothing is believed
}

// goneError is returned for a state that cannot be laid out, since some content is not in the store any more.
type goneError struct {
	path string
	why  value.KeptReason
}

func (e *goneError) Error() string {
	if e.path == "" {
		return "it is not in the store any more"
	}
	return "the content of " + e.path + " is " + string(e.why)
}

// fill gives a scratch directory a tree: by what differs from what was laid out at last, or anew.
func (b *Bisector) fill(ctx context.Context, session string, dir worktreefs.Dir, at *laid, to objstore.ID,
	left *[]string,
) (err error) {
	if at != nil {
		err = b.change(ctx, dir, *at, to, left)
	}
	var gone *goneError
	disturbed := err != nil && !errors.As(err, &gone) && ctx.Err() == nil // somebody is still at work in it: anew, then
	if at == nil || disturbed {
		err = b.layOutNew(ctx, session, dir, to, left)
	}
	if errors.Is(err, objstore.ErrLost) || errors.Is(err, objstore.ErrNotFound) { // a directory
		err = &goneError{}
	}
	return err
}

// layOut makes the scratch directory of a session hold what a point has. What was laid out before is changed by what
// differs, and by what a command has changed in it; what such a command has made besides, a build's products, stays
// unless it is in the way. left are the paths that are not there, since they were purged.
func (b *Bisector) layOut(ctx context.Context, session string, r *record, p point) (left []string, err error) {
	if ok, err := b.log.Objs.Has(objstore.Checkpoint, p.Checkpoint); err == nil && !ok {
		return nil, &goneError{}
	}
	dir, err := worktreefs.OpenRoot(b.dir(session))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	at := b.readLaid(session)
	if err := dir.Remove(laidName); err != nil && !errors.Is(err, worktreefs.ErrNotExist) {
		return nil, err
	}
	if err := b.fill(ctx, session, dir, at, p.Tree, &left); err != nil {
		return nil, err
	}
	in, err := dir.OpenDir(treeName)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if r.Mounted, err = b.shown(ctx, in, session, r, p.Tree); err != nil {
		return nil, err
	}
	since, err := nextTick(dir)
	if err != nil {
		return nil, err
	}
	return left, b.writeLaid(session, laid{Tree: p.Tree, Since: since, Boot: bootID()})
}

// readLaid says what is in the scratch directory; nil: that is not known.
func (b *Bisector) readLaid(session string) *laid {
	raw, err := osfile.ReadSmall(filepath.Join(b.dir(session), laidName), 1<<10)
	if err != nil {
		return nil
	}
	l := &laid{}
	if json.Unmarshal(raw, l) != nil || l.Boot != bootID() {
		return nil
	}
	return l
}

func (b *Bisector) writeLaid(session string, l laid) error {
	return b.write(session, laidName, l, true)
}

// bootID is what the system calls its present run; "": it has no word for it.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(id)
}

// nextTick waits until files get a later time than those that are there, and gives it. Files are stamped by a clock
// that ticks some hundred times a second.
func nextTick(dir worktreefs.Dir) (int64, error) {
	first := int64(0)
	for {
		f, err := dir.CreateFile(clockName, 0o600)
		if err != nil {
			return 0, err
		}
		st, err := f.Stat()
		if err = errors.Join(err, f.Close(), dir.Remove(clockName)); err != nil {
			return 0, err
		}
		switch {
		case st.Ctime == 0: // the system has none: everything is taken to have changed
			return 0, nil
		case first == 0:
			first = st.Ctime
		case st.Ctime > first:
			return st.Ctime, nil
		}
		time.Sleep(time.Millisecond)
	}
}

// layOutNew lays a tree out in a directory that is made for it.
func (b *Bisector) layOutNew(
	ctx context.Context, session string, dir worktreefs.Dir, root objstore.ID, left *[]string,
) error {
	own, err := os.OpenRoot(b.dir(session))
	if err != nil {
		return err
	}
	defer own.Close()
	for _, name := range []string{treeName, stageName} {
		if err := treecopy.Remove(own, name); err != nil {
			return err
		}
		if err := dir.Mkdir(name, 0o700); err != nil {
			return err
		}
	}
	return b.apply(ctx, dir, objstore.ID{}, root, nil, left)
}

// change makes the scratch directory, which holds what at says, hold another tree.
func (b *Bisector) change(ctx context.Context, dir worktreefs.Dir, at laid, to objstore.ID, left *[]string) error {
	in, err := dir.OpenDir(treeName)
	if err != nil {
		return err
	}
	defer in.Close()
	touched, err := b.touched(ctx, in, at)
	if err != nil {
		return err
	}
	return b.apply(ctx, dir, at.Tree, to, touched, left)
}

// apply brings the scratch directory from a tree to another. What is at a path of touched, or below it, is removed
// first, and made anew. What was purged is not there; its paths come to left.
func (b *Bisector) apply(
	ctx context.Context, dir worktreefs.Dir, from, to objstore.ID, touched map[string]bool, left *[]string,
) error {
	in, err := dir.OpenDir(treeName)
	if err != nil {
		return err
	}
	defer in.Close()
	stage, err := dir.OpenDir(stageName)
	if err != nil {
		return err
	}
	defer stage.Close()
	steps, err := b.steps(ctx, in, from, to, touched)
	if err == nil {
		steps, err = b.present(steps, left)
	}
	if err != nil || len(steps) == 0 {
		return err
	}
	res, err := apply.Run(ctx, apply.Options{
		Root: volatile{in}, Stage: volatile{stage}, Op: "bisect", Steps: steps,
		Open:     func(id objstore.ID) (io.ReadCloser, error) { return b.log.Objs.Open(id) },
		Progress: progress(ctx),
	})
	if err != nil {
		return &value.OpError{Op: "bisect: write out", Subject: in.Name(), Err: err}
	}
	if len(res.Conflicts) > 0 {
		return &value.OpError{
			Op: "bisect: write out", Subject: string(res.Conflicts[0].Path), Typed: true,
			Err: errors.New(res.Conflicts[0].Reason),
		}
	}
	return nil
}

func progress(ctx context.Context) func(phase string, done, total int) {
	told := model.AskerOf(ctx).Told
	return func(phase string, done, total int) {
		if told != nil {
			told(value.Progress{Phase: phase, Files: done, Total: total})
		}
	}
}

// steps are what apply has to do, after it has removed what is in the way.
func (b *Bisector) steps(ctx context.Context, in worktreefs.Dir, from, to objstore.ID, touched map[string]bool) (steps []tree.Change,
	err error,
) {
	if touched == nil {
		touched = map[string]bool{}
	}
	err = tree.Diff(b.log.Objs, from, to, func(ch tree.Change) error {
		both := ch.Old != nil && ch.New != nil
		if both && ch.Old.Type == tree.TypeDir && ch.New.Type != tree.TypeDir {
			touched[ch.Path] = true // whatever a command has put there
		}
		if !below(touched, ch.Path) {
			steps = append(steps, ch)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(touched)) {
		more, err := b.anew(to, path)
		if err != nil {
			return nil, err
		}
		for _, s := range more {
			if !made[s.Path] {
				made[s.Path] = true
				steps = append(steps, s)
			}
		}
		if err := wipe(in, path); err != nil {
			return nil, err
		}
	}
	if from.IsZero() {
		return steps, nil
	}
	if err := wipeNew(in, steps, made); err != nil {
		return nil, err
	}
	return steps, nil
}

// wipeNew removes what stands where something new comes, a build's product or a link; made is wiped already.
func wipeNew(in worktreefs.Dir, steps []tree.Change, made map[string]bool) error {
	for _, s := range steps {
		if s.Old != nil || made[s.Path] {
			continue
		}
		if err := wipe(in, s.Path); err != nil {
			return err
		}
	}
	return nil
}

// present leaves out what was purged of the steps, and adds its paths to left. What is lost is a *goneError: a state
// that somebody meant to have without a secret can be tried, one that is damaged cannot.
func (b *Bisector) present(steps []tree.Change, left *[]string) (there []tree.Change, err error) {
	for _, s := range steps {
		var why value.KeptReason
		if s.New != nil {
			if why, err = b.log.GoneEntry(s.New); err != nil {
				return nil, err
			}
		}
		switch why {
		case "":
			there = append(there, s)
		case value.KeptPurged:
			if *left = append(*left, s.Path); s.Old != nil {
				there = append(there, tree.Change{Path: s.Path, Old: s.Old})
			}
		default:
			return nil, &goneError{s.Path, why}
		}
	}
	return there, nil
}

// below reports whether a path, or one above it, is in the set.
func below(set map[string]bool, path string) bool {
	if len(set) == 0 {
		return false
	}
	for p := path; p != ""; p, _ = tree.Split(p) {
		if set[p] {
			return true
		}
	}
	return false
}

// anew are the steps that make a path, and what is below it, of a tree; none where the tree has nothing there.
func (b *Bisector) anew(root objstore.ID, path string) ([]tree.Change, error) {
	e, err := tree.Lookup(b.log.Objs, root, path)
	if errors.Is(err, tree.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, e.Name = tree.Split(path)
	steps := []tree.Change{{Path: path, New: &e}}
	if e.Type != tree.TypeDir {
		return steps, nil
	}
	err = tree.Walk(b.log.Objs, e.ID, func(at string, e tree.Entry) error {
		steps = append(steps, tree.Change{Path: tree.Join(path, at), New: &e})
		return nil
	})
	return steps, err
}

// wipe removes what is at a path, with all below it.
func wipe(in worktreefs.Dir, path string) error {
	parent, name, err := worktreefs.OpenParent(in, path)
	if err == nil {
		defer parent.Close()
		err = apply.RemoveTree(parent, name)
	}
	if errors.Is(err, worktreefs.ErrNotExist) || errors.Is(err, worktreefs.ErrNotDir) && strings.Contains(path, "/") {
		return nil
	}
	return err
}
