package sessions

import (
	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
)

// Mover returns the session whose cursor a checkout of target moves: the named one. Without a name it is the current
// one, if target is on its line or is no session's. Otherwise it is target's session.
func (ss *Sessions) Mover(target *model.Checkpoint, w model.SessionChoice) (string, error) {
	if w.Session == "" && target.Cause.Event != model.EventSafety {
		at, err := ss.Position()
		if err != nil || target.Session == model.Manual { // the project as it was: none of those at work is meant
			return at.Branch, err
		}
		line, err := ss.ancestors(at.Branch, target.Seq)
		if err != nil {
			return "", err
		}
		if _, ok := line[target.ID]; !ok || ss.Family(target.Session) != ss.Family(at.Branch) {
			return target.Session, nil
		}
		return at.Branch, nil
	}
	return ss.Walked(w)
}

// ancestors are the checkpoints before a session's tip and before its cursor, both included, that are not older than
// operation seq.
func (ss *Sessions) ancestors(session string, seq uint64) (map[objstore.ID]*model.Checkpoint, error) {
	line := map[objstore.ID]*model.Checkpoint{}
	for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
		id, err := ss.log.Refs.ID(name)
		if err != nil {
			return nil, err
		}
		for !id.IsZero() && line[id] == nil {
			cp, err := ss.log.Checkpoint(id)
			if err != nil {
				return nil, err
			}
			if cp.Seq < seq {
				break
			}
			line[id] = cp
			id = cp.Parent()
		}
	}
	return line, nil
}
