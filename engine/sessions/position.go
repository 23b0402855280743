package sessions

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"rewind/engine/model"
	"rewind/hooks"
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
	p, _, err := ss.Active()
	return p, err
}

// PositionBefore is the position before operation seq.
func (ss *Sessions) PositionBefore(seq uint64) (Position, error) {
	p := Position{Session: model.Manual, Branch: model.Manual}
	if seq <= 1 {
		return p, nil
	}
	err := ss.log.Refs.Newest(seq-1, func(op *refs.Operation) error {
		if m := ss.presence(op); m.here {
			p = m.at
			return kv.ErrStop
		}
		return nil
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
	err = ss.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Session == "" || passed[goesOf(op)] {
			return nil
		}
		m := ss.presence(op)
		if !m.here {
			return nil
		}
		at, err := ss.positionOf(m.at)
		if err != nil {
			return err
		}
		known := passed[at.Session]
		passed[m.at.Session], passed[at.Session] = true, true
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

// presenceLog is what the log says of where somebody worked. Each operation is read once. It has a lock of its own,
// since commands ask that do not wait for a capture.
type presenceLog struct {
	mu    sync.Mutex
	upTo  uint64              // the newest operation that was read; 0: none
	floor int64               // older operations were not read; unix milliseconds
	last  presence            // the newest presence that is here
	by    map[string]presence // the newest presence of each session
	// The newest restore, and the newest event of an agent: a person's save between them leaves the restore's session
	// the current one.
	restored, heard uint64
}

// presence is what one operation says of where somebody works.
type presence struct {
	here    bool // the operation decides where the project stands
	at      Position
	seq     uint64
	time    int64 // unix milliseconds
	restore bool
	person  bool // a restore, or somebody's save
	ended   bool // the end of a session
}

// presence is what one operation says. What was captured at a session's start or end, or by a scan, says nothing: the
// session did not do it.
func (ss *Sessions) presence(op *refs.Operation) presence {
	m := presence{at: Position{Session: op.Session, Branch: op.Session}, seq: op.Seq, time: op.Time}
	event := ""
	switch {
	case op.Session == "":
		return m
	case op.Kind.IsRestore() && op.Restore != nil && len(op.Restore.Paths) > 0:
		return m // paths alone move nothing
	case op.Kind.IsRestore():
		m.here, m.restore, m.person = true, true, true
		m.at.Session = goesOf(op)
		return m
	case op.Kind == refs.KindCheckpoint && op.Session == model.Manual:
		event = model.EventSave
	case op.Kind == refs.KindEvent, op.Kind == refs.KindThinned, op.Kind == refs.KindCheckpoint && op.Cause.Event != "":
		event = op.Cause.Event
	case op.Kind == refs.KindCheckpoint:
		// a lost checkpoint is taken for a step of its turn
		if cp, err := ss.log.Checkpoint(op.Checkpoint); err == nil {
			event = cp.Cause.Event
		}
	default:
		return m
	}
	switch event {
	case model.EventSafety, model.EventScan, model.EventWords[hooks.SessionStart]:
	case model.EventSave, model.EventUndo, model.EventInit:
		m.here, m.person = true, true
	case model.EventWords[hooks.SessionEnd]:
		m.ended = true
	default:
		m.here = op.Turn != 0
	}
	return m
}

// goesOf is the session that goes on from a restore; of another operation, its session.
func goesOf(op *refs.Operation) string {
	if op.Restore == nil || op.Restore.Goes == "" || refs.Session(op.Restore.Goes).Check() != nil {
		return op.Session
	}
	return op.Restore.Goes
}

// Active is the position and, unless a restore has decided it, the sessions of agents that had events in the last ten
// minutes, newest first, but for those that a restore left. Of the log it reads what it has not read yet of that time.
func (ss *Sessions) Active() (at Position, names []string, err error) {
	k := &ss.presences
	k.mu.Lock()
	defer k.mu.Unlock()
	at = Position{Session: model.Manual, Branch: model.Manual}
	since := ss.log.Now().Add(-model.ActiveWithin).UnixMilli()
	if since < k.floor { // the clock was set back
		k.upTo = 0
	}
	if err := k.read(ss, since); err != nil || !k.last.here {
		return at, nil, err
	}
	if at, err = ss.positionOf(k.last.at); err != nil || k.restored > k.heard {
		return at, nil, err
	}
	families, record := map[string]bool{}, ss.reading()
	newest := slices.SortedFunc(maps.Values(k.by), func(a, b presence) int { return cmp.Compare(b.seq, a.seq) })
	for _, m := range newest {
		if m.time < since {
			break
		}
		if m.at.Session == model.Manual || m.ended {
			continue
		}
		s, err := record(m.at.Session)
		if err != nil {
			return at, nil, err
		}
		name := m.at.Session
		if s != nil {
			name = cmp.Or(s.LaneOf, name)
		}
		if s != nil && (s.Left || ss.Elsewhere(s) != "") || slices.Contains(names, name) {
			continue
		}
		family, err := firstOf(name, record)
		if err != nil {
			return at, nil, err
		}
		unused := s != nil && s.Event == "" // a fork that nobody has used, beside a used session of its family
		if m.person && unused && families[family] {
			continue
		}
		families[family] = true
		names = append(names, name)
	}
	return at, names, nil
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

// read takes in the operations since the last call, but only the newest ones down to since, and those before up to one
// that is here. mu is held. After an error nothing has changed.
func (k *presenceLog) read(e *Sessions, since int64) error {
	var upTo uint64
	var last presence
	var restored, heard uint64
	by := map[string]presence{}
	err := e.log.Refs.Newest(0, func(op *refs.Operation) error {
		upTo = max(upTo, op.Seq)
		if op.Seq <= k.upTo || last.here && op.Time < since {
			return kv.ErrStop
		}
		// The event of a checkpoint is in the checkpoint, which is not read where it cannot tell anything new: an hour
		// of heavy work makes thousands.
		if _, known := by[op.Session]; known && op.Kind == refs.KindCheckpoint && op.Session != model.Manual && last.here && heard > 0 {
			return nil
		}
		m := e.presence(op)
		if !m.here && !m.ended {
			return nil
		}
		if m.here && !last.here {
			last = m
		}
		switch {
		case m.restore:
			restored = max(restored, m.seq)
		case m.here && !m.person:
			heard = max(heard, m.seq)
		}
		if _, known := by[m.at.Session]; !known {
			by[m.at.Session] = m
		}
		return nil
	})
	if err != nil {
		return err
	}
	if k.upTo == 0 {
		k.by, k.floor, k.last, k.restored, k.heard = by, since, last, restored, heard
	} else {
		k.restored, k.heard = max(k.restored, restored), max(k.heard, heard)
		maps.Copy(k.by, by)
		if last.here {
			k.last = last
		}
	}
	maps.DeleteFunc(k.by, func(_ string, m presence) bool { return m.time < since })
	k.upTo = upTo
	return nil
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

// NewestCursor is the checkpoint of the cursor that was moved last.
func (ss *Sessions) NewestCursor() (objstore.ID, error) {
	var id objstore.ID
	err := ss.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Session == "" || !op.Kind.IsRestore() && op.Kind != refs.KindCheckpoint {
			return nil
		}
		at, err := ss.log.Refs.ID(refs.Cursor(goesOf(op)))
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
