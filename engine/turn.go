package engine

import (
	"fmt"
	"strconv"

	"rewind/objstore"
)

// turn finds the checkpoint that holds the state at the end of a turn of a session, "" for the current one; turn 0 is before the first
// prompt.
func (e *Engine) turn(session, name string) (*Checkpoint, error) {
	n, err := strconv.ParseUint(name[len("turn:"):], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("engine: checkpoint %q: %w: want turn:<number>", name, ErrUsage)
	}
	if session, err = e.orCurrent(session); err != nil {
		return nil, err
	}
	return e.endOfTurn(session, n)
}

// endOfTurn is the state at the end of turn n of a session, as the log knows it. The number of a turn comes again where the conversation was cut in place: the
// newest of that number is meant.
func (e *Engine) endOfTurn(session string, n uint64) (*Checkpoint, error) {
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	l, err := e.readTurns(session, n)
	if err != nil {
		return nil, err
	}
	m := l.endOf(n)
	switch {
	case m == nil, m.code.IsZero() && !m.removed:
		return nil, fmt.Errorf("engine: checkpoint \"turn:%d\": %w: session %s has %d turns", n, ErrNotFound, session, l.newest)
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
	return l.saidAt(f.at)
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
