// Package fsck verifies a store, from the log down to every byte that it names. It repairs what can be repaired, from
// the worktree or from session files, and writes down what is lost. docs/repair.md says what is told and what is kept.
package fsck

import (
	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/ledger"
	"rewind/engine/oplog"
)

// Checker verifies and repairs an open project's store.
type Checker struct {
	log      *oplog.Log
	ledger   *ledger.Ledger
	talks    *conversation.Conversations
	worktree *capture.Worktree
}

// New gives a view.
func New(log *oplog.Log, rows *ledger.Ledger, c *conversation.Conversations, w *capture.Worktree) *Checker {
	return &Checker{log, rows, c, w}
}
