package engine

import (
	"context"
	"fmt"

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
