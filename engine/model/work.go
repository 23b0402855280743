package model

import (
	"time"
)

// Work is what an agent is seen to do here.
type Work struct {
	Session string
	Kind    WorkKind
	Calls   []Call    // of WorkCall, oldest first
	Since   time.Time // of the newest event; zero: none came
	Seen    string    // by what its program was seen, for people; "": it was not
	PID     int       // of that program; 0: not known
}

// WorkKind says how it is known; the value is the word in the API.
type WorkKind string

// The kinds, the surest first.
const (
	WorkCall WorkKind = "call" // a call of a tool is open
	WorkTurn WorkKind = "turn" // a turn is under way, its agent thinks or asks
	WorkOpen WorkKind = "open" // its program has the session open, and does nothing
)
