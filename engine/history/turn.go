package history

import (
	"errors"
	"fmt"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/objstore"
)

// turn is the checkpoint at the end of a turn, of the session that the name says, else of session ("": the current one). Turn 0 is the
// state before the first prompt. A turn from before a fork is the other session's.
func (h *History) turn(session string, n naming.Name) (*model.Checkpoint, error) {
	session, err := h.turnSession(session, n)
	if err != nil {
		return nil, err
	}
	if n.Before {
		p, err := h.typedAt(session, n.Turn+1)
		if err != nil {
			return nil, err
		}
		if p != nil && p.Checkpoint != nil {
			return p.Checkpoint, nil
		}
	}
	session, number, err := taken(session, n.Turn, h.lineage)
	if err != nil {
		return nil, err
	}
	cp, err := h.endOfTurn(session, number)
	var none *model.NoTurnError
	if errors.As(err, &none) {
		if l, err := h.lineage(session); err == nil && l != nil && l.Both > 0 {
			none.Turns = max(none.Turns, uint64(l.Both)) // a fork without events has its parent's turns
		}
	}
	return cp, err
}

// taken is the session in which turn n of a session was taken, and its number there: another session's if the turn lies before a fork. It
// follows at most sessions.MaxFamily forks, since lineages may form a circle.
func taken(session string, n uint64, lineage func(session string) (*model.Lineage, error)) (of string, number uint64, err error) {
	for range conversation.MaxBases {
		l, err := lineage(session)
		if err != nil {
			return "", 0, err
		}
		if l == nil || l.Both < 0 || n > uint64(l.Both) {
			break
		}
		session, n = l.Session, l.Of(n)
	}
	return session, n, nil
}

// hasTurns adds to an error about a turn how many the session has, with those of which there is no event. The records are loaded.
func (h *History) hasTurns(err error) error {
	var none *model.NoTurnError
	if errors.As(err, &none) {
		none.Turns = max(none.Turns, h.TurnCount(h.log.Records[none.Session]))
	}
	return err
}

// TurnCount is how many turns the captured conversation of a session has; 0 if it cannot be read.
func (h *History) TurnCount(s *model.Session) uint64 {
	if s == nil || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return 0
	}
	turns, err := h.turnsIn(s, s.Cursor.Transcript)
	if err != nil {
		return 0 // the number is a hint
	}
	return uint64(turns)
}

// turnSession is the session whose turn a name means: its own, else session, "" for the current one.
func (h *History) turnSession(session string, n naming.Name) (string, error) {
	if n.Session != "" {
		return h.sessions.FindSession(n.Session)
	}
	return h.sessions.OrHolder(session, n.Turn)
}

// endOfTurn is the checkpoint at the end of turn n of a session, as the log has it. Where a conversation was cut in place a number comes
// again: the newest turn of that number is meant.
func (h *History) endOfTurn(session string, n uint64) (*model.Checkpoint, error) {
	l, err := h.ReadTurns(session, n)
	if err != nil {
		return nil, err
	}
	m := l.EndOf(n)
	switch {
	case m == nil, m.Code.IsZero() && !m.Removed:
		return nil, &model.NoTurnError{Session: session, Turn: n, Turns: l.Newest}
	case m.Removed:
		return nil, fmt.Errorf("checkpoint \"turn:%d\": %w: gc has removed it", n, model.ErrNotFound)
	}
	return h.log.Checkpoint(m.Code)
}

// transcriptAt is the transcript at the end of turn n, as the log has it; zero: no event of that turn was recorded.
func (h *History) transcriptAt(session string, n uint64) (objstore.ID, error) {
	l, err := h.ReadTurns(session, n)
	if err != nil {
		return objstore.ID{}, err
	}
	f := l.Turns[n]
	if f == nil || f.At == nil {
		return objstore.ID{}, nil
	}
	return l.TranscriptAt(f)
}

// endsTurn reports whether a checkpoint is the state at the end of its turn, and the turn is over.
func (h *History) endsTurn(cp *model.Checkpoint) (bool, error) {
	if cp.Session == model.Manual || cp.Cause.Turn == 0 || cp.Cause.Event == model.EventSafety || h.log.Records[cp.Session] == nil {
		return false, nil
	}
	l, err := h.ReadTurns(cp.Session, cp.Cause.Turn)
	if err != nil {
		return false, err
	}
	f := l.Turns[cp.Cause.Turn]
	return f != nil && f.Over && f.At != nil && f.At.Code == cp.ID, nil
}
