package transcript

import (
	"bytes"
	"strconv"
	"strings"

	"rewind/internal/jsonscan"
)

// Codex writes {"timestamp","ordinal","type","payload"} lines; before 0.169 without ordinals. The model sees the
// payloads of response_item and the replacement_history of compacted; everything else is the client's own, and some of
// it says the same a second time.
var codexDialect = dialect{
	parser:   func() parser { return newCodexParser() },
	within:   func() parser { return &codexParser{names: map[string]string{}, metas: 1} },
	forker:   func(f Fork) forker { return &codexForker{fork: f, ids: map[string]bool{}} },
	without:  codexLeft,
	place:    codexPlace,
	newestID: true, // where two files are joined, the first session_meta is the base's
	answers:  true,
	session:  codexID,
}

// Marks of Codex's records.
const (
	codexID     = iota + 1 // payload.id of a session_meta: the thread's
	codexThread            // thread_id and session_id
	codexSource            // payload.source: how the session was started
	codexFrom              // payload.forked_from_id
	codexBase              // payload.history_base
	codexDir               // the directory that a thread, or a turn, works in
)

// passthrough is how the key begins behind which a client notes things about a message; keys are cut.
var passthrough = "internal_chat_message_metadata_passthrough"[:jsonscan.MaxKey]

// codexDepth is how deep in a line thread ids are looked for; clients write them at 2 and 3.
const codexDepth = 8

// codexParser reads Codex's lines.
type codexParser struct {
	metas   int         // session_meta lines so far
	thread  string      // the id in the first
	turn    string      // the id of the turn that is being held; "": records have told none
	current string      // the id in the newest of those that begin a file
	parts   []codexPart // the files that what is not gone stands in
	reply   string      // the message that the model is at; "" if it is at none
	mute    bool        // a prompt came, and not yet the event that says it again
	ahead   bool        // an event has shown people a message that the model's record has not come of yet
	said    [2]string   // id and text of the model's newest message, until its event comes
	r       codexRecord
	names   map[string]string // types, kept: there are few
}

// codexRecord is what a line's keys say, before it is known what they mean.
type codexRecord struct {
	kind, sub, role    string
	id, call, name     string
	execution, target  string
	cwd, version, from string
	source, thread     string
	turn               string
	item, shown        string // the type of an event's item; the id or the text of the message that it shows
	base               *Base
	turns              int
	summary            bool      // what the model said is a summary of the conversation
	injected           *fragment // how a text begins that is not a person's
	kinds, person      bool      // the client says what the content is, and that it is a person's
}

func newCodexParser() *codexParser { return &codexParser{names: map[string]string{}} }

func (p *codexParser) parse(s *jsonscan.Scanner, l *line) error {
	p.r = codexRecord{}
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "timestamp":
			return l.time(s, &l.Time)
		case "type":
			return p.name(s, l, &p.r.kind)
		case "payload":
			return p.payload(s, l)
		case "ordinal":
			return number(s, &l.Ordinal)
		case "metadata":
			return p.metadata(s, l)
		}
		return p.rest(s, l, 1)
	})
	if err == nil {
		p.decide(l)
	}
	return err
}

func (p *codexParser) payload(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	r := &p.r
	*r = codexRecord{kind: r.kind, summary: r.summary}
	l.says.Reset()
	return s.Object(func(key []byte) error { return p.member(s, l, key) })
}

