// Package manage plans what is asked of sessions among others: renamed, deleted, archived, brought back into lists,
// promoted, pruned. It decides and stores the bytes; engine/restore carries a plan out, as any restore: journal, files,
// one operation.
package manage

import (
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Manager plans for an open project. What it does wants the log's lock held, but for Prunable.
type Manager struct {
	log           *oplog.Log
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	history       *history.History
}

// New makes a Manager of the rooms that it works with.
func New(log *oplog.Log, s *sessions.Sessions, c *conversation.Conversations, h *history.History) *Manager {
	return &Manager{log, s, c, h}
}
