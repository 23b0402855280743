package history

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// A Restored is a restore as the log tells of it.
type Restored struct {
	refs.Operation
	From, To *Listed // the checkpoint that the project stood on, and the one that it went to; nil: gc has removed it
	Undone   uint64  // the undo-restore in effect that took it back; 0: none
}

// Restores lists the newest restores, at most limit of them, 0: all, the newest first.
func (h *History) Restores(_ context.Context, limit int) (list []Restored, err error) {
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
	undone := map[uint64]uint64{}
	err = h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if !op.Kind.CanUndo() && op.Kind != refs.KindAbort || op.Restore == nil {
			return nil
		}
		if limit > 0 && len(list) == limit {
			return kv.ErrStop
		}
		r := Restored{Operation: *op, From: side(op.Restore.Safety), To: side(op.Restore.Target), Undone: undone[op.Seq]}
		if op.Kind.Undoes() && r.Undone == 0 {
			undone[op.Restore.Undoes] = op.Seq
		}
		list = append(list, r)
		return nil
	})
	return list, err
}

// Operations lists the log, newest first; limit 0 means all. Safety checkpoints, which are part of the restore they precede,
// and agents' events that changed nothing are left out unless all is set.
func (h *History) Operations(_ context.Context, limit int, all bool) ([]refs.Operation, error) {
	var list []refs.Operation
	err := h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if (op.Kind == refs.KindSafety || op.Kind == refs.KindEvent || op.Kind == refs.KindThinned) && !all {
			return nil
		}
		if limit > 0 && len(list) == limit {
			return kv.ErrStop
		}
		list = append(list, *op)
		return nil
	})
	return list, err
}
