package engine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// makeStage makes the directory that a restore's steps work in: on the worktree's file system, out of every capture. Its name is durable when
// durable, which must be called, has returned: the file system does that while something else is being made durable.
func (e *Engine) makeStage(root worktreefs.Dir, op string) (durable func() error, err error) {
	if err := writeMarker(e.project.Root, e.project.ID); err != nil {
		return nil, err // it may be what somebody just removed
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

func newStageName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}
