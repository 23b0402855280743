// Package merge finds what a turn, a checkpoint, a range or a session changed. It brings that change, or its reverse,
// into a captured worktree by a three-way merge (docs/merge.md). engine/restore writes what comes of it.
package merge

import (
	"rewind/engine/authorship"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Merger merges changes of an open project. It wants the log's lock held, and the sessions' records read.
type Merger struct {
	log      *oplog.Log
	sessions *sessions.Sessions
	history  *history.History
	authors  *authorship.Authors
}

// New makes a Merger of the rooms that it works with.
func New(log *oplog.Log, s *sessions.Sessions, h *history.History, a *authorship.Authors) *Merger {
	return &Merger{log, s, h, a}
}
