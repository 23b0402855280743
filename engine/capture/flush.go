package capture

import (
	"context"

	"rewind/internal/kv"
)

// flushRest writes the part of the stat cache that one flush has left over, batch by batch, while no agent waits. An
// error is no harm: some files are read once more. The log's lock is held.
func (wt *Worktree) flushRest(ctx context.Context) {
	if wt.cache == nil || wt.Unsaved != nil { // the objects of the entries are not stored yet
		return
	}
	for wt.cache.Unflushed() > 0 {
		b := wt.log.DB.NewBatch()
		err := wt.cache.Flush(b)
		if err == nil {
			err = b.Commit(ctx, kv.Written)
		}
		_ = b.Close() // no effect after a commit
		if err != nil {
			wt.cache.Discard()
			return
		}
		wt.cache.Committed()
	}
}
