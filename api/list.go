package api

import (
	"fmt"
	"time"
)

// ListRequest lists checkpoints, or turns.
type ListRequest struct {
	Project
	Filter
	All    bool   `json:"all,omitempty"`    // folded and safety checkpoints, too
	Limit  int    `json:"limit,omitempty"`  // at most so many rows; 0: all
	Turns  bool   `json:"turns,omitempty"`  // a row a turn, instead of checkpoints
	Past   bool   `json:"past,omitempty"`   // of turns: behind all others those of which only the conversation is known
	Steps  bool   `json:"steps,omitempty"`  // no step is folded, and each has target and paths
	Turn   Text   `json:"turn,omitempty"`   // only the steps of this turn: turn:4, turn:4@1a2b
	End    string `json:"end,omitempty"`    // of a turn that has several rows, which: the id of the checkpoint with which it ends; empty: the newest
	Before uint64 `json:"before,omitempty"` // the page behind another one, whose next this is; 0: the newest
	Choose bool   `json:"choose,omitempty"` // of several sessions that are at work the newest's turn, as of a Walk
	Graph  bool   `json:"graph,omitempty"`  // each row says which one it goes on from
	Kin    bool   `json:"kin,omitempty"`    // of turns: each says what its session is called, and how many were forked at it
	Detail
}

// Link leads from a row of a list to the one that it goes on from, by ancestry.
type Link struct {
	Row    int `json:"row"`              // its index in the list; -1: it goes on from something that is not listed
	Elided int `json:"elided,omitempty"` // checkpoints between the two that are in no row
	// Fork is of the first row of a session's own where its conversation was forked: code may go on from another row.
	Fork *Lineage `json:"fork,omitempty"`
}

// Detail is how much is told of what changed, besides which files.
type Detail struct {
	Names   bool `json:"names,omitempty"`   // of turns: every file
	Lines   bool `json:"lines,omitempty"`   // how many lines of each
	Patch   bool `json:"patch,omitempty"`   // and which
	Context int  `json:"context,omitempty"` // unchanged lines around a change
	First   int  `json:"first,omitempty"`   // lines and patch of the paths from this one on; those before it are only named
	Most    int  `json:"most,omitempty"`    // and of so many; 0: of all. Those behind them are only named
}

// ListResponse is newest first.
type ListResponse struct {
	Checkpoints []Checkpoint `json:"checkpoints"`
	Turns       []Row        `json:"turns,omitempty"` // where turns were asked for
	More        bool         `json:"more"`            // older ones were left out
	Next        uint64       `json:"next,omitempty"`  // where more are: what before takes for them
	Folded      int          `json:"folded"`          // minor ones were left out
	Notices     []string     `json:"notices,omitempty"`
}

// Row is a turn as a list has it, or a checkpoint that is no turn's: what a person saved, or came from outside between
// two turns.
type Row struct {
	Checkpoint Checkpoint `json:"checkpoint"` // the state that it left: what a checkout of it takes
	Session    string     `json:"session"`    // agent/id, or manual
	Agent      Agent      `json:"agent,omitempty"`
	Turn       uint64     `json:"turn,omitempty"`    // absent: no turn
	Prompt     Text       `json:"prompt,omitempty"`  // how it begins
	Time       time.Time  `json:"time"`              // of what is newest in it
	Steps      int        `json:"steps"`             // checkpoints that it is made of; 0: the turn changed nothing
	Tools      []string   `json:"tools,omitempty"`   // of the calls that made them, each once
	First      string     `json:"first,omitempty"`   // the id of the oldest of them
	NoCode     bool       `json:"no_code,omitempty"` // none was captured then: the checkpoint has no id
	Outside    bool       `json:"outside,omitempty"` // no tool call ran while this changed
	Added      int        `json:"added"`             // files, of all of it together
	Modified   int        `json:"modified"`
	Deleted    int        `json:"deleted"`
	Changes    []Change   `json:"changes"`            // how they begin
	Left       int        `json:"left,omitempty"`     // changes that are left out
	Yours      []Text     `json:"yours,omitempty"`    // files that a person changed in the turn, beside it
	Restored   []Text     `json:"restored,omitempty"` // files that restores of some paths set in the turn, beside it
	Files      []FileDiff `json:"files,omitempty"`    // in detail
	Current    bool       `json:"current"`
	Aside      bool       `json:"aside,omitempty"`   // not on the branch
	Follows    *Link      `json:"follows,omitempty"` // where asked for; absent: nothing is before it
	Title      Text       `json:"title,omitempty"`   // where asked for: its session's, as far as it is known without its file
	ForkName              // of its session, where asked for
	Forks      int        `json:"forks,omitempty"` // where asked for: sessions that were forked at its end
}

