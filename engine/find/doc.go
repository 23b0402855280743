// Package find searches all checkpoints of a project. Paths finds those that changed a path, and with Text or Changed
// those that added or removed a text. Grep finds a text, Blame the author of a line, Said a text in conversations. It
// only reads.
//
// All of it walks the line: the checkpoints in the order of the log, which is the order in which the worktree had these
// states. Safety checkpoints, which restores take, are states like any other and lie on the line where they are asked
// for (All). What a checkpoint changed is told against the state before it (oplog.Log.Before), as show and list tell
// it.
//
// The first question reads the log, and compares each state with the one before it: trees are named by their contents,
// so what two states have in common is not looked at. What comes of it stays in memory (timeline): which steps there
// are, and for each path which of them changed it, and to what. The next question adds what the log has got since.
// Nothing of this is on disk, so nothing there can be wrong; when gc or a repair takes something out of the log, it is
// made anew.
//
// A search of all contents reads those that the store has whole in the order in which they lie (sift). The remaining
// paths are read one after the other, each path's versions from the oldest to the newest. So each version is one delta
// away from one in memory (objstore.Memo). Each distinct content of a path is read and searched once, however many
// checkpoints have it. What was searched once is known by its trigrams (screen): the next search does not read what
// cannot match. As many goroutines search as there are processors. Secret files are not searched, nor are those over
// maxContent; what is purged or lost is passed over.
//
// The log's lock is not held: a search takes as long as it takes, and neither an agent's event nor gc waits for it. A
// search that misses what gc took away meanwhile is begun again.
package find

import (
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
	history  *history.History
	state    *State
}

// New gives a view of what the rooms know.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, h *history.History, st *State) *Finder {
	return &Finder{log, k, s, h, st}
}
