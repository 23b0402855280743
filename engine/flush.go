package engine

import (
	"context"

	"rewind/internal/kv"
)

// flushRest writes what one flush of the stat cache has left over, a batch after the other, while nobody waits but a person, or nobody at all: else
// every event of an agent would write its share. What fails costs a second read of some files. e.mu is held.
func (e *Engine) flushRest(ctx context.Context) {
	if e.cache == nil || e.unsaved != nil { // entries must not come before the objects that they name
		return
	}
	for e.cache.Unflushed() > 0 {
		b := e.db.NewBatch()
		err := e.cache.Flush(b)
		if err == nil {
			err = b.Commit(ctx, kv.Written)
		}
		_ = b.Close() // after a commit there is nothing to close
		if err != nil {
			e.cache.Discard()
			return
		}
		e.cache.Committed()
	}
}
