package history

import (
	"context"
	"fmt"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Tag gives the checkpoint of a name a tag, which keeps it from gc. force moves a tag that exists; without it model.ErrTagExists.
func (h *History) Tag(ctx context.Context, tag, name string, force bool) (*model.Checkpoint, error) {
	h.log.Mu.Lock()
	defer h.log.Mu.Unlock()
	if err := refs.Tag(tag).Check(); err != nil {
		return nil, model.Usagef("tag: %w", err)
	}
	if err := naming.CheckTag(tag); err != nil {
		return nil, &value.OpError{Op: "tag", Subject: tag, Typed: true, Err: model.Usagef("%w", err)}
	}
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err != nil {
		return nil, err
	}
	if !old.IsZero() && old != cp.ID && !force {
		return nil, &value.OpError{
			Op: "tag", Subject: tag, Typed: true,
			Err: fmt.Errorf("%w: it names checkpoint %s", model.ErrTagExists, old.Short()),
		}
	}
	if old == cp.ID {
		return cp, nil
	}
	return cp, h.MoveTag(ctx, tag, old, cp.ID)
}

// Untag deletes a tag; the checkpoint stays.
func (h *History) Untag(ctx context.Context, tag string) error {
	h.log.Mu.Lock()
	defer h.log.Mu.Unlock()
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err != nil {
		return err
	}
	if old.IsZero() {
		return &value.OpError{Op: "tag", Subject: tag, Typed: true, Err: model.ErrNotFound}
	}
	return h.MoveTag(ctx, tag, old, objstore.ID{})
}

// MoveTag moves a tag from one checkpoint to another, the zero id for none, with an operation, durably.
func (h *History) MoveTag(ctx context.Context, tag string, from, to objstore.ID) error {
	name := refs.Tag(tag)
	op := refs.Operation{Kind: refs.KindTag, Message: tag, Changes: []refs.Change{{Name: name, Old: from, New: to}}}
	return h.log.Record(ctx, op, refs.Update{Name: name, Old: from, New: to})
}

// Tagged is a tag and the checkpoint it names.
type Tagged struct {
	Tag        string
	Checkpoint Listed
}

// Tags lists the tags by name.
func (h *History) Tags(_ context.Context) ([]Tagged, error) {
	all, err := h.log.Refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	list := make([]Tagged, 0, len(all))
	for _, r := range all {
		cp, err := h.log.Checkpoint(r.ID)
		if err != nil {
			return nil, err
		}
		l, err := h.Listing(cp)
		if err != nil {
			return nil, err
		}
		list = append(list, Tagged{r.Name.Base(), l})
	}
	return list, nil
}

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
		if !op.Kind.IsRestore() && op.Kind != refs.KindAbort || op.Restore == nil {
			return nil
		}
		if limit > 0 && len(list) == limit {
			return kv.ErrStop
		}
		r := Restored{Operation: *op, From: side(op.Restore.Safety), To: side(op.Restore.Target), Undone: undone[op.Seq]}
		if op.Kind == refs.KindUndoRestore && r.Undone == 0 {
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
