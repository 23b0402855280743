// Package conversation keeps agents' conversations: it follows session files as they grow, stores what was said, reads it again, writes
// session files, and finds out which conversation another one began as.
package conversation

import (
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Conversations is a view of an open project's conversations.
type Conversations struct {
	log      *oplog.Log
	sessions *sessions.Sessions
	*State
}

// State is what all views have in common, guarded by the log's lock.
type State struct {
	Files   map[string]*seenFile // session files as they were found last, by session
	Origins map[string]int64     // how long conversations were when it was looked for what they were made of, by session
}

// New gives a view of what st knows.
func New(log *oplog.Log, s *sessions.Sessions, st *State) *Conversations {
	return &Conversations{log, s, st}
}
