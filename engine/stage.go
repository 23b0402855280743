package engine

import (
	"errors"
	"fmt"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// makeStage makes the directory that a restore's steps work in: on the worktree's file system, out of every capture. Its name is durable when
// durable, which must be called, has returned: the file system does that while something else is being made durable.
func (e *Engine) makeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	if err := e.keepMarker(root); err != nil {
		return nil, err
	}
	stages, err := tree.OpenStage(root, markerDir+"/"+markerStage)
	if err == nil {
		if err = stages.Mkdir(op, 0o700); err != nil && !errors.Is(err, worktreefs.ErrExist) {
			err = errors.Join(err, stages.Close())
		} else {
			err = nil
		}
	}
	if err != nil {
		return nil, e.restoring(err)
	}
	return e.syncing(stages), nil
}

// syncing has a directory synced meanwhile; it is closed.
func (e *Engine) syncing(d worktreefs.Dir) (wait func() error) {
	done := make(chan error, 1)
	go func() { done <- errors.Join(d.Sync(), d.Close()) }()
	return func() error { return e.restoring(<-done) }
}

func (e *Engine) restoring(err error) error {
	if err != nil {
		err = fmt.Errorf("engine: restore %s: %w", e.project.Root, err)
	}
	return err
}

func stagePath(op string) string { return markerDir + "/" + markerStage + "/" + op }