// member reads a member of the payload: what the record is, and of whom.
func (p *codexParser) member(s *jsonscan.Scanner, l *line, key []byte) error {
	r := &p.r
	switch string(key) {
	case "type":
		return p.name(s, l, &r.sub)
	case "id":
		if r.kind != "session_meta" {
			return l.id(s, &r.id, 0)
		}
		return l.id(s, &r.id, codexID)
	case "thread_id", "session_id":
		if l.marking {
			return l.id(s, nil, codexThread)
		}
		return s.Skip()
	case "role":
		return p.name(s, l, &r.role)
	case "call_id":
		return l.id(s, &r.call, 0)
	case "name":
		return l.str(s, &r.name, maxName)
	case "turn_id":
		return l.id(s, &r.turn, 0)
	case "cli_version":
		return l.str(s, &r.version, maxWord)
	case "forked_from_id":
		return l.id(s, &r.from, codexFrom)
	case "source":
		if s.Next() == '{' { // before there was a thread_source
			return members(s, "subagent", func() error { r.thread = "subagent"; return s.Skip() })
		}
		return l.id(s, &r.source, codexSource)
	case "thread_source":
		return l.str(s, &r.thread, maxWord)
	}
	return p.memberOf(s, l, key)
}

// memberOf reads a member of the payload: what the record holds.
func (p *codexParser) memberOf(s *jsonscan.Scanner, l *line, key []byte) error {
	r := &p.r
	switch string(key) {
	case "execution":
		return l.str(s, &r.execution, maxWord)
	case "cwd":
		return p.dir(s, l)
	case "runtime_workspace_roots", "workspace_roots":
		if l.marking && r.kind != "response_item" && s.Next() == '[' {
			return s.Array(func(int) error { return l.path(s, nil, codexDir) })
		}
	case "history_base":
		return p.base(s, l)
	case "num_turns":
		r.turns, _ = strconv.Atoi(s.Word())
		return nil
	case "content":
		return p.content(s, l)
	case "message":
		return p.compactedOrShown(s, l)
	case "item":
		return p.eventItem(s, l)
	case "arguments", "input", "action":
		return p.arguments(s, l)
	case passthrough:
		return p.kinds(s, l)
	case "replacement_history":
		return s.Skip()
	}
	return p.rest(s, l, 2)
}

// dir reads the directory of a session or of a turn.
func (p *codexParser) dir(s *jsonscan.Scanner, l *line) error {
	switch p.r.kind {
	case "session_meta":
		return l.path(s, &p.r.cwd, codexDir)
	case "turn_context":
		return l.path(s, nil, codexDir)
	}
	return p.rest(s, l, 2)
}

// compactedOrShown reads what a record says: a summary, or what was shown.
func (p *codexParser) compactedOrShown(s *jsonscan.Scanner, l *line) error {
	switch p.r.kind {
	case "compacted":
		return l.say(s)
	case "event_msg":
		return l.str(s, &p.r.shown, l.says.Limit)
	}
	return s.Skip()
}

// name reads one of the client's words, of which there are few, into field.
func (p *codexParser) name(s *jsonscan.Scanner, l *line, field *string) error {
	*field = ""
	if s.Next() != '"' {
		return s.Skip()
	}
	l.word.Reset()
	l.word.Limit = maxWord
	if err := s.Str(&l.word); err != nil {
		return err
	}
	*field = p.keep(l.word.B)
	return nil
}

// keep is word as a string.
func (p *codexParser) keep(word []byte) string {
	if kept, ok := p.names[string(word)]; ok {
		return kept
	}
	kept := string(word)
	if len(p.names) < maxCalls {
		p.names[kept] = kept
	}
	return kept
}

// rest reads what says nothing about a conversation; a fork wants to know of the thread ids in it.
func (p *codexParser) rest(s *jsonscan.Scanner, l *line, depth int) error {
	if !l.marking || depth > codexDepth || p.r.kind == "response_item" {
		return s.Skip()
	}
	switch s.Next() {
	case '{':
		return s.Object(func(key []byte) error {
			switch string(key) {
			case "thread_id", "session_id":
				return l.id(s, nil, codexThread)
			case "cwd":
				return l.path(s, nil, codexDir)
			case "content", "arguments", "input", "output", "result":
				return s.Skip()
			}
			return p.rest(s, l, depth+1)
		})
	case '[':
		return s.Array(func(int) error { return p.rest(s, l, depth+1) })
	}
	return s.Skip()
}

