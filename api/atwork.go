package api

import "time"

// AtWork is an agent that is at work, and where a restore sets files, what it sets under that.
type AtWork struct {
	Session string    `json:"session"` // agent/id
	Agent   Agent     `json:"agent"`
	Known   string    `json:"known"`           // call: a call of a tool is open; turn: a turn is under way; open: its program has the session open, and does nothing
	Tools   []Tool    `json:"tools,omitempty"` // of call, oldest first
	Since   time.Time `json:"since"`           // of its newest event
	Seen    Text      `json:"seen,omitempty"`  // by what its program was seen
	PID     int       `json:"pid,omitempty"`
	Left    bool      `json:"left,omitempty"`  // the conversation goes on in another session
	Paths   []Text    `json:"paths,omitempty"` // that the restore sets and an open call names
	Files   int       `json:"files"`           // that the restore sets under it
	Type    Text      `json:"type,omitempty"`  // what to type into its program to go on in the other session; absent: it has to be left
}
