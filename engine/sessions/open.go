// Package sessions answers which session is meant, and what it does: names and prefixes of names, where the project
// stands (Position), which sessions are at work, whose program has one open. It reads the log and looks at processes;
// it reads no conversation.
package sessions

import (
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/transcript"
)

// Sessions answers questions about the sessions of an open project. Methods that want the log's lock held say so.
type Sessions struct {
	log    *oplog.Log
	titled func(title string, whole bool) ([]string, error) // nil: sessions have no titles
	// what a person did not allow, by a session's file; nil: nobody knows
	refusal func(*model.Session) transcript.Refusal
	*State
}

// State is what was read of the log, in memory. It has a lock of its own.
type State struct{ presences presenceLog }

// New makes Sessions of the log.
func New(log *oplog.Log, st *State) *Sessions { return &Sessions{log: log, State: st} }
