// Package compare says how two branches differ: what they have in common, what each did since, and where that does not
// go together.
//
//   - side.go finds what is compared: a session stands for its newest state, any other name for the state that it names.
//   - ancestor.go finds the newest state that both go on from: through the forks that lead from one session to the other, else through
//     the checkpoints that both descend from.
//   - since.go is what a side did since then: checkpoints, turns with their prompts, paths, and what others wrote among that.
//   - overlap.go says of each path that both changed whether the changes are the same, merge, or collide (docs/merge.md has the rules).
//   - divergence.go makes one number of it.
//
// What is compared are trees, as they are stored: what is unsaved is not looked at, and what others wrote beside a
// session is in its states, too. Nothing is written, and the log's lock is held only while names are looked up.
package compare

import (
	"rewind/engine/conversation"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Comparer compares the branches of an open project.
type Comparer struct {
	log           *oplog.Log
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	history       *history.History
}

// New makes a Comparer of the rooms that it reads.
func New(log *oplog.Log, s *sessions.Sessions, c *conversation.Conversations, h *history.History) *Comparer {
	return &Comparer{log, s, c, h}
}
