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
// that are the same for the session count once, folded ones not at all. A *model.NoStepError when there are fewer, an
// *model.EarlierSessionError where the next one is an earlier session's.
func (j *Judge) Back(cp *model.Checkpoint, n int) (to *model.Checkpoint, passed []*model.Checkpoint, err error) {
	for i := range n {
		if cp, err = j.OnBranch(cp); err != nil {
			return nil, nil, err
		}
		from, newer := j.Stretch(cp), len(passed)
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
		if of := j.earlier(passed[newer:]); of != "" {
			return nil, nil, &model.EarlierSessionError{There: i, Session: of}
		}
	}
	return cp, passed, nil
}

// earlier returns the session of a step from before the session that goes back had begun, if this one has no part in
// it. "": there is none, or the step is a person's or of the family.
func (j *Judge) earlier(step []*model.Checkpoint) (of string) {
	if j.Session == model.Manual {
		return ""
	}
	for _, cp := range step {
		for _, name := range cp.Authors() {
			switch past := cp.Seq < j.began; {
			case j.e.sessions.Family(name) == j.family, name == model.Manual, j.isOwn(name, cp.Seq):
				return ""
			case past && of == "":
				of = j.e.wholeSession(name)
			}
		}
		if cp.Seq >= j.began && j.hasPersons(cp) {
			return ""
		}
	}
	return of
}

// hasPersons reports whether a checkpoint changed something that is nobody's call.
func (j *Judge) hasPersons(cp *model.Checkpoint) bool {
	from, err := j.e.log.Before(cp)
	return cp.HasPersons() && (err != nil || from != cp.Tree)
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
