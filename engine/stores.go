package engine

import (
	"context"
	"fmt"
	"time"

	"rewind/internal/value"
	"rewind/refs"
)

// RecordJoin writes into the log of a store where it belongs now.
func (e *Engine) RecordJoin(ctx context.Context, j *value.Join) error {
	was := j.Was
	if was == "" {
		was = "no directory"
	}
	return e.Log.Record(ctx, refs.Operation{Kind: refs.KindMove, Message: fmt.Sprintf("joined to %s; it was of %s", j.Store.Root, was)})
}

// RecordRestored writes into the log of a store that it was removed, and brought back.
func (e *Engine) RecordRestored(ctx context.Context, removed time.Time) error {
	text := fmt.Sprintf("restored from the trash; it was removed at %s", removed.Format(time.RFC3339))
	return e.Log.Record(ctx, refs.Operation{Kind: refs.KindMove, Message: text})
}

// RecordAdoption writes into the log that the store was taken over.
func (e *Engine) RecordAdoption(ctx context.Context, a *value.Adoption) error {
	return e.Log.Record(ctx, refs.Operation{
		Kind:    refs.KindMove,
		Message: fmt.Sprintf("adopted in %s; it said that it was of %s", a.Root, a.Of),
	})
}
