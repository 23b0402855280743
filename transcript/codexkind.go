package transcript

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"rewind/internal/jsonscan"
)

// decide says in l what the record is that p.r was read from.
func (p *codexParser) decide(l *line) {
	r := &p.r
	l.Type = r.kind
	if r.sub != "" {
		l.word.B = append(append(append(l.word.B[:0], r.kind...), '/'), r.sub...)
		l.Type = p.keep(l.word.B)
	}
	if (r.kind == "turn_context" || r.sub == "task_started") && r.turn != "" {
		p.turn = r.turn
	}
	l.InTurn = p.turn
	switch r.kind {
	case "session_meta":
		p.meta(l)
	case "turn_context", "world_state":
		l.Lead = true
	case "event_msg":
		p.event(l)
	case "response_item":
		p.item(l)
	case "compacted":
		l.Kind = Compact
	case "token_usage_record":
		p.reply = ""
	}
	if l.Kind == Other {
		l.says.Reset()
	}
	l.Open = p.ahead
	if l.Copied = InOrder(p.turn) && InOrder(p.thread) && p.turn < p.thread; !InOrder(p.turn) {
		l.InTurn = ""
	}
}

// InOrder reports whether an id is one of those that are made in order of time: a UUID of version 7 (RFC 9562, 5.7).
func InOrder(id string) bool { return ValidID(id) && id[14] == '7' }

// codexPart is a file of Codex's within a conversation that several make: where it begins, and the ordinal of its first
// record.
type codexPart struct{ at, ordinal int64 }

// meta is the line that says whose records follow. A second one with a base begins a segment, after the thread's
// earlier files, or a fork by reference, after its records of the other thread. Without a base it is a parent's, whose
// records the client has copied: bookkeeping.
func (p *codexParser) meta(l *line) {
	r := &p.r
	p.metas++
	switch {
	case p.metas == 1:
		p.parts, p.current = []codexPart{{l.Offset, l.Ordinal}}, r.id
	case r.base != nil:
		p.part(l)
	}
	l.Type, l.Lead = r.kind, true
	if p.metas > 1 && r.base == nil {
		if p.metas == 2 && r.id != p.thread {
			l.Forked.Session = r.id // clients that do not say it else
		}
		return
	}
	if p.metas == 1 {
		p.thread = r.id
	}
	l.Session, l.Cwd, l.Version = r.id, r.cwd, r.version
	l.Forked.Session = r.from
	l.Side = r.thread == "subagent"
	if p.metas == 1 {
		l.Base = r.base
	}
}

// part begins another file. A segment of the thread goes on from further up: what the thread had behind that place is
// gone.
func (p *codexParser) part(l *line) {
	// The base names the file that it is of: a thread's first by the thread, a segment by an id of its own, which is in
	// no record.
	if b := p.r.base; p.current == p.r.id || p.current == "" {
		l.Kind = Rewound
		in := len(p.parts) - 1
		for in >= 0 && p.parts[in].ordinal >= b.EndOrdinal { // a record of it is the first that is gone
			in--
		}
		if in < 0 { // it is not known where the files in front begin
			l.Undo = math.MaxInt
		} else {
			l.UndoFrom = min(p.parts[in].at+max(b.EndOffset, 1), l.Offset)
			p.parts = p.parts[:in+1]
		}
	}
	p.parts = append(p.parts, codexPart{l.Offset, l.Ordinal})
	p.current = p.r.id
}

func (p *codexParser) event(l *line) {
	switch p.r.sub {
	case "task_started", "thread_settings_applied":
		l.Lead = true
	case "user_message":
		l.Lead, p.mute = !p.mute, false // 0.146 writes it in front of the prompt, others behind it
	case "thread_rolled_back":
		l.Kind, l.Undo = Rewound, max(0, p.r.turns)
	case "agent_message":
		p.show()
	case "item_completed":
		if p.r.item == "AgentMessage" {
			p.show()
		}
	case "task_complete", "turn_aborted":
		p.ahead = false
	}
}

