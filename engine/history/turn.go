package history

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/naming"
	"rewind/objstore"
)

// turn is the checkpoint at the end of a turn, of the session that the name says, else of session ("": the current
// one). Turn 0 is the state before the first prompt. A turn from before a fork is the other session's.
func (h *turnReader) turn(session string, n naming.Name) (*model.Checkpoint, error) {
	session, err := h.turnSession(session, n)
	if err != nil {
		return nil, err
	}
	if n.Before {
		if cp, _, err := h.typedCode(session, n.Turn+1); err != nil || cp != nil {
			return cp, err
		}
	}
	at, err := taken(session, n.Turn, h.log.StoredSession, h.readTurns)
	if err != nil {
		return nil, err
	}
	cp, err := h.endOfTurn(at)
	var none *model.NoTurnError
	if errors.As(err, &none) {
		none.Before = n.Before
		if row, err := h.pastTurn(at); err != nil || row != nil {
			p := &Moment{Session: at.session, Turn: int(at.turn)}
			return nil, cmp.Or(err, h.NoCode("checkpoint", n.String(), p))
		}
		if s, err := h.log.StoredSession(at.session); err == nil && s != nil {
			none.Turns = max(none.Turns, h.countTurns(s))
			if s.Fork != nil && s.Fork.Both > 0 {
				none.Turns = max(none.Turns, uint64(s.Fork.Both)) // a fork without events has its parent's turns
			}
		}
	}
	return cp, err
}

// A turnAt is where the log has a turn: a fork's turns from before it was made are another session's. That one may have
// been cut in place since, and its numbers may have come again: what the log has behind the first such cut does not
// count.
type turnAt struct {
	session string
	turn    uint64
	// the operation that made the fork, or after which the turn is not followed through a cut; 0: it is the session's
	// own turn
	forked uint64
}

// taken is where turn n of a session was taken; record gives a session's record, nil if there is none, and log what the
// log has of a turn's session. It follows at most conversation.MaxForks forks, since lineages may form a circle.
func taken(
	session string, n uint64, record func(session string) (*model.Session, error), log func(turnAt) (*turnLog, error),
) (turnAt, error) {
	at := turnAt{session: session, turn: n}
	for range conversation.MaxForks {
		s, err := record(at.session)
		if err != nil {
			return turnAt{}, err
		}
		if s == nil || s.Fork == nil || s.Fork.Both < 0 {
			break
		}
		if at.turn > uint64(s.Fork.Both) {
			// A fork that has the turn no more was cut in place behind the fork that was made of it. It had inherited
			// the turn, unless it had made one of that number by then. Of an imported one the log tells no turn.
			if its := s.Imported && at.turn <= s.Turn; its || at.forked == 0 {
				break
			}
			l, err := log(at)
			if err != nil {
				return turnAt{}, err
			}
			f, err := l.factsOf(at.turn)
			if err != nil {
				return turnAt{}, err
			}
			if f != nil && f.At != nil {
				break
			}
		}
		at = turnAt{session: s.Fork.Session, turn: s.Fork.Of(at.turn), forked: s.Began}
	}
	return at, nil
}

// HasTurn reports whether a session's conversation has turn n of another one of its family. The log's lock is held.
func (h *turnReader) HasTurn(session, of string, n uint64) (bool, error) {
	at, err := taken(of, n, h.log.StoredSession, h.readTurns)
	if err != nil {
		return false, err
	}
	last := uint64(math.MaxUint64) // turn that it has of the one that is looked at
	for range conversation.MaxForks {
		if session == at.session {
			return at.turn <= last, nil
		}
		s, err := h.log.StoredSession(session)
		if made := s != nil && s.Fork != nil; err != nil || !made {
			return false, err
		}
		if s.Fork.Both < 0 {
			return false, nil
		}
		session, last = s.Fork.Session, s.Fork.Of(min(last, uint64(s.Fork.Both)))
	}
	return false, nil
}

// readTurns reads what the log has of a session's turns, as a fork has them. The caller need not hold the log's lock.
// What was read is not read again while nothing is written: several questions about one moment are answered from it.
func (h *turnReader) readTurns(at turnAt) (*turnLog, error) {
	at.turn = 0
	writes := h.log.DB.Writes()
	if l := h.turns.get(at, writes); l != nil {
		return l.askedBy(h), nil
	}
	l, err := h.newTurnLog(at.session, at.forked)
	if err != nil {
		return nil, err
	}
	if h.log.DB.Writes() == writes { // else something was written meanwhile, and be it the rows
		h.turns.put(at, writes, l.askedBy(nil)) // without what is this request's
	}
	return l, nil
}

// turnLogs are what was read of turns since something was written last: nobody changes it. Safe for concurrent use.
type turnLogs struct {
	mu     sync.Mutex
	writes uint64
	logs   map[turnAt]*turnLog
	rows   int // that they have
}

const maxRows = 4000 // that are kept

func (k *turnLogs) get(at turnAt, writes uint64) *turnLog {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.writes != writes {
		return nil
	}
	return k.logs[at]
}

