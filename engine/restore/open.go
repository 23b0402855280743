// Package restore takes the worktree and the conversation to another state and back: checkout, undo, redo, undo-restore, fork, import, what
// remains of an interrupted one, and layouts beside the worktree. Each that writes the user's files follows
// docs/restore.md#the-transaction: plan, safety checkpoint with a journal, apply, verify, operation with the end of the journal.
package restore

import (
	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
)

// Restorer restores an open project. Its commands (Checkout, Undo, Redo, UndoRestore, Continue, Abort, Fork, Clone, Import) hold the log's
// lock until they return, and what they call wants it held. LayOut takes no lock.
type Restorer struct {
	log           *oplog.Log
	leaks         *secrets.Leaks
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	history       *history.History
	worktree      *capture.Worktree
	authors       *authorship.Authors
}

// New makes a Restorer of the rooms that it works with.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, h *history.History, w *capture.Worktree,
	a *authorship.Authors,
) *Restorer {
	return &Restorer{log, k, s, c, h, w, a}
}
