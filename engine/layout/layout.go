// Package layout makes directories beside the worktree: one with what a checkpoint holds, and in a worktree that was
// made so what its project has and no checkpoint holds.
package layout

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/register"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// Layouts lays out checkpoints of an open project. It takes no lock and writes no store.
type Layouts struct {
	log     *oplog.Log
	history *history.History
}

// New makes Layouts of the rooms that it works with.
func New(log *oplog.Log, h *history.History) *Layouts { return &Layouts{log, h} }

// LaidOut is the result of LayOut.
type LaidOut struct {
	Checkpoint *model.Checkpoint
	Dir        string
	Paths      int          // files, links and directories
	Left       []value.Kept // paths whose content is gone from the store, or which the file system there cannot hold
	Without    []value.Without
}

// LayOut makes the directory dir, absolute, no wider than the project's root, and lays out in it what a checkpoint
// holds; with paths, those. Nothing else changes: not the project, the store, or a session, so it works where the store
// can only be read, its disk is full, or a checkout is half done. dir must not exist, lies outside the project and the
// store, and appears when it is whole; what a kill leaves is beside it, under a name of its own.
func (l *Layouts) LayOut(ctx context.Context, name, dir string, paths []string) (*LaidOut, error) {
	dir, err := l.layoutDir(dir)
	if err != nil {
		return nil, err
	}
	set, err := model.NewPathSet(paths)
	if err != nil {
		return nil, err
	}
	cp, err := l.history.Resolve(name)
	if err != nil {
		return nil, err
	}
	for _, p := range set {
		if _, err := l.log.Lookup(cp, p); err != nil {
			return nil, err
		}
	}
	if set, err = l.withDatabases(cp, set); err != nil {
		return nil, err
	}
	out := &LaidOut{Checkpoint: cp, Dir: dir}
	steps, err := l.layoutSteps(cp, set, out)
	if err != nil {
		return nil, err
	}
	left, err := l.layOutSteps(ctx, dir, steps, out)
	if err != nil {
		return nil, &value.OpError{Op: "write out", Subject: cp.ID.Short(), Err: err}
	}
	out.Paths = len(steps) - len(left)
	out.Left = append(out.Left, left...)
	return out, nil
}

// withDatabases adds to some paths of a checkpoint the other files of their databases: one of them alone is damaged.
func (l *Layouts) withDatabases(cp *model.Checkpoint, set refs.PathSet) (refs.PathSet, error) {
	in, whole := oplog.NewLookups(l.log.Objs, cp.Tree), slices.Clone(set)
	for _, p := range set {
		files, err := l.log.DatabaseFiles(in, p)
		if err != nil {
			return nil, err
		}
		for _, p := range files {
			if !whole.Has(p) {
				whole = append(whole, p)
			}
		}
	}
	return whole, nil
}

// layoutDir is dir with the links above it resolved; an error if LayOut must not make it.
func (l *Layouts) layoutDir(dir string) (string, error) {
	fail := func(err error) (string, error) { return "", &value.OpError{Op: "write into", Subject: dir, Err: err} }
	if !filepath.IsAbs(dir) {
		return fail(model.Usagef("it is not an absolute path"))
	}
	if _, err := os.Lstat(dir); err == nil {
		return fail(model.Usagef("it exists already; name a new directory"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(register.PathCause(err))
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(model.Usagef("the directory above it does not exist"))
	}
	if err != nil {
		return fail(err)
	}
	for _, outside := range []struct{ what, dir string }{{"the project", l.log.Project.Root}, {"the store", l.log.Project.Store}} {
		if real, err := filepath.EvalSymlinks(outside.dir); err == nil {
			outside.dir = real
		}
		if rel, err := filepath.Rel(outside.dir, above); err == nil && rel != ".." &&
			!strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return fail(model.Usagef("it lies in %s", outside.what))
		}
	}
	return filepath.Join(above, filepath.Base(dir)), nil
}

// layoutSteps are the steps that make what cp has of set; paths whose content is gone are put into out.Left.
// Directories outside of set are not read.
func (l *Layouts) layoutSteps(cp *model.Checkpoint, set refs.PathSet, out *LaidOut) (steps []tree.Change, err error) {
	_, lost, err := l.log.LostIn(cp)
	if err != nil {
		return nil, err
	}
	get := tree.NewMemo(l.log.Objs)
	err = tree.Walk(get, cp.Tree, func(p string, ent tree.Entry) error {
		dir := ent.Type == tree.TypeDir
		switch {
		case set.Has(p), dir && set.HasBelow(p):
		case dir:
			return tree.SkipDir
		default:
			return nil
		}
		why, err := l.log.GoneEntry(&ent)
		switch {
		case dir && lost[ent.ID]:
			why, err = value.KeptLost, tree.SkipDir
		case why != "" || err != nil:
		case dir && isGitDir(get, p, ent.ID):
			why, err = value.KeptGit, tree.SkipDir
		}
		if why != "" {
			out.Left = append(out.Left, value.Kept{Path: value.Text(p), Dir: dir, Reason: why})
		} else if err == nil {
			steps = append(steps, tree.Change{Path: p, New: &ent})
		}
		return err
	})
	if err != nil {
		return nil, &value.OpError{Op: "write out", Subject: cp.ID.Short(), Err: err}
	}
	return steps, nil
}

// isGitDir reports whether a directory of a checkpoint is git's. Stores of before such directories were left out have
// them, as they were at some moment between two writes.
func isGitDir(get objstore.Getter, dir string, id objstore.ID) bool {
	entries, err := tree.List(get, id)
	return err == nil && tree.GitDirIn(path.Base(dir), entries)
}

// layOutSteps makes the directory dir of the steps, which start from nothing, and returns what the file system there
// cannot hold.
func (l *Layouts) layOutSteps(
	ctx context.Context, dir string, steps []tree.Change, out *LaidOut,
) (left []value.Kept, err error) {
	above, err := worktreefs.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	open := func(id objstore.ID) (io.ReadCloser, error) { return l.log.Objs.Open(id) }
	out.Without, left, err = apply.LayOut(ctx, above, filepath.Base(dir), steps, open, progress(ctx))
	if err != nil {
		return nil, err
	}
	l.copyRootPerm(above, dir)
	return left, nil
}

// progress is the function that tells who waits how far it is.
func progress(ctx context.Context) func(phase string, done, total int) {
	told := model.AskerOf(ctx).Told
	return func(phase string, done, total int) {
		if told != nil {
			told(value.Progress{Phase: phase, Files: done, Total: total})
		}
	}
}

// copyRootPerm gives a directory that was laid out, which is 0700 until then, the permissions of the project's root. If
// its group is another one, group and others get only what the root gives to both. Where the system refuses, it stays
// 0700.
func (l *Layouts) copyRootPerm(above worktreefs.Dir, dir string) {
	was, err := os.Stat(l.log.Project.Root)
	if err != nil {
		return
	}
	now, err := os.Lstat(dir)
	if err != nil {
		return
	}
	perm := was.Mode().Perm()
	if !osfile.SameGroup(was, now) {
		both := perm >> 3 & perm & 0o007
		perm = perm&0o700 | both<<3 | both
	}
	_ = above.Chmod(filepath.Base(dir), uint16(perm|0o700))
}
