package engine

import (
	"errors"
	"fmt"

	"rewind/internal/naming"
	"rewind/objstore"
)

// turn finds the checkpoint that holds the state at the end of a turn of the session that the name says, else of this one, "" for the
// current one; turn 0 is before the first prompt. A turn that lies before a fork is the other session's.
func (e *Engine) turn(session string, n naming.Name) (*Checkpoint, error) {
	session, err := e.whoseTurn(session, n)
	if err != nil {
		return nil, err
	}
	session, number, err := taken(session, n.Turn, e.lineage)
	if err != nil {
		return nil, err
	}
	cp, err := e.endOfTurn(session, number)
	var none *NoTurnError
	if errors.As(err, &none) {
		if l, err := e.lineage(session); err == nil && l != nil && l.Turn > 0 {
			none.Turns = max(none.Turns, uint64(l.Turn)) // nothing has been heard of the fork
		}
	}
	return cp, err
}

// taken is the session that turn n of a session was taken in, and its number there: another one if it lies before a fork. What agents' files say of where they come
// from may go in a circle.
func taken(session string, n uint64, lineage func(session string) (*Lineage, error)) (of string, number uint64, err error) {
	for range maxBases {
		l, err := lineage(session)
		if err != nil {
			return "", 0, err
		}
		if l == nil || l.Turn < 0 || n > uint64(l.Turn) {
			break
		}
		session, n = l.Session, l.of(n)
	}
	return session, n, nil
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
	return e.orHolder(session, n.Turn)
}

// endOfTurn is the state at the end of turn n of a session, as the log knows it. The number of a turn comes again where the conversation was cut in place: the
// newest of that number is meant.
func (e *Engine) endOfTurn(session string, n uint64) (*Checkpoint, error) {
	l, err := e.readTurns(session, n)
	if err != nil {
		return nil, err
	}
	m := l.endOf(n)
	switch {
	case m == nil, m.code.IsZero() && !m.removed:
		return nil, &NoTurnError{Session: session, Turn: n, Turns: l.newest}
	case m.removed:
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: gc has removed it", n, ErrNotFound)
	}
	return e.checkpoint(m.code)
}

// transcriptAt is the conversation at the end of turn n, as the log knows it: zero if no event of that turn was recorded.
func (e *Engine) transcriptAt(session string, n uint64) (objstore.ID, error) {
	l, err := e.readTurns(session, n)
	if err != nil {
		return objstore.ID{}, err
	}
	f := l.turns[n]
	if f == nil || f.at == nil {
		return objstore.ID{}, nil
	}
	return l.saidAt(f)
}

// endsTurn reports whether a checkpoint is the state at the end of its turn, which is over.
func (e *Engine) endsTurn(cp *Checkpoint) (bool, error) {
	if cp.Session == Manual || cp.Cause.Turn == 0 || cp.Cause.Event == EventSafety || e.sessions[cp.Session] == nil {
		return false, nil
	}
	l, err := e.readTurns(cp.Session, cp.Cause.Turn)
	if err != nil {
		return false, err
	}
	f := l.turns[cp.Cause.Turn]
	return f != nil && f.over && f.at != nil && f.at.code == cp.ID, nil
}
