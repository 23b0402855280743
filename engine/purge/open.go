// Package purge takes a path or a text out of a store for good, from every checkpoint and every conversation that has
// it, and leaves a tombstone for each object. docs/purge.md says what is asked before, and what is looked at after.
package purge

import (
	"rewind/engine/conversation"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/engine/secrets"
)

// Host is who keeps some of a store in memory.
type Host interface {
	Forget() // what is in memory is read again from the store; the log's lock is held
}

// Purger purges from an open project's store.
type Purger struct {
	log      *oplog.Log
	leaks    *secrets.Leaks
	talks    *conversation.Conversations
	worktree Host
	restorer *restore.Restorer
}

// New gives a view.
func New(log *oplog.Log, k *secrets.Leaks, c *conversation.Conversations, w Host, r *restore.Restorer) *Purger {
	return &Purger{log, k, c, w, r}
}
