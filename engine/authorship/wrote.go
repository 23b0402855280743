package authorship

import (
	"slices"

	"rewind/engine/model"
	"rewind/refs"
)

// Step is a checkpoint in which a session changed something.
type Step struct {
	*model.Checkpoint
	Wrote func(path string) bool // reports whether a path that the checkpoint changed is the session's, or also the session's
}

// Wrote are the steps in which a session, or one that works for it, changed something, the oldest first. The log's lock is held, and the
// sessions are loaded.
func (a *Authors) Wrote(session string) (list []Step, err error) {
	session = a.wholeSession(session)
	is := func(by string) bool { return a.wholeSession(by) == session }
	err = a.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind != refs.KindCheckpoint {
			return nil
		}
		cp, err := a.log.Checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(cp.Authors(), is) {
			return nil
		}
		of := cp.AuthorsOf()
		list = append(list, Step{cp, func(path string) bool { return slices.ContainsFunc(of(path), is) }})
		return nil
	})
	slices.Reverse(list)
	return list, err
}
