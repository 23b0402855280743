package oplog

import (
	"errors"
	"math"
	"time"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/refs"
)

// A Count tells the number that a turn has in its conversation, of one that an operation or a checkpoint has it with.
// They differ in a fork that an agent made: until its session file is there nobody knows which turns it has from
// another session, and its own are counted from its first. What the conversation counts already stays as it is, so that
// a number may be counted twice. Not for concurrent use.
type Count func(session string, turn, seq uint64) uint64

// Count is a Count that reads each session's record once. Where that fails numbers stay as they are written.
func (l *Log) Count() Count { return l.CountOr(func(error) {}) }

// CountOr is Count, and says to failed where reading failed, but for what is damaged.
func (l *Log) CountOr(failed func(error)) Count {
	known := map[string]early{}
	return func(session string, turn, seq uint64) uint64 {
		if turn == 0 || session == model.Manual {
			return turn
		}
		e, ok := known[session]
		if !ok {
			var err error
			if e, err = l.early(session); err != nil && !model.IsLost(err) && !errors.Is(err, refs.ErrCorrupt) {
				failed(err)
			}
			known[session] = e
		}
		if turn <= e.both && seq < e.until {
			return turn + e.both
		}
		return turn
	}
}

// Operation is the operation with the number that its turn has.
func (c Count) Operation(op *refs.Operation) *refs.Operation {
	n := c(op.Session, op.Turn, op.Seq)
	if n == op.Turn {
		return op
	}
	counted := *op
	counted.Turn = n
	return &counted
}

// clocksDiffer is how much later than a session's last event an operation of it may be dated.
const clocksDiffer = time.Minute

// early is what of a session was counted before its file was there: what has a number up to both and lies before until.
type early struct{ both, until uint64 }

// early is none where the record or the log cannot be read.
func (l *Log) early(session string) (early, error) {
	s, err := l.StoredSession(session)
	if err != nil || s == nil || s.Fork == nil {
		return early{}, err
	}
	if s.Fork.Kind != model.ByAgent || s.Fork.Both < 1 || s.Began == 0 {
		return early{}, nil
	}
	first, e := true, early{both: uint64(s.Fork.Both), until: math.MaxUint64}
	last := s.Last.Add(clocksDiffer).UnixMilli()
	err = l.Refs.Since(s.Began, func(op *refs.Operation) error {
		if op.Time > last {
			return kv.ErrStop // it has had no event since
		}
		if op.Session != session {
			return nil
		}
		if first && (op.Turn > 1 || op.Turn == 1 && !model.BeginsTurn(op)) {
			e.until = 0 // the file was there
		}
		if first = false; e.until > 0 && op.Turn > e.both {
			e.until = op.Seq
		}
		if e.until < math.MaxUint64 {
			return kv.ErrStop
		}
		return nil
	})
	if err != nil {
		return early{}, err
	}
	return e, nil
}
