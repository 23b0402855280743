package capture

import (
	"context"

	"rewind/internal/kv"
)

// flushRest writes what one flush of the stat cache has left over, a batch after the other, while nobody waits but a person, or nobody at all:
// else every event of an agent would write its share. What fails costs a second read of some files. the log's lock is held.
func (wt *Worktree) flushRest(ctx context.Context) {
	if wt.cache == nil || wt.Unsaved != nil { // entries must not come before the objects that they name
		return
	}
	for wt.cache.Unflushed() > 0 {
		b := wt.log.DB.NewBatch()
		err := wt.cache.Flush(b)
		if err == nil {
			err = b.Commit(ctx, kv.Written)
		}
		_ = b.Close() // after a commit there is nothing to close
		if err != nil {
			wt.cache.Discard()
			return
		}
		wt.cache.Committed()
	}
}
