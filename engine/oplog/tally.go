package oplog

import (
	"sync"

	"rewind/internal/kv"
	"rewind/refs"
)

// Forget has the log counted anew.
func (t *tally) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.upTo, t.checkpoints, t.safety, t.last = 0, 0, 0, nil
}

// tally counts the log's checkpoints, each operation once. Its own lock: status does not wait for a capture.
type tally struct {
	mu                  sync.Mutex
	upTo                uint64 // the newest operation that was counted; 0: none
	checkpoints, safety int
	last                *refs.Operation // nil: there is none; not to be changed
}

// Counted is the tally of the log as it is now: steps, safety checkpoints, the newest operation.
func (l *Log) Counted() (checkpoints, safety int, last *refs.Operation, err error) {
	t := &l.Tally
	t.mu.Lock()
	defer t.mu.Unlock()
	var newest *refs.Operation
	err = l.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= t.upTo {
			return kv.ErrStop
		}
		if newest == nil {
			newest = op
		}
		switch op.Kind {
		case refs.KindCheckpoint:
			checkpoints++
		case refs.KindSafety:
			safety++
		}
		return nil
	})
	if err != nil {
		return 0, 0, nil, err
	}
	if newest != nil {
		t.checkpoints, t.safety, t.last, t.upTo = t.checkpoints+checkpoints, t.safety+safety, newest, newest.Seq
	}
	return t.checkpoints, t.safety, t.last, nil
}
