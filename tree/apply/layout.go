package apply

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// layoutPrefix begins the name of the directory in which LayOut works, beside the one that it makes.
const layoutPrefix = ".rewind-into-"

// LayOut makes the directory name in above, 0700, with what steps, each from nothing, make. The name appears in one
// step, when everything is complete and durable: worktreefs.ErrExist if something has it by then. An error leaves
// nothing new; a kill can leave a directory in above whose name begins with layoutPrefix. open and progress are those
// of Options. It returns what paths lack, as Result.Without, and which of them the file system there cannot hold:
// symbolic links, names that it does not have, or takes for that of another one.
func LayOut(
	ctx context.Context, above worktreefs.Dir, name string, steps []tree.Change, open func(objstore.ID) (io.ReadCloser,
		error), progress func(phase string, done, total int),
) (_ []value.Without, left []value.Kept, err error) {
	work := layoutPrefix + rand.Text()
	if err := above.Mkdir(work, 0o700); err != nil {
		return nil, nil, err
	}
	defer func() {
		if rerr := RemoveTree(above, work); err == nil && rerr != nil {
			err = &value.OpError{Op: "remove", Subject: work, Err: rerr}
		}
	}()
	in, err := above.OpenDir(work)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	o := Options{Op: work, Steps: steps, Open: open, Progress: progress}
	for _, d := range []struct {
		name string
		dir  *worktreefs.Dir
	}{{"tree", &o.Root}, {"stage", &o.Stage}} {
		if err := in.Mkdir(d.name, 0o700); err != nil {
			return nil, nil, err
		}
		if *d.dir, err = in.OpenDir(d.name); err != nil {
			return nil, nil, err
		}
		defer (*d.dir).Close()
	}
	a, err := newApplier(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer a.close()
	if err := a.run(); err != nil {
		return nil, nil, fmt.Errorf("apply: %w", err)
	}
	res := a.result()
	if left, err = a.leftOut(res.Conflicts); err != nil {
		return nil, nil, err
	}
	if err = o.Root.SyncFS(); err == nil {
		err = worktreefs.MoveOrRename(in, "tree", above, name)
	}
	if err == nil {
		err = above.Sync()
	}
	if err != nil {
		return nil, nil, err
	}
	return res.Without, left, nil
}

// leftOut says why the paths of conflicts are not in a directory that had no name yet, where nobody else was: the file
// system cannot hold them. It is an error if it says so of all, or if bytes of somebody else were met.
func (a *applier) leftOut(conflicts []value.Conflict) (left []value.Kept, err error) {
	for _, c := range conflicts {
		j := a.byPath[string(c.Path)]
		kept := j == nil || c.SavedAs != ""
		if kept || len(conflicts) == len(a.jobs) || refusedPath(j.Path) != "" {
			return nil, &value.OpError{Op: "path", Subject: string(c.Path), Typed: true, Err: errors.New(c.Reason)}
		}
		k := value.Kept{Path: c.Path, Dir: j.New.Type == tree.TypeDir, Reason: j.cannot}
		if k.Reason != value.KeptNoLinks {
			k.Reason = value.KeptNoName // its own, or that of a directory above
		}
		left = append(left, k)
	}
	return left, nil
}
