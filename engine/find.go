package engine

import (
	"context"

	"rewind/engine/find"
	"rewind/engine/model"
)

// GrepNow searches the files as they are now. The log's lock is held meanwhile, as by Diff: what is not stored yet is only in memory.
func (e *Engine) GrepNow(ctx context.Context, o find.GrepOptions, p model.Progress) (*find.GrepResult, error) {
	defer e.Log.Hold()()
	c, err := e.captureToCompare(ctx, p)
	if err != nil {
		return nil, err
	}
	defer e.Worktree.EndCompare(c)
	return e.Finder.GrepTree(ctx, c.Get, c.Res.Root, o)
}
