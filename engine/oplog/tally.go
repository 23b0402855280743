package oplog

import (
	"sync"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/refs"
)

// forget drops the counts: the log is counted anew.
func (t *tally) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.upTo, t.checkpoints, t.safety, t.last, t.pruned = 0, 0, 0, nil, nil
}

// tally counts the log's checkpoints, each operation once. It has a lock of its own, so that status does not wait for a
// capture.
type tally struct {
	mu                  sync.Mutex
	upTo                uint64 // the newest operation that was counted; 0: none
	checkpoints, safety int
	last                *refs.Operation // the newest operation, read only; nil: none
	pruned              *refs.Operation // the newest in effect that deleted sessions by itself, read only; nil: none
}

// Counted is the number of steps and of safety checkpoints in the log, and its newest operation.
func (l *Log) Counted() (checkpoints, safety int, last *refs.Operation, err error) {
	t := &l.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	var newest, pruned *refs.Operation
	back := map[uint64]bool{} // operations that were taken back
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
		case refs.KindUndoForks:
			if op.Restore != nil {
				back[op.Restore.Undoes] = true
			}
		case refs.KindDelete:
			if pruned == nil && op.Message == model.ByItself && !back[op.Seq] {
				pruned = op
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, nil, err
	}
	if pruned != nil || t.pruned != nil && back[t.pruned.Seq] {
		t.pruned = pruned
	}
	if newest != nil {
		t.checkpoints, t.safety, t.last, t.upTo = t.checkpoints+checkpoints, t.safety+safety, newest, newest.Seq
	}
	return t.checkpoints, t.safety, t.last, nil
}

// Pruned is the newest operation that deleted sessions by itself and was not taken back, as Counted has seen it last,
// read only; nil: none.
func (l *Log) Pruned() *refs.Operation {
	l.tally.mu.Lock()
	defer l.tally.mu.Unlock()
	return l.tally.pruned
}
