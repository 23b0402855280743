package model

import (
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// ConversationMode says what a restore does, or did, to the conversation; the value is the word in the API.
type ConversationMode string

// The modes.
const (
	ConversationFork     ConversationMode = "fork"     // a new session begins with the conversation up to the target
	ConversationInPlace  ConversationMode = "in-place" // the session file itself was cut
	ConversationOriginal ConversationMode = "original" // the session as it is ends where the target's does
	ConversationBack     ConversationMode = "back"     // what a restore did to session files was taken back
	ConversationNone     ConversationMode = "none"     // there is no conversation, or it was to be left alone
)

// Conversation is what a restore did to the conversation, or with a dry run would do.
type Conversation struct {
	Mode    ConversationMode
	Why     string // of ConversationNone and ConversationOriginal
	Fork    *Fork  // of ConversationFork
	Session string // to go on with
	Path    string // of its session file
	Turn    int    // that it ends with
	Version bool   // of ConversationInPlace: the file did not begin with what it became
	Removed []string
	Kept    []string
}

// Resume is the command line that opens the session.
func (t *Conversation) Resume() []string { return resumeLine(t.Session) }

// Fork is a session that was made of another, or with a dry run would be.
type Fork struct {
	Session string // its name
	Title   string
	Path    string
	From    Lineage
	Cut     transcript.Cut
	Bytes   int64
	Listed  bool   // the agent's own list shows it
	Problem string // why not
	Checks  []string
}

// SessionInfo is a session as lists show it.
type SessionInfo struct {
	Session
	Title    string
	Missing  bool
	Loss     value.Loss // of its conversation, by its file
	Turns    int
	Messages int
	Bytes    int64
	Running  bool
	Current  bool
	Imported bool
	Newest   string // id of its newest checkpoint; "": none
	Problem  string
}

// Imported is what Import did.
type Imported struct {
	Sessions []string
	Passed   []error // files that were left out for what they are; each names the file
	Failed   []error // what went wrong; each names the file
}

// TurnInfo is a turn of a session.
type TurnInfo struct {
	transcript.Turn
	Number      uint64
	Checkpoints int
	Checkpoint  string // id of the checkpoint that has the code at its end; "": none
	Cut         bool   // a restore has cut it off, and its number came again: turn:N is another turn
}

// TurnList is a session's turns, in order.
type TurnList struct {
	Loss        value.Loss // what the agent has lost of the conversation
	Session     string
	Title       string
	Turns       []TurnInfo
	More        bool   // earlier ones were left out
	At          uint64 // the turn that the project stands in, or at the end of, left out or not; 0: none
	OwnAt       uint64 // the same of where the session stands, which may not be what was done last in the project
	Left        string // of a fork that nobody has gone on with: the session that it was made of, if that one has more turns
	LeftTurns   int
	Compactions []transcript.Compaction
	Breaks      []transcript.Break
}

// Ahead is a stretch of turns that lie behind the point to which somebody has gone back, in order.
type Ahead struct {
	Session    string // whose turns they are
	Title      string
	After      uint64      // the turn of that session behind which they lie; 0: before the first prompt
	Why        AheadWhy    // what has left them behind
	Operation  uint64      // of AheadCut: the operation that cut the file
	Transcript objstore.ID // of AheadCut: the conversation as it was; zero: the session has them
	Turns      []TurnInfo
}

// AheadWhy says what has left turns behind.
type AheadWhy string

// What leaves turns behind.
const (
	AheadCode  AheadWhy = "code"  // the session has them; its code has gone back
	AheadFork  AheadWhy = "fork"  // the session that this one was forked from has gone on with them
	AheadCut   AheadWhy = "cut"   // they were cut off the session's file
	AheadAgent AheadWhy = "agent" // the person went back in the agent itself
)

// Future is what lies behind the turn At of a session, where the project stands in it or its conversation ends.
type Future struct {
	Session, Title string
	At             uint64
	Lines          []Ahead // the nearest first
}

// ForkInfo is a fork with all it comes from, the nearest first.
type ForkInfo struct {
	SessionInfo
	Branch  string // its name: the session's, of a branch within that turn:n@session
	Lineage []Lineage
	Own     int // turns that it has beyond those it began with
}

// SessionChoice says which session's line a command walks along.
type SessionChoice = value.SessionChoice

// resumeLine is the command line by which an agent opens a session.
func resumeLine(session string) []string {
	agent, id := SplitSession(session)
	if !Understood(agent) || id == "" {
		return nil
	}
	return transcript.Resume(agent, id)
}
