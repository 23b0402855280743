package engine

import (
	"context"
	"fmt"

	"rewind/internal/value"
	"rewind/refs"
)

// RecordAdoption writes into the log that the store was taken over.
func (e *Engine) RecordAdoption(ctx context.Context, a *value.Adoption) error {
	return e.Log.Record(ctx, refs.Operation{
		Kind:    refs.KindMove,
		Message: fmt.Sprintf("adopted in %s; it said that it was of %s", a.Root, a.Of),
	})
}
