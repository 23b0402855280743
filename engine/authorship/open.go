// Package authorship decides who owns a change. It finds the paths that other sessions changed after a target. It says
// which of those changes are a colleague's and which are history, and what an undo of one session gives back. Restores
// are planned from it; it writes nothing.
package authorship

import (
	"rewind/engine/capture"
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Authors says who changed what in an open project.
type Authors struct {
	log      *oplog.Log
	sessions *sessions.Sessions
	worktree *capture.Worktree
}

// New makes Authors of the rooms that it asks.
func New(log *oplog.Log, s *sessions.Sessions, w *capture.Worktree) *Authors {
	return &Authors{log, s, w}
}
