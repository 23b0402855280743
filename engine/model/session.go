package model

import (
	"fmt"
	"strings"
	"time"

	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
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

// ComesFrom takes an origin into a session's record. Turns that were heard of before it was known were counted from the session's own
// first; they are those behind what both have.
func (s *Session) ComesFrom(l *Lineage) {
	s.Fork = l
	switch both := uint64(l.Both); {
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
	Shown      time.Time // when its newest checkpoint that is not minor was taken
	Folded     int64     // bytes changed since then, roughly
	Calls      []Call    // running, oldest first
	Outside    []string  // files outside of the project that it edited lately; not captured
	Cursor     Cursor    // how far its conversation has been captured
	Fork       *Lineage  // where it was forked from; nil: it was not
	Title      string    // of a fork, that it was given
	Imported   bool      // no event came from it
	Problem    string    // why its conversation is not captured; "": it is
	LaneOf     string    // the session whose subagent it is: what it does is that one's; "": it stands for itself
	Left       bool      // a restore went on in another session, and no event came from this one since
	Purged     bool      // something was purged from its conversation: it is not captured any more
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

// SessionKey is where a session's record lies.
func SessionKey(name string) []byte { return append([]byte{kv.PrefixSession}, name...) }

// Field tags of the session record, docs/format.md#session-record.
const (
	tagSAgent = iota + 1
	tagSID
	tagSTranscript
	tagSCwd
	tagSPrevious
	tagSFirst
	tagSLast
	tagSEvent
	tagSTurn
	tagSBusy
	tagSPrompt
	tagSEnded
	tagSShown
	tagSCalls
	tagSFolded
	tagSBegan
	tagSOutside
	tagSCursor
	tagSFork
	tagSTitle
	tagSImported
	tagSProblem
	tagSPurged
	tagSLaneOf
	tagSLeft
)

const (
	tagCallID = iota + 1
	tagCallTool
	tagCallLane
	tagCallClass
	tagCallPaths
)

// Encode gives the bytes of a session's record, docs/format.md#session-record.
func (s *Session) Encode() []byte {
	var e record.Encoder
	e.String(tagSAgent, string(s.Agent))
	e.String(tagSID, s.ID)
	e.String(tagSTranscript, s.Transcript)
	e.String(tagSCwd, s.Cwd)
	e.String(tagSPrevious, s.Previous)
	e.Uint(tagSFirst, unixMilli(s.First))
	e.Uint(tagSLast, unixMilli(s.Last))
	e.String(tagSEvent, s.Event)
	e.Uint(tagSTurn, s.Turn)
	e.Bool(tagSBusy, s.Busy)
	e.String(tagSPrompt, s.Prompt)
	e.Bool(tagSEnded, s.Ended)
	e.Uint(tagSShown, unixMilli(s.Shown))
	e.List(tagSCalls, len(s.Calls), func(i int) []byte {
		var c record.Encoder
		c.String(tagCallID, s.Calls[i].ID)
		c.String(tagCallTool, s.Calls[i].Tool)
		c.String(tagCallLane, s.Calls[i].Lane)
		c.Uint(tagCallClass, uint64(s.Calls[i].Class))
		c.List(tagCallPaths, len(s.Calls[i].Paths), func(k int) []byte { return []byte(s.Calls[i].Paths[k]) })
		return c.Encoded()
	})
	e.Uint(tagSFolded, uint64(s.Folded))
	e.Uint(tagSBegan, s.Began)
	e.List(tagSOutside, len(s.Outside), func(i int) []byte { return []byte(s.Outside[i]) })
	e.Bytes(tagSCursor, s.Cursor.Encode())
	e.Bytes(tagSFork, s.Fork.Encode())
	e.String(tagSTitle, s.Title)
	e.Bool(tagSImported, s.Imported)
	e.String(tagSProblem, s.Problem)
	e.Bool(tagSPurged, s.Purged)
	e.String(tagSLaneOf, s.LaneOf)
	e.Bool(tagSLeft, s.Left)
	return e.Encoded()
}

// unixMilli is a time as records hold it, 0 for none.
func unixMilli(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixMilli(), 0))
}

func decodeTime(f record.Field, t *time.Time) error {
	var ms int64
	err := DecodeCount(f, &ms)
	*t = time.UnixMilli(ms)
	return err
}

// DecodeSession reads what encode wrote, and refuses everything else.
func DecodeSession(name string, raw []byte) (*Session, error) {
	s := &Session{Name: name}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagSAgent:
			s.Agent = hooks.Agent(f)
		case tagSID:
			s.ID = string(f)
		case tagSTranscript:
			s.Transcript = string(f)
		case tagSCwd:
			s.Cwd = string(f)
		case tagSPrevious:
			s.Previous = string(f)
		case tagSFirst:
			err = decodeTime(f, &s.First)
		case tagSLast:
			err = decodeTime(f, &s.Last)
		case tagSEvent:
			s.Event = string(f)
		case tagSTurn:
			s.Turn, err = f.Uint()
		case tagSBusy:
			s.Busy, err = f.Bool()
		case tagSPrompt:
			s.Prompt = string(f)
		case tagSEnded:
			s.Ended, err = f.Bool()
		case tagSShown:
			err = decodeTime(f, &s.Shown)
		case tagSCalls:
			err = f.List(func(v record.Field) error {
				c, err := decodeCall(v)
				s.Calls = append(s.Calls, c)
				return err
			})
		case tagSFolded:
			err = DecodeCount(f, &s.Folded)
		case tagSBegan:
			s.Began, err = f.Uint()
		case tagSOutside:
			err = f.List(func(v record.Field) error {
				s.Outside = append(s.Outside, string(v))
				return nil
			})
		case tagSCursor:
			s.Cursor, err = DecodeCursor(f)
		case tagSFork:
			s.Fork, err = DecodeLineage(f)
		case tagSTitle:
			s.Title = string(f)
		case tagSImported:
			s.Imported, err = f.Bool()
		case tagSProblem:
			s.Problem = string(f)
		case tagSPurged:
			s.Purged, err = f.Bool()
		case tagSLaneOf:
			s.LaneOf = string(f)
		case tagSLeft:
			s.Left, err = f.Bool()
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err != nil {
		return nil, &value.OpError{Op: "session", Subject: name, Err: fmt.Errorf("%w: %w", kv.ErrCorrupt, err)}
	}
	return s, nil
}

func decodeCall(raw record.Field) (Call, error) {
	var c Call
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagCallID:
			c.ID = string(f)
		case tagCallTool:
			c.Tool = string(f)
		case tagCallLane:
			c.Lane = string(f)
		case tagCallClass:
			n, err := f.Uint()
			if err == nil && n > uint64(hooks.Reader) {
				err = fmt.Errorf("%w: class %d", record.ErrFormat, n)
			}
			c.Class = hooks.Class(n)
			return err
		case tagCallPaths:
			return f.List(func(v record.Field) error {
				c.Paths = append(c.Paths, string(v))
				return nil
			})
		default:
			return record.Unknown(tag)
		}
		return nil
	})
	return c, err
}
