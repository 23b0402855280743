package history

import (
	"context"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Operation is an operation as the log tells of it.
type Operation struct {
	refs.Operation
	From, To *Listed // of a restore: the checkpoint that the project stood on, and the one that it went to; nil: gc has removed it
	Undone   uint64  // the undo-restore in effect that took it back; 0: none
	// of a restore that took turns of its session back: the first and the last of them; nil: it is none, or gc has
	// removed where it went
	TookBack *value.TurnsOf
}

// undos tells, of all operations from the newest on, by which undo-restore in effect one was taken back.
type undos map[uint64]uint64

// Of is the undo-restore that took op back; 0: none.
func (u undos) Of(op *refs.Operation) (by uint64) {
	if by = u[op.Seq]; by == 0 && op.Kind.Undoes() && op.Restore != nil && u[op.Restore.Undoes] == 0 {
		u[op.Restore.Undoes] = op.Seq
	}
	return by
}

// Restores calls fn with the operations that tell of a restore (Ledger.Restores), the newest first, and the
// undo-restore in effect that took each back; 0: none. fn may end that by kv.ErrStop.
func (h *History) Restores(fn func(op *refs.Operation, undone uint64) error) error {
	taken := undos{}
	return h.ledger.Restores(0, func(op *refs.Operation) error { return fn(op, taken.Of(op)) })
}

// Which says what of the log is listed.
type Which int

// What is listed of the log.
const (
	Changing  Which = iota // without safety checkpoints, which are part of the restore they precede, and events that changed nothing
	Restoring              // what went back or forward, and what managed sessions
	Every
)

// has reports whether an operation may be one that is listed.
func (w Which) has(op *refs.Operation) bool {
	switch w {
	case Restoring:
		return op.Kind.CanUndo() || op.Kind == refs.KindAbort // and has a Restore
	case Changing:
		return op.Kind != refs.KindSafety && op.Kind != refs.KindEvent && op.Kind != refs.KindThinned
	}
	return true
}

// Operations lists the log, newest first, at most limit operations, 0: all.
func (h *History) Operations(_ context.Context, limit int, which Which) (list []Operation, err error) {
	dress, err := h.Dresser()
	if err != nil {
		return nil, err
	}
	read := h.log.Checkpoints()
	side := func(id objstore.ID) *Listed {
		cp, err := read(id)
		if err == nil && cp.Cause.Event == model.EventSafety && len(cp.Parents) > 0 {
			cp, err = read(cp.Parents[0]) // a person knows it by that
		}
		if err == nil {
			if l, err := dress(cp); err == nil {
				return &l
			}
		}
		return nil
	}
	taken, count, places := undos{}, h.log.Count(), h.places()
	shown := func(op *refs.Operation) bool {
		full := limit > 0 && len(list) == limit
		return full || op.Kind.Undoes() || which.has(op)
	}
	err = h.log.Refs.NewestOf(0, shown, func(op *refs.Operation) error {
		if limit > 0 && len(list) == limit {
			return kv.ErrStop
		}
		undone := taken.Of(op)
		restores := (op.Kind.CanUndo() || op.Kind == refs.KindAbort) && op.Restore != nil
		if which == Restoring && !restores {
			return nil
		}
		o := Operation{Operation: *count.Operation(op), Undone: undone}
		if restores {
			o.From, o.To = side(op.Restore.Safety), side(op.Restore.Target)
			if err := places.tell(&o, dress); err != nil {
				return err
			}
		}
		list = append(list, o)
		return nil
	})
	return list, err
}

// tell says of a restore from where the project went, to where, and which turns it took back. One of some paths went
// nowhere: it is told from where the project stood. One of the conversation alone leaves the code where it is.
func (p *places) tell(o *Operation, dress func(*model.Checkpoint) (Listed, error)) error {
	r := o.Restore
	if o.Kind == refs.KindAbort || o.Kind.Manages() {
		return nil
	}
	from, left, err := p.before(o.Seq)
	if err != nil {
		return err
	}
	if len(r.Paths) > 0 {
		o.From = from.dress(o.From)
		return nil
	}
	to, _, err := p.before(o.Seq + 1)
	if err == nil && r.TakesBack {
		o.TookBack, err = p.tookBack(&o.Operation, from, to)
	}
	if err != nil || r.ContextOnly {
		return err
	}
	if from != nil {
		l, err := dress(left)
		if err != nil {
			return err
		}
		o.From = &l
	}
	o.From, o.To = from.dress(o.From), to.dress(o.To)
	return nil
}

// Density is how many checkpoints were taken when.
type Density struct {
	Length time.Duration // of every span
	Spans  []Span        // those that have a checkpoint, the oldest first
}

// Span is a stretch of time.
type Span struct {
	At          time.Time // its beginning
	Checkpoints int       // that were taken in it
	Newest      uint64    // the newest operation of one
}

const longestSpan = 1 << 20 * time.Hour // 120 years: clocks that differ by more are not to be drawn

// Density counts the checkpoints of the whole log in at most so many spans, which are as short as that lets them be,
// and no shorter than a minute. It reads the log and no object.
func (h *History) Density(ctx context.Context, most int) (*Density, error) {
	d := &Density{Length: time.Minute}
	err := h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind != refs.KindCheckpoint {
			return ctx.Err()
		}
		at := time.UnixMilli(op.Time).UTC().Truncate(d.Length)
		if n := len(d.Spans); n > 0 && !at.Before(d.Spans[n-1].At) { // a clock that went back is in the span before
			d.Spans[n-1].Checkpoints++
			return ctx.Err()
		}
		d.Spans = append(d.Spans, Span{at, 1, op.Seq})
		for len(d.Spans) > most && d.Length < longestSpan {
			d.Length *= 2
			d.Spans = d.wider()
		}
		return ctx.Err()
	})
	slices.Reverse(d.Spans)
	return d, err
}

// wider are the spans, the newest first, after their length has grown.
func (d *Density) wider() (list []Span) {
	for _, one := range d.Spans {
		one.At = one.At.Truncate(d.Length)
		if n := len(list); n > 0 && list[n-1].At.Equal(one.At) {
			list[n-1].Checkpoints += one.Checkpoints
			continue
		}
		list = append(list, one)
	}
	return list
}
