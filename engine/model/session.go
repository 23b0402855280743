package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
)

// Before is the session that one is a lane of, or was forked from; "": none.
func (s *Session) Before() string {
	if s.LaneOf == "" && s.Fork != nil {
		return s.Fork.Session
	}
	return s.LaneOf
}

// From is the session that this one was forked from; "": none.
func (s *Session) From() string {
	if s == nil || s.Fork == nil {
		return ""
	}
	return s.Fork.Session
}

// NameOf is the session's name; "" for nil.
func (s *Session) NameOf() string {
	if s == nil {
		return ""
	}
	return s.Name
}

// BeganAs is the transcript with which rewind made a fork; zero: it made none, or the fork is deleted. gc lets go what
// only a deleted one
// began with; Fork keeps its name for when the file comes back, which brings the bytes.
func (s *Session) BeganAs() objstore.ID {
	if s.Fork == nil || s.Standing == value.Deleted {
		return objstore.ID{}
	}
	return s.Fork.Transcript
}

// ComesFrom takes an origin into a session's record. Turns that were heard of before it was known were counted from the
// session's own first; they are those behind what both have.
func (s *Session) ComesFrom(l *Lineage) {
	was, both := uint64(0), uint64(0)
	if s.Fork != nil {
		was = uint64(s.Fork.Both)
	}
	if l != nil {
		both = uint64(l.Both)
	}
	s.Fork = l
	switch unsaid := uint64(s.InSummary()); {
	case was == 0 && unsaid > 0: // its file has none of them
		s.Turn += unsaid
	case was > 0 && s.Turn > was: // told otherwise before
		s.Turn += both - was
	case was > 0:
	case s.Prompt == "":
		s.Turn = max(s.Turn, both)
	case s.Turn <= both:
		s.Turn += both
	}
}

// Session is what is known of an agent's conversation, or of Manual. Its name is the agent's word, a slash and the
// agent's id of it.
type Session struct {
	Name       string
	Agent      hooks.Agent
	ID         string // the agent's
	Transcript string // the session file as the agent names it
	Cwd        string
	Previous   string // the agent's id of the session that this one continues
	Began      uint64 // its first operation
	First      time.Time
	Last       time.Time // of its newest event; millisecond precision, as First
	Event      string    // the word for that event
	Turn       uint64    // from 1; 0: no turn yet
	Busy       bool      // the turn has not ended
	Prompt     string    // how the turn's prompt begins
	Ended      bool
	Shown      time.Time      // when its newest checkpoint that is not minor was taken
	Folded     int64          // bytes changed since then, roughly
	Calls      []Call         // running, oldest first
	Uncaptured []string       // files that its edit tool changed lately and no checkpoint has, see Edits
	Cursor     Cursor         // how far its conversation has been captured
	Fork       *Lineage       // where it was forked from; nil: it was not
	Title      string         // of a fork, that it was given
	Imported   bool           // no event came from it
	Problem    string         // why its conversation is not captured; "": it is
	LaneOf     string         // the session whose subagent it is: what it does is that one's; "": it stands for itself
	Left       bool           // a restore went on in another session, and no event came from this one since
	Purged     bool           // something was purged from its conversation: it is not captured any more
	Standing   value.Standing // what a person has made of it
	Root       uint64         // what programs before this one wrote of its first prompt; nothing reads it
}

// Call is a running tool call.
type Call struct {
	ID    string
	Tool  string
	Lane  string      // the subagent that runs it; "": the main conversation
	Class hooks.Class // what it can do
	Paths []string    // of an Editor: the files it changes, relative to the project's root
}

// SessionName is the name of an event's session.
func SessionName(ev hooks.Event) string {
	agent, id := string(ev.Agent), ev.Session
	if agent == "" {
		agent = "agent"
	}
	if id == "" {
		id = "unknown"
	}
	return agent + "/" + id
}

// SplitSession takes a session's name apart; Manual has no agent.
func SplitSession(name string) (agent value.Agent, id string) {
	if agent, id, ok := strings.Cut(name, "/"); ok {
		return value.Agent(agent), id
	}
	return "", name
}

