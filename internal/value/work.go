package value

import "time"

// Progress is how far long work has come.
type Progress struct {
	Phase string `json:"phase,omitempty"` // what is being done, in words for a person; "": what was asked for
	Files int    `json:"files"`           // or operations, where the log is read
	Total int    `json:"total,omitempty"` // of so many; 0: unknown
	Bytes int64  `json:"bytes"`
}

// Activity is a capture or restore of a project that is under way.
type Activity struct {
	What    string    `json:"what,omitempty"`    // the restore that it is, as checkout or undo; "": a capture, or nothing that is known
	Process int       `json:"process,omitempty"` // who waits for it; 0: unknown
	Since   time.Time `json:"since,omitzero"`    // zero: not known
	Files   int       `json:"files"`             // dealt with so far
	Total   int       `json:"total,omitempty"`   // of so many; 0: unknown
	Bytes   int64     `json:"bytes"`
}

// Watcher is what tells captures what may have changed.
type Watcher struct {
	Healthy     bool      `json:"healthy"` // captures rely on it; not: they look at every file meanwhile
	Directories int       `json:"directories"`
	Starting    bool      `json:"starting,omitempty"` // it begins with the next look at every file; nothing is wrong
	Reason      string    `json:"reason,omitempty"`   // why it is not healthy
	Since       time.Time `json:"since"`              // when it became so
	Missed      int       `json:"missed,omitempty"`   // changes that it had not reported and a look at every file found
}

// AtWork is an agent that is at work in a project, and where a restore sets files, what it sets under that.
type AtWork struct {
	Session string    `json:"session"` // agent/id
	Agent   Agent     `json:"agent"`
	Known   WorkKind  `json:"known"`
	Tools   []Tool    `json:"tools,omitempty"` // of WorkCall, oldest first
	Since   time.Time `json:"since"`           // of its newest event; zero: none came
	Seen    Text      `json:"seen,omitempty"`  // by what its program was seen, for people; "": it was not
	PID     int       `json:"pid,omitempty"`   // of that program; 0: not known
	// the conversation goes on in another session: what is said in this one from now on does not know of the restore
	Left  bool   `json:"left,omitempty"`
	Paths []Text `json:"paths,omitempty"` // files that the restore sets and an open call names
	Files int    `json:"files"`           // that the restore sets under it: those, or where a call may write anywhere, all
	Type  Text   `json:"type,omitempty"`  // what to type into its program to go on in the other session; "": it has to be left
}

// WorkKind says how it is known that an agent is at work.
type WorkKind string

// The kinds, the surest first.
const (
	WorkCall WorkKind = "call" // a call of a tool is open
	WorkTurn WorkKind = "turn" // a turn is under way, its agent thinks or asks
	WorkOpen WorkKind = "open" // its program has the session open, and does nothing
)

// Tool is an agent's tool call.
type Tool struct {
	Name Text `json:"name"`
	Call Text `json:"call,omitempty"` // the agent's id of it
}

// Behind is what of a session's branch lies behind a moment of it. Going back takes nothing of it away: forward goes
// there again.
type Behind struct {
	Session     string `json:"session"`     // whose branch, as agent/id
	Turns       int    `json:"turns"`       // of the conversation, those that changed nothing too
	Checkpoints int    `json:"checkpoints"` // steps
}

// TurnsOf are turns of a session that follow one another, by their numbers.
type TurnsOf struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Whose string `json:"whose,omitempty"` // what the session is called, where the project has several
}
