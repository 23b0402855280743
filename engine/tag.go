package engine

import (
	"context"
	"fmt"

	"rewind/internal/kv"
	"rewind/internal/naming"
	"rewind/objstore"
	"rewind/refs"
)

// Tag names a checkpoint, so that it is kept and found. force moves a tag that exists; without it ErrTagExists.
func (e *Engine) Tag(ctx context.Context, tag, name string, force bool) (*Checkpoint, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := refs.Tag(tag).Check(); err != nil {
		return nil, fmt.Errorf("engine: tag: %w: %w", ErrUsage, err)
	}
	if err := naming.CheckTag(tag); err != nil {
		return nil, fmt.Errorf("engine: tag %q: %w: %w", tag, ErrUsage, err)
	}
	cp, err := e.Resolve(name)
	if err != nil {
		return nil, err
	}
	old, err := e.refs.ID(refs.Tag(tag))
	if err != nil {
		return nil, err
	}
	if !old.IsZero() && old != cp.ID && !force {
		return nil, fmt.Errorf("engine: tag %q: %w: it names checkpoint %s", tag, ErrTagExists, old.Short())
	}
	if old == cp.ID {
		return cp, nil
	}
	return cp, e.moveTag(ctx, tag, old, cp.ID)
}

// Untag deletes a tag; the checkpoint stays.
func (e *Engine) Untag(ctx context.Context, tag string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	old, err := e.refs.ID(refs.Tag(tag))
	if err != nil {
		return err
	}
	if old.IsZero() {
		return fmt.Errorf("engine: tag %q: %w", tag, ErrNotFound)
	}
	return e.moveTag(ctx, tag, old, objstore.ID{})
}

func (e *Engine) moveTag(ctx context.Context, tag string, from, to objstore.ID) error {
	name := refs.Tag(tag)
	op := refs.Operation{Kind: refs.KindTag, Message: tag, Changes: []refs.Change{{Name: name, Old: from, New: to}}}
	return e.record(ctx, op, refs.Update{Name: name, Old: from, New: to})
}

// Tagged is a tag and the checkpoint it names.
type Tagged struct {
	Tag        string
	Checkpoint Listed
}

// Tags lists the tags by name.
func (e *Engine) Tags(_ context.Context) ([]Tagged, error) {
	all, err := e.refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	list := make([]Tagged, 0, len(all))
	for _, r := range all {
		cp, err := e.checkpoint(r.ID)
		if err != nil {
			return nil, err
		}
		l, err := e.Listing(cp)
		if err != nil {
			return nil, err
		}
		list = append(list, Tagged{r.Name.Base(), l})
	}
	return list, nil
}

// Operations lists the log, newest first; limit 0 means all. Safety checkpoints, which are part of the restore they precede,
// and agents' events that changed nothing are left out unless all is set.
func (e *Engine) Operations(_ context.Context, limit int, all bool) ([]refs.Operation, error) {
	var list []refs.Operation
	err := e.refs.Newest(0, func(op *refs.Operation) error {
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
