package history

import (
	"errors"
	"fmt"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/objstore"
)

// turn finds the checkpoint that holds the state at the end of a turn of the session that the name says, else of this one, "" for the
// current one; turn 0 is before the first prompt. A turn that lies before a fork is the other session's.
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
			none.Turns = max(none.Turns, uint64(l.Both)) // nothing has been heard of the fork
		}
	}
	return cp, err
}

// taken is the session that turn n of a session was taken in, and its number there: another one if it lies before a fork. What agents'
// files say of where they come from may go in a circle.
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

// hasTurns has an error about a turn say how many the session has, with those that no event tells of; the sessions are loaded.
func (h *History) hasTurns(err error) error {
	var none *model.NoTurnError
	if errors.As(err, &none) {
		none.Turns = max(none.Turns, h.TurnCount(h.log.Records[none.Session]))
	}
	return err
}

// TurnCount is how many turns the conversation of a session has, as far as it was captured.
func (h *History) TurnCount(s *model.Session) uint64 {
	if s == nil || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return 0
	}
	turns, err := h.turnsIn(s, s.Cursor.Transcript)
	if err != nil {
		return 0 // hints, nothing else
	}
	return uint64(turns)
}

// turnSession is the session whose turn a name means: its own, else this one, "" for the current one.
func (h *History) turnSession(session string, n naming.Name) (string, error) {
	if n.Session != "" {
		return h.sessions.FindSession(n.Session)
	}
	return h.sessions.OrHolder(session, n.Turn)
}

// endOfTurn is the state at the end of turn n of a session, as the log knows it. The number of a turn comes again where the conversation
// was cut in place: the newest of that number is meant.
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

// transcriptAt is the conversation at the end of turn n, as the log knows it: zero if no event of that turn was recorded.
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

// endsTurn reports whether a checkpoint is the state at the end of its turn, which is over.
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