// ShowRequest asks for one checkpoint.
type ShowRequest struct {
	Project
	Walk
	Checkpoint Text   `json:"checkpoint"`
	Whole      bool   `json:"whole,omitempty"` // the whole turn of which it is the end
	End        string `json:"end,omitempty"`   // with whole, as of a list
	Paths      []Text `json:"paths,omitempty"`
	Messages   int    `json:"messages,omitempty"` // so many of the conversation before it; 0: none
	Said       bool   `json:"said,omitempty"`     // the prompt, and what was answered
	Detail
}

// ShowResponse is a checkpoint with what it changed and what it skipped.
type ShowResponse struct {
	Checkpoint   Checkpoint   `json:"checkpoint"`      // of a turn without code (no_code) without an id
	Whole        *Row         `json:"whole,omitempty"` // the turn that was asked for: what changed is all of its
	Changes      []Change     `json:"changes"`
	Files        []FileDiff   `json:"files,omitempty"` // with lines and patch
	Skips        []Skip       `json:"skips"`
	Leaks        []Leak       `json:"leaks"`                  // files that got what looks like a secret with it
	SaidLeaks    []SaidLeak   `json:"said_leaks,omitempty"`   // what was said meanwhile and looks like one, the newest first
	Asked        *Message     `json:"asked,omitempty"`        // the prompt
	Answered     *Message     `json:"answered,omitempty"`     // what the agent said last before it
	Messages     []Message    `json:"messages,omitempty"`     // oldest first
	Conversation Text         `json:"conversation,omitempty"` // why there are none
	Cursor       *Cursor      `json:"cursor,omitempty"`       // how far the conversation had come
	Fork         *Lineage     `json:"fork,omitempty"`         // of fork:x: the fork point
	GitGone      *Head        `json:"git_gone,omitempty"`     // where git's repository stood before, if it was there and is gone
	NotCaptured  []Uncaptured `json:"not_captured,omitempty"` // files that the turn edited, and that no checkpoint has as they were
	GitUnread    []Text       `json:"git_unread,omitempty"`   // what of the user's repository could not be read then, as paths below .git
	Notices      []string     `json:"notices,omitempty"`
}

// Cursor is a place in an agent's session file.
type Cursor struct {
	Agent      Agent  `json:"agent,omitempty"`
	Path       Text   `json:"path"`
	Generation uint64 `json:"generation"` // from 1: versions of the file that did not continue each other
	Offset     int64  `json:"offset"`     // in bytes; a whole record ends there
	Last       string `json:"last,omitempty"`
	Hash       string `json:"hash"` // of the bytes before it, as the store names them
}

// DensityRequest asks when a project's checkpoints were taken.
type DensityRequest struct {
	Project
	Most int `json:"most,omitempty"` // at most so many spans; 0: 120
}

// DensityResponse is how many checkpoints were taken when: spans of one length, the oldest first. Those without a
// checkpoint are left out.
type DensityResponse struct {
	Seconds int64    `json:"seconds"` // how long a span is
	Spans   []Span   `json:"spans"`
	Notices []string `json:"notices,omitempty"`
}

// Span is one of them.
type Span struct {
	Time        time.Time `json:"time"` // its beginning
	Checkpoints int       `json:"checkpoints"`
	Next        uint64    `json:"next"` // what before of a list takes, for its newest to be the first
}

// A RowName is how a row of a list is asked for.
type RowName struct {
	Name string // what tells it from every other row, and what goes back to it: the end of its turn, or a checkpoint's id
	Turn string // of a turn's row, what Show takes with Whole, and a list as Turn; empty: it is no turn's
	End  string // goes with Turn
}

// NameRows names rows. A turn that somebody went back into has several: the newest has the turn's name, the others that
// of the checkpoint
// with which they end.
func NameRows(list []Row) []RowName {
	names, seen := make([]RowName, len(list)), map[string]bool{}
	for i := range list {
		r, n := &list[i], &names[i]
		if r.Turn > 0 {
			n.Turn = TurnName(r.Turn, r.Session)
		}
		if n.Name = n.Turn; n.Turn == "" || seen[n.Turn] {
			n.Name = r.Checkpoint.ID
		}
		if n.Turn != "" && n.Name != n.Turn {
			n.End = n.Name
		}
		seen[n.Turn] = true
	}
	return names
}

// TurnName is the name of the end of a turn of a session, which is told as agent/id.
func TurnName(turn uint64, session string) string { return fmt.Sprintf("turn:%d@%s", turn, session) }

// FirstRows is how many rows of the log the picker begins with: about a screen.
const FirstRows = 30

// LogRows asks for the log as the picker has it: a row a turn, as a graph. Who starts the picker asks, too, before that
// can.
func LogRows(p Project, limit int) ListRequest {
	return ListRequest{Project: p, Turns: true, Past: true, Graph: true, Limit: limit}
}
