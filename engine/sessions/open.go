// Package sessions answers which session is meant, and what it does: names and prefixes of names, where the project stands (Position),
// which sessions are at work, whose program has one open. It reads the log and looks at processes; it reads no conversation.
package sessions

import "rewind/engine/oplog"

// Sessions is a view of an open project's sessions. What is guarded by the log's lock says so.
type Sessions struct {
	log *oplog.Log
	*State
}

// State is what all views have in common: what of the log was read, guarded by the log's lock.
type State struct{ presences presenceLog }

// New gives a view of what st knows.
func New(log *oplog.Log, st *State) *Sessions { return &Sessions{log, st} }
