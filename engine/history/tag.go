package history

import (
	"context"
	"fmt"

	"rewind/engine/model"
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