func (k *turnLogs) put(at turnAt, writes uint64, l *turnLog) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 1 + len(l.rows)
	if k.logs == nil || k.writes != writes || k.rows+n > maxRows {
		k.writes, k.logs, k.rows = writes, map[turnAt]*turnLog{}, 0
	}
	if n <= maxRows && k.logs[at] == nil {
		k.logs[at] = l
		k.rows += n
	}
}

// askedBy is what was read for another request, whose sight of the store it goes on with; nil: for none.
func (l *turnLog) askedBy(h *turnReader) *turnLog {
	its := *l
	its.e, its.facts = h, nil
	return &its
}

// hasTurns adds to an error about a turn how many the session has, with those of which there is no event. The records
// are loaded.
func (h *turnReader) hasTurns(err error) error {
	var none *model.NoTurnError
	if errors.As(err, &none) {
		none.Turns = max(none.Turns, h.countTurns(h.log.Session(none.Session)))
	}
	return err
}

// hasTalk reports whether there is a captured conversation of a session that can be read.
func hasTalk(s *model.Session) bool {
	return model.Understood(s.Agent) && !s.Cursor.Transcript.IsZero()
}

// SaidTurns is the number of the last turn that the captured conversation of a session has, those of its summary among
// them; 0: it has none, or cannot be read.
func (h *turnReader) SaidTurns(s *model.Session) uint64 {
	last, err := h.lastSaid(s)
	if err != nil {
		return 0 // the number is a hint
	}
	return last
}

// TurnPlaces is how many turns the captured conversation of a session has, without those of its summary; 0 if it cannot
// be read.
func (h *turnReader) TurnPlaces(s *model.Session) int {
	if s == nil || !hasTalk(s) {
		return 0
	}
	turns, err := h.turnsIn(s, s.Cursor.Transcript)
	if err != nil {
		return 0 // the number is a hint
	}
	return turns
}

// endOfSession returns the checkpoint at the end of the last turn of a session's conversation; it may be of the
// session's original. nil: no code was captured then. The records are loaded.
func (h *turnReader) endOfSession(session string) (*model.Checkpoint, error) {
	last, err := h.lastSaid(h.log.Session(session))
	if err != nil {
		return nil, err
	}
	p, err := h.endOfTurnMoment(session, naming.Name{Kind: naming.Turn, Turn: last, Session: session})
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return p.Checkpoint, nil
}

// turnSession is the session whose turn a name means: its own, else session, "" for the current one.
func (h *turnReader) turnSession(session string, n naming.Name) (string, error) {
	if n.Session != "" {
		return h.sessions.FindSession(n.Session)
	}
	return h.sessions.OrHolder(session, n.Turn)
}

// endOfTurn is the checkpoint at the end of a turn, as the log has it. Where a conversation was cut in place a number
// comes again: the newest turn of that number is meant.
func (h *turnReader) endOfTurn(at turnAt) (*model.Checkpoint, error) {
	l, err := h.readTurns(at)
	if err != nil {
		return nil, err
	}
	m, err := l.endOf(at.turn)
	switch {
	case err != nil:
		return nil, err
	case m == nil, m.Code.IsZero() && !m.Removed:
		whose := h.sessions.Whose()(at.session)
		return nil, &model.NoTurnError{Session: at.session, Turn: at.turn, Turns: l.newest, Whose: whose}
	case m.Removed:
		name := naming.TurnName(at.turn, h.sessions.Whose()(at.session))
		return nil, fmt.Errorf("checkpoint %q: %w: gc has removed it", name, model.ErrNotFound)
	}
	return h.log.Checkpoint(m.Code)
}

// transcriptAt is the transcript at the end of a turn, as the log has it; zero: no event of that turn was recorded.
func (h *turnReader) transcriptAt(at turnAt) (objstore.ID, error) {
	l, err := h.readTurns(at)
	if err != nil {
		return objstore.ID{}, err
	}
	f, err := l.factsOf(at.turn)
	if err != nil || f == nil || f.At == nil {
		return objstore.ID{}, err
	}
	return l.transcriptAt(f)
}

// turnOf is the turn of a checkpoint as it was until the conversation was cut next: the number may have come again
// since.
func turnOf(cp *model.Checkpoint) turnAt {
	return turnAt{session: cp.Session, turn: cp.Cause.Turn, forked: cp.Seq}
}

// endsTurn reports whether a checkpoint is the state at the end of its turn, and the turn is over.
func (h *turnReader) endsTurn(cp *model.Checkpoint) (bool, error) {
	if cp.Session == model.Manual || cp.Cause.Turn == 0 || cp.Cause.Event == model.EventSafety || h.log.Session(cp.Session) == nil {
		return false, nil
	}
	l, err := h.readTurns(turnOf(cp))
	if err != nil {
		return false, err
	}
	f, err := l.factsOf(cp.Cause.Turn)
	if err != nil || f == nil {
		return false, err
	}
	if ended := f.Over && f.At != nil; !ended {
		return false, nil
	}
	end, err := l.own(f)
	return err == nil && end.Code == cp.ID, err
}
