package engine

import (
	"errors"
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/refs"
)

// turn finds the checkpoint that holds the state at the end of a turn of the session that the name says, else of this one, "" for the
// current one; turn 0 is before the first prompt. A turn that lies before a fork is the other session's.
func (e *Engine) turn(session string, n naming.Name) (*Checkpoint, error) {
	session, err := e.whoseTurn(session, n)
	if err != nil {
		return nil, err
	}
	for range maxBases {
		l, err := e.lineage(session)
		if err != nil {
			return nil, err
		}
		if l == nil || l.Turn < 0 || n.Turn > uint64(l.Turn) {
			break
		}
		session = l.Session
	}
	cp, err := e.endOfTurn(session, n.Turn)
	var none *NoTurnError
	if errors.As(err, &none) {
		if l, err := e.lineage(session); err == nil && l != nil && l.Turn > 0 {
			none.Turns = max(none.Turns, uint64(l.Turn)) // nothing has been heard of the fork
		}
	}
	return cp, err
}

// hasTurns has an error about a turn say how many the session has, with those that no event tells of; the sessions are loaded.
func (e *Engine) hasTurns(err error) error {
	var none *NoTurnError
	if errors.As(err, &none) {
		none.Turns = max(none.Turns, e.turnCount(e.sessions[none.Session]))
	}
	return err
}

// turnCount is how many turns the conversation of a session has, as far as it was captured.
func (e *Engine) turnCount(s *Session) uint64 {
	if s == nil || !understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return 0
	}
	turns, err := e.turnsIn(s, s.Cursor.Transcript)
	if err != nil {
		return 0 // hints, nothing else
	}
	return uint64(turns)
}

// whoseTurn is the session whose turn a name means: its own, else this one, "" for the current one.
func (e *Engine) whoseTurn(session string, n naming.Name) (string, error) {
	if n.Whose != "" {
		return e.findSession(n.Whose)
	}
	return e.orCurrent(session)
}

// byPerson reports whether an operation made a checkpoint that a person asked for: it comes after what the turn did.
func (e *Engine) byPerson(op *refs.Operation) (bool, error) {
	if op.Kind == refs.KindThinned {
		return op.Cause.Event == EventSave || op.Cause.Event == EventUndo, nil
	}
	if op.Kind != refs.KindCheckpoint {
		return false, nil
	}
	cp, err := e.checkpoint(op.Checkpoint)
	return err == nil && (cp.Cause.Event == EventSave || cp.Cause.Event == EventUndo), err
}

// endOfTurn is the newest checkpoint that one of a session's events of turn n stood for, or of the turns before it. The number of a turn comes again where the
// conversation was cut in place: the newest of that number is meant.
func (e *Engine) endOfTurn(session string, n uint64) (*Checkpoint, error) {
	var found, before, first *refs.Operation // of the turn, of one before it, the oldest of one after it
	newest := uint64(0)
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		if op.Session != session || !inTurn(op) || op.Checkpoint.IsZero() && !op.Thinned || op.Kind == refs.KindThinned && op.Cause.Event == EventSafety {
			return nil
		}
		if op.Kind == refs.KindEvent && op.Cause.Event == EventScan {
			return nil // the conversation was captured; the worktree may be another's by then
		}
		newest = max(newest, op.Turn)
		if op.Turn > n {
			first, before = op, nil
			return nil
		}
		person, err := e.byPerson(op)
		switch {
		case err != nil || person:
			return err
		case op.Turn == n:
			found = op
			return kv.ErrStop
		case before == nil:
			before = op
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == nil && newest > n {
		found = before
	}
	if found == nil && n == 0 {
		found = first // the prompt of the first turn is the state before it
	}
	if found == nil || newest < n {
		return nil, &NoTurnError{Session: session, Turn: n, Turns: newest}
	}
	if found.Checkpoint.IsZero() {
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: gc has removed it", n, ErrNotFound)
	}
	return e.checkpoint(found.Checkpoint)
}

// inTurn reports whether an operation tells of a moment of a session's turn: a checkpoint, also one that gc has removed, or an event that found nothing changed.
func inTurn(op *refs.Operation) bool {
	return op.Kind == refs.KindCheckpoint || op.Kind == refs.KindEvent || op.Kind == refs.KindThinned
}
