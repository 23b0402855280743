package authorship

import (
	"slices"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Step is a change of the project, from one tree to another, of which some paths are a session's.
type Step struct {
	Checkpoint *model.Checkpoint                      // nil: a restore did it, or it is unsaved
	Unsaved    bool                                   // To is what a capture found, and in no checkpoint
	From, To   objstore.ID                            // trees; From zero: how the project was found
	Wrote      func(change tree.Change) (bool, error) // reports whether what the step changed at a path is the session's
}

// Beside is, of several sessions that may have made a change, one that is none of a session's; "": there is none.
func (a *Authors) Beside(session string, by []string) string {
	session = a.wholeSession(session)
	for _, name := range by {
		if whole := a.wholeSession(name); whole != session {
			return whole
		}
	}
	return ""
}

// Wrote returns the steps in which a session, or one that works for it, changed something, the oldest first. What it
// wrote in a call beside that of another session is included. The caller holds the log's lock and has loaded the
// sessions.
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
		from, err := a.log.Before(cp)
		of := cp.AuthorsOf()
		list = append(list, Step{Checkpoint: cp, From: from, To: cp.Tree, Wrote: func(ch tree.Change) (bool, error) {
			return slices.ContainsFunc(of(ch.Path), is), nil
		}})
		return err
	})
	slices.Reverse(list)
	return list, err
}
