package authorship

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/refs"
)

// LeadsTo reports whether the checkpoint id is tip, or lies before it along first parents. If the line cannot be read
// that far, it does not.
func (a *Authors) LeadsTo(id, tip objstore.ID) bool {
	if id == tip || tip.IsZero() {
		return id == tip
	}
	at, err := a.log.Checkpoint(id)
	for err == nil && tip != id {
		var cp *model.Checkpoint
		if cp, err = a.log.Checkpoint(tip); err != nil || cp.Seq <= at.Seq || len(cp.Parents) == 0 {
			return false
		}
		tip = cp.Parents[0]
	}
	return err == nil
}

// Back is the checkpoint n steps before cp along first parents, and passed are those behind it, the newest first. Steps
// that are the same for the session count once, folded ones not at all. A *model.NoStepError when there are fewer.
func (j *Judge) Back(cp *model.Checkpoint, n int) (to *model.Checkpoint, passed []*model.Checkpoint, err error) {
	for i := range n {
		if cp, err = j.OnBranch(cp); err != nil {
			return nil, nil, err
		}
		from := j.Stretch(cp)
		for later := cp; ; {
			same := false
			if !oplog.Folded(cp, later) || len(cp.Parents) == 0 {
				if same, err = from.Same(cp); err != nil {
					return nil, nil, err
				}
				if !same {
					break // the first step counts even if it is folded
				}
			}
			if len(cp.Parents) == 0 {
				return nil, nil, &model.NoStepError{There: i}
			}
			later, passed = cp, append(passed, cp)
			if cp, err = j.e.log.Checkpoint(cp.Parents[0]); err != nil {
				return nil, nil, err
			}
		}
	}
	return cp, passed, nil
}

// OnBranch is the step of the session's branch that stands for cp, a checkpoint of another branch: the newest one older
// than cp, if both are the same for the session. Else it is cp itself. So a turn's end that was found while somebody
// else was at work is the session's, too.
func (j *Judge) OnBranch(cp *model.Checkpoint) (*model.Checkpoint, error) {
	if j.e.wholeSession(cp.Session) == j.Session {
		return cp, nil
	}
	tip, err := j.e.log.Refs.ID(refs.Session(j.Session))
	if err != nil || tip.IsZero() || j.e.LeadsTo(cp.ID, tip) {
		return cp, err
	}
	at, err := j.e.log.Checkpoint(tip)
	for err == nil && at.Seq > cp.Seq && len(at.Parents) > 0 {
		at, err = j.e.log.Checkpoint(at.Parents[0])
	}
	if err != nil || at.Seq >= cp.Seq || j.e.LeadsTo(at.ID, cp.ID) {
		return cp, err
	}
	if same, err := j.Stretch(cp).Same(at); err != nil || !same {
		return cp, err
	}
	return at, nil
}
