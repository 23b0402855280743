package engine

import (
	"rewind/objstore"
	"rewind/refs"
)

// mover is the session whose cursor a checkout of target moves: the named one; else the current one where target lies on
// its line; else the one that target belongs to.
func (e *Engine) mover(target *Checkpoint, w Whose) (string, error) {
	if w.Session == "" {
		at, err := e.position()
		if err != nil {
			return "", err
		}
		line, err := e.line(at.Line, target.Seq)
		if err != nil {
			return "", err
		}
		if _, ok := line[target.ID]; !ok && target.Session != Manual && target.Cause.Event != EventSafety {
			return target.Session, nil
		}
	}
	return e.walked(w)
}

// line holds the checkpoints of a session's line that are not older than seq: those before its tip, and before its cursor.
func (e *Engine) line(session string, seq uint64) (map[objstore.ID]*Checkpoint, error) {
	line := map[objstore.ID]*Checkpoint{}
	for _, name := range []refs.Name{refs.Session(session), refs.Cursor(session)} {
		id, err := e.refs.ID(name)
		if err != nil {
			return nil, err
		}
		for !id.IsZero() && line[id] == nil {
			cp, err := e.checkpoint(id)
			if err != nil {
				return nil, err
			}
			if cp.Seq < seq {
				break
			}
			line[id] = cp
			if id = (objstore.ID{}); len(cp.Parents) > 0 {
				id = cp.Parents[0]
			}
		}
	}
	return line, nil
}
