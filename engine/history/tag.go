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
	if err := checkTag(tag); err != nil {
		return nil, err
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
		return nil, tagExists(tag, old)
	}
	if old == cp.ID {
		return cp, nil
	}
	return cp, h.MoveTag(ctx, tag, old, cp.ID)
}

// checkTag fails with a model.ErrUsage for a name that no tag can have.
func checkTag(tag string) error {
	if err := refs.Tag(tag).Check(); err != nil {
		return model.Usagef("tag: %w", err)
	}
	if err := naming.CheckTag(tag); err != nil {
		return &value.OpError{Op: "tag", Subject: tag, Typed: true, Err: model.Usagef("%w", err)}
	}
	return nil
}

func tagExists(tag string, names objstore.ID) error {
	return &value.OpError{
		Op: "tag", Subject: tag, Typed: true, Err: fmt.Errorf("%w: it names checkpoint %s", model.ErrTagExists, names.Short()),
	}
}

// FreeTag fails unless a tag can be made of a name: a model.ErrUsage, or model.ErrTagExists.
func (h *History) FreeTag(tag string) error {
	if err := checkTag(tag); err != nil {
		return err
	}
	old, err := h.log.Refs.ID(refs.Tag(tag))
	if err == nil && !old.IsZero() {
		err = tagExists(tag, old)
	}
	return err
}

// TagOperation is the operation that moves a tag from one checkpoint to another, the zero id for none. Its changes are to be made with it.
func TagOperation(tag string, from, to objstore.ID) refs.Operation {
	return refs.Operation{Kind: refs.KindTag, Message: tag, Changes: []refs.Change{{Name: refs.Tag(tag), Old: from, New: to}}}
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
	return h.log.Record(ctx, TagOperation(tag, from, to), refs.Update{Name: refs.Tag(tag), Old: from, New: to})
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
