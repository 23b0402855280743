package history

import (
	"context"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Operation is an operation as the log tells of it.
type Operation struct {
	refs.Operation
	From, To *Listed // of a restore: the checkpoint that the project stood on, and the one that it went to; nil: gc has removed it
	Undone   uint64  // the undo-restore in effect that took it back; 0: none
}

// Undos tells, of all operations from the newest on, by which undo-restore in effect one was taken back.
type Undos map[uint64]uint64

// Of is the undo-restore that took op back; 0: none.
func (u Undos) Of(op *refs.Operation) (by uint64) {
	if by = u[op.Seq]; by == 0 && op.Kind.Undoes() && op.Restore != nil && u[op.Restore.Undoes] == 0 {
		u[op.Restore.Undoes] = op.Seq
	}
	return by
}

// Which says what of the log is listed.
type Which int

// What is listed of the log.
const (
	Changing  Which = iota // without safety checkpoints, which are part of the restore they precede, and events that changed nothing
	Restoring              // what went back or forward, and what managed sessions
	Every
)

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
	undos, count := Undos{}, h.log.Count()
	err = h.log.Refs.Newest(0, func(op *refs.Operation) error {
		if limit > 0 && len(list) == limit {
			return kv.ErrStop
		}
		undone := undos.Of(op)
		restores := (op.Kind.CanUndo() || op.Kind == refs.KindAbort) && op.Restore != nil
		switch which {
		case Restoring:
			if !restores {
				return nil
			}
		case Changing:
			if op.Kind == refs.KindSafety || op.Kind == refs.KindEvent || op.Kind == refs.KindThinned {
				return nil
			}
		}
		o := Operation{Operation: *count.Operation(op), Undone: undone}
		if restores {
			o.From, o.To = side(op.Restore.Safety), side(op.Restore.Target)
		}
		list = append(list, o)
		return nil
	})
	return list, err
}
