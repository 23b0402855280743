package oplog

import (
	"math"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Head is the newest state of the worktree that steps and restores account for; what differs from it is unsaved.
type Head struct {
	Tree       objstore.ID // zero: nothing was captured yet
	Note       objstore.ID
	Checkpoint objstore.ID // a checkpoint with this tree; zero: none is known
	Laid       []uint64    // restores of some paths since the newest step or restore of all, the newest first
}

// Head is the head of the project. The log's lock is held.
func (l *Log) Head() (Head, error) {
	if l.known != nil {
		return *l.known, nil
	}
	var h Head
	known, before := false, uint64(math.MaxUint64) // what settles the head lies before this one
	err := l.Refs.Newest(0, func(op *refs.Operation) error {
		limited := op.Kind.IsRestore() && op.Restore != nil && len(op.Restore.Paths) > 0
		if limited {
			h.Laid = append(h.Laid, op.Seq)
		}
		if step := op.Kind == refs.KindCheckpoint || op.Kind == refs.KindSafety; !step && op.Restore == nil {
			return nil
		}
		if !known {
			at, err := l.headOf(op)
			if err != nil {
				return err
			}
			at.Laid = h.Laid
			h, known = at, true
		}
		if op.Seq >= before || !settles(op) {
			return nil
		}
		if before = l.broughtBack(op); before == 0 {
			return kv.ErrStop
		}
		return nil
	})
	if err != nil && !known {
		return Head{}, err
	}
	l.known = &h
	return h, nil
}

// settles reports whether what lies before an operation says nothing of the head behind it: restores of some paths may
// lie before one that made no step and set no whole tree.
func settles(op *refs.Operation) bool {
	switch op.Kind {
	case refs.KindSafety, refs.KindAbort:
		return false
	}
	return op.Restore == nil || len(op.Restore.Paths) == 0 && !op.Restore.ContextOnly
}

// broughtBack is the safety checkpoint, by its operation, of which a restore brought the state again: what restores of
// some paths had laid out by then lies there again, and what they laid out since it kept. 0: it went elsewhere.
func (l *Log) broughtBack(op *refs.Operation) uint64 {
	if op.Kind != refs.KindUndoRestore {
		return 0
	}
	target, err := l.Checkpoint(op.Restore.Target)
	if err != nil || target.Cause.Event != model.EventSafety || target.Seq >= op.Seq {
		return 0
	}
	return target.Seq
}

// headOf is the head behind a step or a restore.
func (l *Log) headOf(op *refs.Operation) (Head, error) {
	switch op.Kind {
	case refs.KindCheckpoint:
		cp, err := l.Checkpoint(op.Checkpoint)
		if err != nil {
			return Head{}, err
		}
		return Head{Tree: cp.Tree, Note: cp.Note, Checkpoint: cp.ID}, nil
	case refs.KindRepair: // what was known before a repair is not believed
		return Head{}, nil
	case refs.KindSafety:
		return l.headAt(op.Checkpoint)
	case refs.KindAbort:
		return l.headAt(op.Restore.Safety)
	}
	return l.headAfter(op.Restore)
}

// headAt is the head when a restore began that found the checkpoint found: its safety checkpoint, or the step that
// unsaved changes became.
func (l *Log) headAt(found objstore.ID) (Head, error) {
	cp, err := l.Checkpoint(found)
	if err != nil {
		return Head{}, err
	}
	return l.Accounts(cp)
}

// headAfter is the head after a restore. One that was limited to paths is an edit like any other, and does not move it;
// one that left the worktree alone, as what manages sessions does, has nothing to move it.
func (l *Log) headAfter(r *refs.Restore) (Head, error) {
	if len(r.Paths) > 0 || r.ContextOnly {
		return l.headAt(r.Safety)
	}
	safety, err := l.Checkpoint(r.Safety)
	if err != nil {
		return Head{}, err
	}
	if !r.Result.IsZero() {
		return Head{Tree: r.Result, Note: safety.Note}, nil
	}
	target, err := l.Checkpoint(r.Target)
	if err != nil {
		return Head{}, err
	}
	return l.Accounts(target)
}

// Accounts returns the head that a checkpoint accounts for. For a step that is all of it. For a safety checkpoint it is
// the head before it: the unsaved changes of then are unsaved again when it is brought back.
func (l *Log) Accounts(cp *model.Checkpoint) (Head, error) {
	if cp.Cause.Event != model.EventSafety {
		return Head{Tree: cp.Tree, Note: cp.Note, Checkpoint: cp.ID}, nil
	}
	if !cp.Base.IsZero() || len(cp.Parents) == 0 {
		return Head{Tree: cp.Base, Note: cp.Note}, nil
	}
	parent, err := l.Checkpoint(cp.Parents[0])
	if err != nil {
		return Head{}, err
	}
	return Head{Tree: parent.Tree, Note: parent.Note, Checkpoint: parent.ID}, nil
}

// Before is the tree that a checkpoint's changes are counted from; zero: the empty one.
func (l *Log) Before(cp *model.Checkpoint) (objstore.ID, error) { return Before(cp, l.Checkpoint) }

// Before is Log.Before for a reader of many checkpoints, as Log.Checkpoints gives.
func Before(cp *model.Checkpoint, read func(objstore.ID) (*model.Checkpoint, error)) (objstore.ID, error) {
	if !cp.Base.IsZero() || len(cp.Parents) == 0 {
		return cp.Base, nil
	}
	parent, err := read(cp.Parents[0])
	if err != nil {
		return objstore.ID{}, err
	}
	return parent.Tree, nil
}

// Pinned calls ref for the objects that the store must keep for the head in memory. The log's lock is held.
func (l *Log) Pinned(ref func(objstore.Kind, objstore.ID) error) error {
	if h := l.known; h != nil {
		if err := ref(objstore.Tree, h.Tree); err != nil {
			return err
		}
		if err := ref(objstore.Note, h.Note); err != nil {
			return err
		}
	}
	return ref(objstore.Note, l.noted.Id)
}

// Forget drops what is known in memory of the log; the next call reads it from the store. The log's lock is held.
func (l *Log) Forget() {
	l.Refs.Forget()
	l.Objs.Forget()
	l.skips.Forget()
	l.Rewrote()
	l.records.Clear()
	l.known, l.loaded, l.whole, l.noted = nil, false, false, StoredNote{}
	l.squashes.CompareAndSwap(model.SquashesNone, model.SquashesUnknown) // that there are some stays true
}

// ForgetHead has the next question for the newest state be answered by the store. The log's lock is held.
func (l *Log) ForgetHead() { l.known = nil }

// Noted is the note of the last capture that was recorded. The log's lock is held.
func (l *Log) Noted() StoredNote { return l.noted }

// Rewrote says that the log has changed otherwise than by what came to its end: what was read of it before may be
// wrong.
func (l *Log) Rewrote() {
	l.rewrites.Add(1)
	l.recent.clear()
	l.tally.forget()
}

// Rewrites is how often the log was rewritten since it was opened: who keeps what was read of it looks at that, and
// then at the end of the log.
func (l *Log) Rewrites() uint64 { return l.rewrites.Load() }
