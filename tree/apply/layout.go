package apply

import (
	"context"
	"crypto/rand"
	"errors"
	"io"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// layoutPrefix begins the name of the directory in which LayOut works, beside the one that it makes.
const layoutPrefix = ".rewind-into-"

// LayOut makes the directory name in above, 0700, with what steps, each from nothing, make. The name appears in one step, when everything
// is complete and durable: worktreefs.ErrExist if something has it by then. An error leaves nothing new; a kill can leave a directory in
// above whose name begins with layoutPrefix. open and progress are those of Options. It returns what paths lack, as Result.Without.
func LayOut(
	ctx context.Context, above worktreefs.Dir, name string, steps []tree.Change, open func(objstore.ID) (io.ReadCloser,
		error), progress func(phase string, done, total int),
) (_ []value.Without, err error) {
	work := layoutPrefix + rand.Text()
	if err := above.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if rerr := RemoveTree(above, work); err == nil && rerr != nil {
			err = &value.OpError{Op: "remove", Subject: work, Err: rerr}
		}
	}()
	in, err := above.OpenDir(work)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := Options{Op: work, Steps: steps, Open: open, Progress: progress}
	for _, d := range []struct {
		name string
		dir  *worktreefs.Dir
	}{{"tree", &o.Root}, {"stage", &o.Stage}} {
		if err := in.Mkdir(d.name, 0o700); err != nil {
			return nil, err
		}
		if *d.dir, err = in.OpenDir(d.name); err != nil {
			return nil, err
		}
		defer (*d.dir).Close()
	}
	res, err := Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(res.Conflicts) > 0 { // somebody is in a directory that has no name yet, or the file system has no place for two names
		return nil, &value.OpError{
			Op: "path", Subject: string(res.Conflicts[0].Path), Typed: true,
			Err: errors.New(res.Conflicts[0].Reason),
		}
	}
	if err = o.Root.SyncFS(); err == nil {
		err = worktreefs.MoveOrRename(in, "tree", above, name)
	}
	if err == nil {
		err = above.Sync()
	}
	if err != nil {
		return nil, err
	}
	return res.Without, nil
}