// eventItem reads what an item_completed shows.
func (p *codexParser) eventItem(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		switch string(key) {
		case "type":
			return l.str(s, &p.r.item, maxWord)
		case "id":
			return l.id(s, &p.r.shown, 0)
		}
		return s.Skip()
	})
}

func (p *codexParser) base(s *jsonscan.Scanner, l *line) error {
	p.r.base = nil
	if s.Next() != '{' {
		return s.Skip()
	}
	start, b := s.Offset(), &Base{}
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "thread_id":
			return l.id(s, &b.Session, 0)
		case "end_ordinal_exclusive":
			return number(s, &b.EndOrdinal)
		case "end_byte_offset":
			return number(s, &b.EndOffset)
		}
		return s.Skip()
	})
	if err != nil {
		return err
	}
	p.r.base = b
	return l.mark(s, codexBase, start, "")
}

// metadata is what the client notes beside a response item.
func (p *codexParser) metadata(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		if string(key) == "compaction_output" {
			return l.flag(s, &p.r.summary)
		}
		return s.Skip()
	})
}

// content reads a message's texts.
func (p *codexParser) content(s *jsonscan.Scanner, l *line) error {
	l.says.Reset()
	p.r.injected = nil
	if s.Next() == '"' {
		return p.say(s, l)
	}
	return objects(s, func(key []byte) error {
		if string(key) == "text" {
			return p.say(s, l)
		}
		return s.Skip()
	})
}

func (p *codexParser) say(s *jsonscan.Scanner, l *line) error {
	from := len(l.says.B)
	if err := l.say(s); err != nil {
		return err
	}
	if f := injection(l.says.B[from:]); f != nil {
		p.r.injected = f
	}
	return nil
}

// kinds reads what the client (0.169) says that each part of a message's content is.
func (p *codexParser) kinds(s *jsonscan.Scanner, l *line) error {
	p.r.kinds, p.r.person = false, false
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(key []byte) error {
		if string(key) != "content_item_kinds" || s.Next() != '[' {
			return s.Skip()
		}
		return s.Array(func(int) error {
			kind, _, err := l.text(s, maxWord)
			p.r.kinds = true
			switch kind {
			case "user.text", "user.image", "user.audio":
				p.r.person = true
			}
			return err
		})
	})
}

// fragment is how a text begins that the client puts among the user's messages.
type fragment struct {
	start string
	lead  bool // it is written ahead of a prompt
}

var fragments = []fragment{
	{"<environment_context>", true},
	{"<user_instructions>", true},
	{"# AGENTS.md instructions", true},
	{"<skill>", true},
	{"<recommended_plugins>", true},
	{"<extension_context>", true},
	{"<external_", true},
	{"<goal_context>", true},
	{"<codex_internal_context", true},
	{"<hook_prompt", false},
	{"<user_shell_command>", false},
	{"<turn_aborted>", false},
	{"<subagent_notification>", false},
}

// injection is the fragment that text begins with, or nil.
func injection(text []byte) *fragment {
	text = bytes.TrimLeft(text, " \t\r\n")
	for i, f := range fragments {
		if len(text) >= len(f.start) && strings.EqualFold(string(text[:len(f.start)]), f.start) {
			return &fragments[i]
		}
	}
	return nil
}

// number reads a whole number into n; another kind of value makes it 0.
func number(s *jsonscan.Scanner, n *int64) error {
	*n = 0
	switch c := s.Next(); {
	case c == '-' || '0' <= c && c <= '9':
		*n, _ = strconv.ParseInt(s.Word(), 10, 64)
		return nil
	}
	return s.Skip()
}

// objects reads an array's objects, member by member, and skips what else is in it; another kind of value is skipped.
func objects(s *jsonscan.Scanner, member func(key []byte) error) error {
	if s.Next() != '[' {
		return s.Skip()
	}
	return s.Array(func(int) error {
		if s.Next() != '{' {
			return s.Skip()
		}
		return s.Object(member)
	})
}