// show notes that people have been shown a message of the model: one whose record is there, or is about to come.
func (p *codexParser) show() {
	p.ahead = p.r.shown != "" && p.r.shown != p.said[0] && p.r.shown != p.said[1]
	p.said = [2]string{}
}

func (p *codexParser) item(l *line) {
	r := &p.r
	l.ID = r.id
	switch {
	case r.sub == "message":
		p.message(l)
	case r.sub == "reasoning":
		p.answer(l)
		l.says.Reset()
	case strings.HasSuffix(r.sub, "_call"):
		p.answer(l)
		l.says.Reset()
		p.ahead = false
		if r.call != "" && r.execution != "server" {
			l.call(Call{ID: r.call, Name: r.name, Target: r.target})
		}
	case strings.HasSuffix(r.sub, "_output"):
		l.Kind, p.reply = Result, ""
		l.result(r.call)
	case r.sub == "additional_tools":
		l.Lead = true
	}
}

func (p *codexParser) message(l *line) {
	r := &p.r
	switch {
	case r.role == "assistant" && !r.summary:
		p.answer(l)
		if !p.ahead {
			p.said = [2]string{r.id, l.says.String()}
		}
		p.ahead = false
		return
	case r.role == "user" && (r.person || !r.kinds && r.injected == nil):
		l.Kind, p.mute, p.ahead = Prompt, true, false
	default:
		l.Kind, l.Hidden = Context, true
		l.Lead = r.role == "developer" || r.injected != nil && r.injected.lead
	}
	p.reply = ""
}

// answer makes l a part of the model's message, which goes on until a result, a prompt or the count of its tokens
// comes. It has no name in the file; the place where it begins is one.
func (p *codexParser) answer(l *line) {
	if p.reply == "" {
		p.reply = strconv.FormatInt(l.Offset, 10)
	}
	l.Kind, l.Message = Reply, p.reply
}

// arguments reads what a tool is called with: JSON in a string, a patch, a script, or an object.
func (p *codexParser) arguments(s *jsonscan.Scanner, l *line) (err error) {
	p.r.target = ""
	if s.Next() == '{' {
		return p.action(s, l)
	}
	text, _, err := l.text(s, maxText)
	p.r.target = oneLine(codexTarget(text), maxTarget)
	return err
}

// action is what a local_shell_call runs, or what is searched for.
func (p *codexParser) action(s *jsonscan.Scanner, l *line) error {
	var words []string
	err := s.Object(func(key []byte) error {
		switch {
		case string(key) == "command" && s.Next() == '[':
			return s.Array(func(i int) error {
				word, _, err := l.text(s, maxTarget)
				if i < maxWord {
					words = append(words, word)
				}
				return err
			})
		case string(key) == "query":
			return l.str(s, &p.r.target, maxTarget)
		}
		return s.Skip()
	})
	if len(words) > 0 {
		p.r.target = oneLine(shellLine(words), maxTarget)
	}
	return err
}

// codexTarget is what text, which a tool is called with, is about.
func codexTarget(text string) string {
	var args struct {
		Cmd     string
		Command json.RawMessage
		Path    string
		Query   string
	}
	if json.Unmarshal([]byte(text), &args) == nil {
		var words []string
		var word string
		switch {
		case args.Cmd != "":
			return args.Cmd
		case json.Unmarshal(args.Command, &words) == nil:
			return shellLine(words)
		case json.Unmarshal(args.Command, &word) == nil:
			return word
		case args.Path != "":
			return args.Path
		}
		return args.Query
	}
	for _, op := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
		if _, name, ok := strings.Cut(text, op); ok && strings.HasPrefix(text, "*** Begin Patch") {
			name, _, _ = strings.Cut(name, "\n")
			return name
		}
	}
	return text
}

// shellLine is a command line for people: of a shell, what it is to run.
func shellLine(words []string) string {
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return strings.Join(words, " ")
}
