// Package transcript knows the session files of coding agents. It knows their places and their records, where a
// conversation can be cut, and how to make a new session from the beginning of another. It is pure over bytes: it
// opens, writes and runs nothing, and asks no clock.
//
// Session files are untrusted: a tool's output, and so a web page, has written part of them. A line of any length and
// depth is read in bounded memory; what is no JSON, or of a type that nobody knows, passes through unharmed.
//
// Formats: seen on the released clients; docs/agents says which versions, and what each record means.
package transcript

import (
	"io"
	"time"

	"rewind/internal/value"
)

// Agent is a coding agent.
type Agent = value.Agent

// The agents whose session files are understood.
const (
	Claude = value.Claude
	Codex  = value.Codex
	Gemini = value.Gemini
	Droid  = value.Droid
)

// Source is the bytes of a session file, or of its beginning.
type Source struct {
	io.ReaderAt
	Size  int64
	Name  string // for errors: the file's path
	Ended bool   // nobody writes to it any more: a last line without a newline is a record, if it is a whole one
}

// Kind says what a record is to a conversation.
type Kind byte

// The kinds of records.
const (
	Other   Kind = iota // bookkeeping, and every type that is not known: passes through
	Prompt              // what a person said: a turn begins
	Reply               // the model's: text, thoughts, calls of tools
	Result              // what tools answered
	Context             // what the agent adds for the model: reminders, attachments, environment
	Compact             // the model sees a summary from here on, not what came before
	Rewound             // the person went back: what follows does not continue the record before
	Broken              // no JSON object
)

// Record is one record of a session file: a line, or an element of the list of messages where the file is one document.
// Strings are cut to the limits of limits.go; it is valid until the next one is read.
type Record struct {
	Offset, Size int64 // bytes in the source; a line's newline is part of it
	Line         int   // from 1
	Kind         Kind
	Type         string // the agent's word: "assistant", "system/compact_boundary", "response_item/message"
	ID, Parent   string // the agent's; "" where it has none
	Message      string // the same for records that are one message; "" otherwise
	Time         time.Time
	Side         bool     // of a subagent: not in the main conversation
	Hidden       bool     // made by the agent though it looks like a person's: no turn
	Text         string   // how what it says begins, for people; untrusted
	Calls        []Call   // calls of tools that it begins
	Results      []string // calls that it answers
	Err          error    // of Broken: why
}

// Call is a call of a tool.
type Call struct {
	ID     string
	Name   string
	Target string // the path, the command, ...: one line for people
}

// Conversation is what a session file says, up to its end or to a cut.
type Conversation struct {
	Agent       Agent
	ID          string // the session id that stands in it; of Claude, whose id is the file's name, the newest one that its lines name
	Cwd         string
	Version     string // of the client that wrote its newest record that says so
	Title       string // as the agent's list shows it: a title that was given, else how the first prompt begins
	Parent      Parent
	Base        *Base // the records before the first one are another file's
	Turns       []Turn
	Compactions []Compaction
	Breaks      []Break `json:",omitempty"` // the first 16
	Messages    int     // of people and the model, side ones not counted
	Broken      []int   // lines that are no JSON, the first 16
	Records     int
	End         int64  // bytes up to the end of the last whole record
	Last        string // id of the newest record that has one
	Pending     []Call // calls without an answer at the end
	First, New  time.Time
}

// Parent is where a session says that it was forked from.
type Parent struct {
	Session string // the agent's id of the other session; "": none
	Message string // the last message that both have
}

// Base is the part of a conversation that is not in the file: the beginning of another file.
type Base struct {
	Session    string
	EndOrdinal int64 // exclusive
	EndOffset  int64 // bytes of that file
}

// Turn is a prompt with all that answers it.
type Turn struct {
	Index    int    // from 1
	After    int    // the turn that it goes on from: that before it, unless the person had gone back; 0: none
	User     string // id of the prompt's record
	Last     string // id of the last record of the turn that is a message
	Summary  string // how the prompt begins, about 100 characters, one line
	Time     time.Time
	Messages int
	Start    int64 // offset at which the turn begins: what the agent writes in front of a prompt belongs to it
	At       int64 // offset of the prompt's record
	End      int64 // offset behind its last record
	Gone     bool  // the person went back behind it: it is not in what the model sees now
	// How it is known that the person went another way than this one, and when: Branches. 0: they did not, or it is
	// gone by something else.
	Back     Back      `json:",omitempty"`
	Left     time.Time `json:",omitzero"`
	Answered bool      // the model has finished answering: text, and no call open
}

// Break is a place where a record names one before it that is not in the file. The agent finds nothing of what came
// before.
type Break struct {
	Offset int64 // of the record that names it
	Line   int
	Turn   int // the turn that it is in; 0: before the first
}

// Compaction is a place where the model's memory was replaced by a summary.
type Compaction struct {
	Offset int64 // of its record
	Line   int
	Turn   int // the turn that it is in or behind; 0: before the first
}
