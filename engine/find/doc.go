// Package find answers questions over all checkpoints of a project: which of them changed a path (Paths), when a text came and went (Paths
// with Text or Changed, Grep), who wrote a line (Blame), where something was said (Said). It only reads.
//
// All of it walks the line: the checkpoints in the order of the log, which is the order in which the worktree had these states. A state is
// a tree, and trees are named by their contents: what two states have in common is not looked at, and a directory is decoded once for all
// states that have it. Safety checkpoints, which restores take, are states like any other and lie on the line where they are asked for
// (All).
//
// What a checkpoint changed is told against the state before it (oplog.Log.Before), as show and list tell it.
//
// Contents are read one path after the other, its versions from the oldest to the newest: each is then one delta away from one that is at
// hand (objstore.Memo), and each distinct content of a path is read and searched once, however many checkpoints have it. There is no index.
// Secret files are not searched, nor are those over maxContent; what is purged or lost is passed over.
//
// The log's lock is not held: a search takes as long as it takes, and neither an agent's event nor gc waits for it. A search that misses
// what gc took away meanwhile is begun again.
package find

import (
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
)

// Finder is a view of an open project's history for those who search it. Safe for concurrent use.
type Finder struct {
	log      *oplog.Log
	leaks    *secrets.Leaks
	sessions *sessions.Sessions
	talks    *conversation.Conversations
	history  *history.History
}

// New gives a view of what the rooms know.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, h *history.History) *Finder {
	return &Finder{log, k, s, c, h}
}
