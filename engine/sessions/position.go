package sessions

import (
	"cmp"
	"slices"
	"time"

	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Position is where the project stands. Commands that are not told a session mean this one.
type Position struct {
	Session string // its cursor is the current checkpoint; Manual: no agent's
	// Branch is the session along whose steps undo and redo walk: the same, but right after a restore the one that the
	// restore moved. A fork that it made stands where that one stands, and has no steps yet that redo could go to.
	Branch string
}

// Position is where the project stands now: at what the newest operation says that is a restore, an event in a turn, or
// a save.
func (ss *Sessions) Position() (Position, error) {
	p, _, err := ss.stands(ss.log.Now().Add(-model.ActiveWithin))
	return p, err
}

// stands is the position, and the newest places since a time; there are none where the project stands nowhere yet.
func (ss *Sessions) stands(since time.Time) (at Position, places []ledger.Place, err error) {
	at = Position{Session: model.Manual, Branch: model.Manual}
	if places, err = ss.rows.Recent(since); err != nil {
		return at, nil, err
	}
	i := slices.IndexFunc(places, func(p ledger.Place) bool { return p.Here() })
	if i < 0 {
		return at, nil, nil
	}
	at, err = ss.positionOf(Position{Session: places[i].Session, Branch: places[i].Branch})
	return at, places, err
}

// PositionBefore is the position before operation seq.
func (ss *Sessions) PositionBefore(seq uint64) (Position, error) {
	p := Position{Session: model.Manual, Branch: model.Manual}
	if seq <= 1 {
		return p, nil
	}
	err := ss.rows.Places(seq, func(at *ledger.Place) error {
		if !at.Here() {
			return nil
		}
		p = Position{Session: at.Session, Branch: at.Branch}
		return kv.ErrStop
	})
	if err != nil {
		return p, err
	}
	return ss.positionOf(p)
}

// Previous is the newest session, of those that ok takes, on which the project stood before the present one; "": none.
func (ss *Sessions) Previous(ok func(*model.Session) bool) (string, error) {
	now, err := ss.Position()
	if err != nil {
		return "", err
	}
	found, passed := "", map[string]bool{now.Session: true, model.Manual: true}
	err = ss.rows.Places(0, func(p *ledger.Place) error {
		if !p.Here() || passed[p.Session] {
			return nil
		}
		at, err := ss.positionOf(Position{Session: p.Session, Branch: p.Branch})
		if err != nil {
			return err
		}
		known := passed[at.Session]
		passed[p.Session], passed[at.Session] = true, true
		s, err := ss.log.StoredSession(at.Session)
		passed := err != nil || known
		if passed || s == nil || !ok(s) {
			return err
		}
		found = at.Session
		return kv.ErrStop
	})
	return found, err
}

// Active returns the position and, unless a restore has decided it, the sessions of agents that had events in the last
// ten minutes, the newest first. Those that a restore left are not among them.
func (ss *Sessions) Active() (at Position, names []string, err error) {
	since := ss.log.Now().Add(-model.ActiveWithin)
	at, places, err := ss.stands(since)
	if err != nil || restored(places) {
		return at, nil, err
	}
	names, err = ss.atWork(places, since)
	return at, names, err
}

// restored reports whether a restore decides the position: no agent has worked since. What a person saved in between
// leaves the restore's session the current one.
func restored(places []ledger.Place) bool {
	i := slices.IndexFunc(places, func(p ledger.Place) bool { return p.How == ledger.Restored || p.How == ledger.Worked })
	return i >= 0 && places[i].How == ledger.Restored
}

// OverBefore reports whether a session was over when another one began: it had ended, or nothing had come of it for so
// long and its program was started anew since. To open a session and to close it is no work: whoever did nothing else
// since did not go on. The log's lock is held.
func (ss *Sessions) OverBefore(name string, other *model.Session, silence time.Duration) (over bool, err error) {
	closed := false
	err = ss.rows.Places(0, func(p *ledger.Place) error {
		if s := ss.log.Session(p.Session); p.Session != name && (s == nil || s.LaneOf != name) {
			return nil
		}
		all, some := p.Since(other.Began)
		switch {
		case p.How == ledger.Ended && all:
			closed = true
			return nil
		case p.How == ledger.Ended:
			over = true
		case p.How != ledger.Worked:
			return nil
		case !some:
			over = !closed && other.First.Sub(p.Time) > silence
		}
		return kv.ErrStop
	})
	return over, err
}

// atWork are the sessions of agents among the newest places since a time. One that has ended is not, also where a
// restore went to it since; nor is one whose agent has gone on under a new id (Droid's /compress): the window is the
// new one's.
func (ss *Sessions) atWork(places []ledger.Place, since time.Time) (names []string, err error) {
	families, met, record := map[string]bool{}, map[string]bool{model.Manual: true}, ss.reading()
	for _, p := range places {
		if p.Time.Before(since) {
			break
		}
		known := met[p.Session]
		met[p.Session] = true
		if known || p.How == ledger.Ended {
			continue
		}
		s, err := record(p.Session)
		if err != nil {
			return nil, err
		}
		if s == nil {
			s = &model.Session{Event: model.EventScan} // whose record is lost
		}
		name := cmp.Or(s.LaneOf, p.Session)
		if before := continued(s); before != "" { // what is met behind it is older
			met[before] = true
		}
		if ss.gone(s) || slices.Contains(names, name) {
			continue
		}
		family, err := firstOf(name, record)
		if err != nil {
			return nil, err
		}
		unused := p.Person() && s.Event == ""
		if unused && families[family] {
			continue // a fork that nobody has used, beside a used session of its family
		}
		families[family] = true
		names = append(names, name)
	}
	return names, nil
}

// gone reports whether nobody works in a session here any more: a restore left it, it has ended, or it goes on
// elsewhere.
func (ss *Sessions) gone(s *model.Session) bool { return s.Left || s.Ended || ss.Elsewhere(s) != "" }

// continued is the session in whose place, in the agent's window, a session goes on under a new id; "": none.
func continued(s *model.Session) string {
	if s.Previous == "" || s.Fork != nil && s.Fork.Kind != model.ByAgent {
		return ""
	}
	return string(s.Agent) + "/" + s.Previous
}

// positionOf is p with a subagent's session replaced by its caller, and with Branch only if both sessions are of one
// family: an undo-restore can bring back another agent's session and stand on no line of it.
func (ss *Sessions) positionOf(p Position) (Position, error) {
	s, err := ss.log.StoredSession(p.Session)
	if err != nil {
		return p, err
	}
	if s != nil && s.LaneOf != "" {
		return Position{Session: s.LaneOf, Branch: s.LaneOf}, nil
	}
	if p.Branch == p.Session {
		return p, nil
	}
	ours, err := ss.storedFamily(p.Session)
	if err != nil {
		return p, err
	}
	theirs, err := ss.storedFamily(p.Branch)
	if err != nil {
		return p, err
	}
	here, err := ss.log.Refs.ID(refs.Cursor(p.Session))
	if err != nil {
		return p, err
	}
	there, err := ss.log.Refs.ID(refs.Cursor(p.Branch))
	if ours != theirs || here != there && !here.IsZero() {
		p.Branch = p.Session
	}
	return p, err
}

// Walked is the session along whose branch undo and redo walk.
func (ss *Sessions) Walked(w model.SessionChoice) (string, error) {
	session, err := ss.Session(w)
	if err != nil {
		return "", err
	}
	at, err := ss.Position()
	if err == nil && session == at.Session {
		session = at.Branch
	}
	return session, err
}

// Ongoing is the session in which a walked one goes on: right after a restore the one that the restore made.
func (ss *Sessions) Ongoing(session string) (string, error) {
	at, err := ss.Position()
	if session == at.Branch {
		session = at.Session
	}
	return session, err
}

// NewestCursor is the checkpoint of the cursor that was moved last.
func (ss *Sessions) NewestCursor() (objstore.ID, error) {
	var id objstore.ID
	err := ss.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Session == "" || !op.Kind.IsRestore() && op.Kind != refs.KindCheckpoint {
			return nil
		}
		at, err := ss.log.Refs.ID(refs.Cursor(model.Successor(op)))
		if err == nil && at.IsZero() {
			at, err = ss.log.Refs.ID(refs.Cursor(op.Session))
		}
		if err != nil || at.IsZero() {
			return err
		}
		id = at
		return kv.ErrStop
	})
	return id, err
}
