package apply

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// layPrefix begins the name of the directory, beside the one that is asked for, in which LayOut works.
const layPrefix = ".rewind-into-"

// LayOut makes the directory name in above, 0700, of what steps make of nothing, as Run does. The name is taken in one step, when all is
// whole and durable: worktreefs.ErrExist where something has it by then. With any error there is nothing new; a kill can leave layPrefix
// and some letters in above. What it gives was made without something: see restPerm.
func LayOut(
	ctx context.Context, above worktreefs.Dir, name string, steps []tree.Step, open func(objstore.ID) (io.ReadCloser, error), progress func(phase string, done, total int),
) (_ []value.Without, err error) {
	work := layPrefix + rand.Text()
	if err := above.Mkdir(work, 0o700); err != nil {
		return nil, fmt.Errorf("lay out: %w", err)
	}
	defer func() {
		if rerr := removeTree(above, work); err == nil && rerr != nil {
			err = fmt.Errorf("lay out: remove %s: %w", quotePath(work), rerr)
		}
	}()
	in, err := above.OpenDir(work)
	if err != nil {
		return nil, fmt.Errorf("lay out: %w", err)
	}
	defer in.Close()
	o := Options{Op: work, Steps: steps, Open: open, Progress: progress}
	for _, d := range []struct {
		name string
		dir  *worktreefs.Dir
	}{{"tree", &o.Root}, {"stage", &o.Stage}} {
		if err := in.Mkdir(d.name, 0o700); err != nil {
			return nil, fmt.Errorf("lay out: %w", err)
		}
		if *d.dir, err = in.OpenDir(d.name); err != nil {
			return nil, fmt.Errorf("lay out: %w", err)
		}
		defer (*d.dir).Close()
	}
	res, err := Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if len(res.Conflicts) > 0 { // somebody is in a directory that has no name yet, or the file system has no place for two names
		return nil, fmt.Errorf("lay out %s: %s", quotePath(string(res.Conflicts[0].Path)), res.Conflicts[0].Reason)
	}
	if err = o.Root.SyncFS(); err == nil {
		err = in.Move("tree", above, name)
	}
	if err == nil {
		err = above.Sync()
	}
	if err != nil {
		return nil, fmt.Errorf("lay out: %w", err)
	}
	return res.Without, nil
}
