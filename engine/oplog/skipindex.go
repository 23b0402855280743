package oplog

import (
	"sync"

	"rewind/internal/kv"
	"rewind/refs"
)

// MinBare is how many operations a stretch must have to be remembered.
const MinBare = 64

// skipIndex remembers stretches of the log in which no operation made a checkpoint: gc has thinned them, or events
// found nothing new. The log does not grow there, and gc only takes away, so such a stretch stays one; a repair, which
// may bring checkpoints back, calls Forget. It is filled by one walk over the log. Safe for concurrent use.
type skipIndex struct {
	mu      sync.Mutex
	Down    map[uint64]uint64 // from the newest operation of a stretch to its oldest
	forgets uint64
}

// below is the oldest operation of the stretch whose newest one is seq; 0: no stretch ends there.
func (b *skipIndex) below(seq uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Down[seq]
}

// Age is the argument of Learn for what is read from now on.
func (b *skipIndex) Age() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forgets
}

// Learn remembers a stretch, unless Forget was called since age.
func (b *skipIndex) Learn(newest, oldest, age uint64) {
	if newest == 0 || newest-oldest+1 < MinBare {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.forgets != age {
		return
	}
	if b.Down == nil {
		b.Down = map[uint64]uint64{}
	}
	b.Down[newest] = oldest
}

// joined drops a stretch that is a part of a longer one.
func (b *skipIndex) joined(newest uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.Down, newest)
}

func (b *skipIndex) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Down, b.forgets = nil, b.forgets+1
}

// Made calls fn for the operations that made a step or a safety checkpoint, newest first, until it returns kv.ErrStop.
// A long stretch without any is read once.
func (l *Log) Made(fn func(*refs.Operation) error) error { return l.madeFrom(0, fn) }

// madeFrom is Made from an operation back; 0: from the newest. Of a stretch in which it begins it remembers the rest.
func (l *Log) madeFrom(from uint64, fn func(*refs.Operation) error) error {
	b := &l.skips
	age := b.Age()
	var newest, oldest uint64 // the stretch that is being walked; 0: none
	for on := true; on; {
		on = false
		err := l.Refs.Newest(from, func(op *refs.Operation) error {
			if op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety {
				b.Learn(newest, oldest, age)
				newest = 0
				return fn(op)
			}
			seq := op.Seq
			down := b.below(seq)
			if down > 0 && newest > 0 {
				b.joined(seq)
			}
			if newest == 0 {
				newest = seq
			}
			oldest = seq
			if down > 0 {
				oldest = down
			}
			if down > 1 {
				from, on = down-1, true
				return kv.ErrStop
			}
			if down == 1 {
				return kv.ErrStop // nothing lies below
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	b.Learn(newest, oldest, age)
	return nil
}
