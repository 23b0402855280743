// Package conversation keeps agents' conversations. It follows session files as they grow, stores what was said, and
// reads it again. It writes session files, and finds out which conversation another one began as.
package conversation

import (
	"rewind/engine/oplog"
	"rewind/engine/sessions"
)

// Conversations keeps the conversations of an open project.
type Conversations struct {
	log      *oplog.Log
	sessions *sessions.Sessions
	*State
}

// State is what is known of conversations in memory. The log's lock guards it.
type State struct {
	Files  map[string]*seenFile // session files as Tail saw them last, by session
	points points
}

// New makes Conversations of the rooms that they use.
func New(log *oplog.Log, s *sessions.Sessions, st *State) *Conversations {
	return &Conversations{log, s, st}
}
