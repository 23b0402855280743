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

// Restorer is a view of an open project for who restores it.
type Restorer struct {
	log           *oplog.Log
	leaks         *secrets.Leaks
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	history       *history.History
	worktree      *capture.Worktree
	authors       *authorship.Authors
}

// New gives a view.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, h *history.History, w *capture.Worktree, a *authorship.Authors) *Restorer {
	return &Restorer{log, k, s, c, h, w, a}
}