// Texts puts to(s) in place of every text s of a session's record, which has not its name.
func (s *Session) Texts(to func(string) string) { sessionTable.Texts(s, to) }

// SessionKey is where a session's record lies.
func SessionKey(name string) []byte { return append([]byte{kv.PrefixSession}, name...) }

// How a session stands in the store, docs/format.md#session-record. Its name is the key.
var sessionTable = record.New(
	record.String(1, func(s *Session) *hooks.Agent { return &s.Agent }),
	record.String(2, func(s *Session) *string { return &s.ID }),
	record.String(3, func(s *Session) *string { return &s.Transcript }),
	record.String(4, func(s *Session) *string { return &s.Cwd }),
	record.String(5, func(s *Session) *string { return &s.Previous }),
	record.Time(6, func(s *Session) *time.Time { return &s.First }),
	record.Time(7, func(s *Session) *time.Time { return &s.Last }),
	record.String(8, func(s *Session) *string { return &s.Event }),
	record.Uint(9, func(s *Session) *uint64 { return &s.Turn }),
	record.Bool(10, func(s *Session) *bool { return &s.Busy }),
	record.String(11, func(s *Session) *string { return &s.Prompt }),
	record.Bool(12, func(s *Session) *bool { return &s.Ended }),
	record.Time(13, func(s *Session) *time.Time { return &s.Shown }),
	record.Records(14, callTable, func(s *Session) *[]Call { return &s.Calls }),
	record.Count(15, func(s *Session) *int64 { return &s.Folded }),
	record.Uint(16, func(s *Session) *uint64 { return &s.Began }),
	record.Strings(17, func(s *Session) *[]string { return &s.Uncaptured }),
	record.Record(18, cursorTable, func(s *Session) *Cursor { return &s.Cursor }),
	record.Optional(19, lineageTable, func(s *Session) **Lineage { return &s.Fork }),
	record.String(20, func(s *Session) *string { return &s.Title }),
	record.Bool(21, func(s *Session) *bool { return &s.Imported }),
	record.String(22, func(s *Session) *string { return &s.Problem }),
	record.Bool(23, func(s *Session) *bool { return &s.Purged }),
	record.String(24, func(s *Session) *string { return &s.LaneOf }),
	record.Bool(25, func(s *Session) *bool { return &s.Left }),
	record.Uint(26, func(s *Session) *uint64 { return &s.Root }),
	record.Uint(27, func(s *Session) *value.Standing { return &s.Standing }).Must(func(s *Session) bool { return s.Standing.Valid() }),
)

var callTable = record.New(
	record.String(1, func(c *Call) *string { return &c.ID }),
	record.String(2, func(c *Call) *string { return &c.Tool }),
	record.String(3, func(c *Call) *string { return &c.Lane }),
	record.Uint(4, func(c *Call) *hooks.Class { return &c.Class }).Must(func(c *Call) bool { return c.Class <= hooks.Reader }),
	record.Strings(5, func(c *Call) *[]string { return &c.Paths }),
)

// TurnRuns reports whether the session's turn has not ended. That of one that a restore left is over, unless an
// undo-restore comes back to it or its agent is heard of.
func (s *Session) TurnRuns() bool { return s.Busy && !s.Left }

// OpenCalls are the session's calls that run. A call counts as running until its end is reported, also of a session
// that a restore left; the whole turn, where that stands for calls, is over then.
func (s *Session) OpenCalls() []Call {
	if !s.Left {
		return s.Calls
	}
	return slices.DeleteFunc(slices.Clone(s.Calls), func(c Call) bool { return c.ID == TurnCall })
}

// Encode gives the bytes of a session's record, docs/format.md#session-record.
func (s *Session) Encode() []byte { return sessionTable.Encode(s) }

// DecodeSession reads what encode wrote, and refuses everything else.
func DecodeSession(name string, raw []byte) (*Session, error) {
	s := &Session{Name: name}
	if err := sessionTable.Decode(raw, s); err != nil {
		return nil, &value.OpError{Op: "session", Subject: name, Err: fmt.Errorf("%w: %w", kv.ErrCorrupt, err)}
	}
	return s, nil
}
