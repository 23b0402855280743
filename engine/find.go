package engine

import (
	"context"

	"rewind/engine/find"
	"rewind/engine/model"
	"rewind/objstore"
)

// GrepNow searches the files as they are now. The log's lock is held while they are captured, not while they are searched: what nothing has
// stored is in the memory of the capture, which nobody changes any more.
func (e *Engine) GrepNow(ctx context.Context, o find.GrepOptions, p model.Progress) (*find.GrepResult, error) {
	files, root, err := e.capturedNow(ctx, p)
	if err != nil {
		return nil, err
	}
	return e.Finder.GrepTree(ctx, files, root, o)
}

// capturedNow captures the worktree in order to read it: its tree, and what has the objects of it.
func (e *Engine) capturedNow(ctx context.Context, p model.Progress) (objstore.Getter, objstore.ID, error) {
	defer e.Log.Hold()()
	c, err := e.captureToCompare(ctx, p)
	if err != nil {
		return nil, objstore.ID{}, err
	}
	defer e.Worktree.EndCompare(c)
	return c.Get, c.Res.Root, nil
}
