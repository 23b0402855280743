package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// LaidOut is what a checkpoint was laid out as.
type LaidOut struct {
	Checkpoint *model.Checkpoint
	Dir        string
	Paths      int          // files, links and directories
	Left       []value.Kept // paths whose content is gone from the store
	Without    []value.Without
}

// LayOut makes the directory dir, absolute, no wider than the project's root, and lays out in it what a checkpoint holds; with paths,
// those. Nothing else changes: not the project, the store, or a session, so it works where the store can only be read, its disk is full, or
// a checkout is half done. dir must not exist, lies outside the project and the store, and appears when it is whole; what a kill leaves is
// beside it, under a name of its own.
func (rs *Restorer) LayOut(ctx context.Context, name, dir string, paths []string) (*LaidOut, error) {
	dir, err := rs.placeToLay(dir)
	if err != nil {
		return nil, err
	}
	set, err := model.NewPathSet(paths)
	if err != nil {
		return nil, err
	}
	cp, err := rs.history.Resolve(name)
	if err != nil {
		return nil, err
	}
	for _, p := range set {
		if _, err := rs.log.Lookup(cp, p); err != nil {
			return nil, err
		}
	}
	out := &LaidOut{Checkpoint: cp, Dir: dir}
	steps, err := rs.laySteps(cp, set, out)
	if err != nil {
		return nil, err
	}
	if out.Without, err = rs.lay(ctx, dir, steps); err != nil {
		return nil, fmt.Errorf("lay out %s: %w", cp.ID.Short(), err)
	}
	out.Paths = len(steps)
	return out, nil
}

// placeToLay gives dir with the links above it resolved.
func (rs *Restorer) placeToLay(dir string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", model.Usagef("lay out into %s: %s", dir, why)
	}
	if !filepath.IsAbs(dir) {
		return refuse("it is not an absolute path")
	}
	if _, err := os.Lstat(dir); err == nil {
		return refuse("it is there already; name a directory that is to be made")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("lay out: %w", err)
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("the directory above it is not there")
	}
	if err != nil {
		return "", fmt.Errorf("lay out: %w", err)
	}
	for _, not := range []struct{ what, dir string }{{"the project", rs.log.Project.Root}, {"the store", rs.log.Project.Store}} {
		if real, err := filepath.EvalSymlinks(not.dir); err == nil {
			not.dir = real
		}
		if rel, err := filepath.Rel(not.dir, above); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return refuse("it lies in " + not.what)
		}
	}
	return filepath.Join(above, filepath.Base(dir)), nil
}

// laySteps gives what is to be made; what cannot be goes into out. Of directories that were not asked for nothing is read.
func (rs *Restorer) laySteps(cp *model.Checkpoint, set refs.PathSet, out *LaidOut) (steps []tree.Step, err error) {
	_, lost, err := rs.log.LostIn(cp)
	if err != nil {
		return nil, err
	}
	err = tree.Walk(rs.log.Objs, cp.Tree, func(path string, ent tree.Entry) error {
		dir := ent.Type == tree.TypeDir
		switch {
		case set.Has(path), dir && set.HasBelow(path):
		case dir:
			return tree.SkipDir
		default:
			return nil
		}
		why, err := rs.log.GoneEntry(&ent)
		if dir && lost[ent.ID] {
			why, err = value.KeptLost, tree.SkipDir
		}
		if why != "" {
			out.Left = append(out.Left, value.Kept{Path: value.Text(path), Dir: dir, Reason: why})
		} else if err == nil {
			steps = append(steps, tree.Step{Path: path, To: &ent})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lay out %s: %w", cp.ID.Short(), err)
	}
	return steps, nil
}

func (rs *Restorer) lay(ctx context.Context, dir string, steps []tree.Step) ([]value.Without, error) {
	above, err := worktreefs.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	open := func(id objstore.ID) (io.ReadCloser, error) { return rs.log.Objs.Open(id) }
	without, err := apply.LayOut(ctx, above, filepath.Base(dir), steps, open, rs.reached(ctx))
	if err != nil {
		return nil, err
	}
	rs.likeRoot(above, dir)
	return without, nil
}

// likeRoot gives a directory that was laid out, which is 0700 until then, the permissions of the project's root. Where it has another
// group, nobody but its owner gets what not both the root's group and everybody have. What cannot be asked or set leaves it 0700.
func (rs *Restorer) likeRoot(above worktreefs.Dir, dir string) {
	was, err := os.Stat(rs.log.Project.Root)
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
