package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Registration is one command that an agent runs at an event.
type Registration struct {
	Event   string // the agent's word
	Matcher string // "" when the group has none
	Command string // the whole command line, for a shell
	Timeout int    // in the agent's unit: seconds, for Gemini milliseconds; 0 when none is given
}

// program is the file name by which a hook command is known as ours.
const program = "smart-checkpoint"

// maxDepth bounds the nesting of a settings file, and with it the recursion of the parser.
const maxDepth = 1000

var byteOrderMark = []byte("\xef\xbb\xbf")

// settings is a settings file as a syntax tree that keeps every byte: what is not edited is written as it was read.
type settings struct {
	agent  Agent
	bom    bool
	text   []byte // what offsets in the tree refer to
	root   hujson.Value
	events *hujson.Object // holds the events: the value of "hooks", or the root of Droid's hooks.json; nil when there is none
}

// entry is a hook of ours and where it is.
type entry struct {
	Registration
	whole    bool // it says what Registration can say, and is of type command
	groups   *hujson.Array
	group    *hujson.Object
	handlers *hujson.Array
	handler  *hujson.Object
	i, j     int // index of the group in its event and of the handler in its group, as read
}

// parseSettings reads a settings file. A blank file is an empty object.
func parseSettings(agent Agent, file []byte) (*settings, error) {
	text, hasBOM := bytes.CutPrefix(file, byteOrderMark)
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	s := &settings{agent: agent, bom: hasBOM}
	s.text = text
	// The parser wants a line comment to end in a newline; the last one of a file need not.
	open := bytes.Contains(text[bytes.LastIndexByte(text, '\n')+1:], []byte("//"))
	if open {
		s.text = slices.Concat(text, []byte{'\n'})
	}
	if at := tooDeep(s.text); at >= 0 {
		return nil, s.errorf(at, "nested deeper than %d", maxDepth)
	}
	var err error
	if s.root, err = hujson.Parse(s.text); err != nil {
		return nil, fmt.Errorf("hooks: settings: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if open {
		s.root.AfterExtra = s.root.AfterExtra[:len(s.root.AfterExtra)-1]
	}
	root, ok := s.root.Value.(*hujson.Object)
	if !ok {
		return nil, s.wants(&s.root, "the file", "an object")
	}
	hooks, err := s.member(root, "hooks")
	if err != nil {
		return nil, err
	}
	switch {
	case hooks != nil:
		if s.events, ok = hooks.Value.(*hujson.Object); !ok {
			return nil, s.wants(hooks, `"hooks"`, "an object")
		}
	case agent == Droid && hasDroidEvent(root):
		s.events = root
	}
	return s, nil
}

// hasDroidEvent reports whether root is that of Droid's hooks.json, where the events have no "hooks" around them.
func hasDroidEvent(root *hujson.Object) bool {
	for i := range root.Members {
		switch name(&root.Members[i]) {
		case "PreToolUse", "PostToolUse", "Notification", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionStart",
			"SessionEnd":
			if root.Members[i].Value.Value.Kind() == '[' {
				return true
			}
		}
	}
	return false
}

// entries returns the hooks of ours in the order of the file. What an agent keeps beside its events is passed over; an
// event for which strict holds has to have the known shape throughout.
func (s *settings) entries(strict func(event string) bool) ([]entry, error) {
	if s.events == nil {
		return nil, nil
	}
	var found []entry
	seen := map[string]bool{}
	for i := range s.events.Members {
		m := &s.events.Members[i]
		event := name(m)
		if seen[event] {
			return nil, s.errorf(m.Name.StartOffset, "%q is there twice", event)
		}
		seen[event] = true
		ours, err := s.inEvent(event, &m.Value, strict(event))
		if err != nil {
			return nil, err
		}
		found = append(found, ours...)
	}
	return found, nil
}

func (s *settings) inEvent(event string, v *hujson.Value, strict bool) ([]entry, error) {
	groups, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, s.wantsIf(strict, v, fmt.Sprintf("%q", event), "an array")
	}
	var found []entry
	for i := range groups.Elements {
		g := &groups.Elements[i]
		group, ok := g.Value.(*hujson.Object)
		if !ok {
			if err := s.wantsIf(strict, g, "a matcher group of "+event, "an object"); err != nil {
				return nil, err
			}
			continue
		}
		hooks, err := s.member(group, "hooks")
		if err != nil {
			return nil, err
		}
		if hooks == nil {
			hooks = &hujson.Value{Value: hujson.Literal("null"), StartOffset: g.StartOffset}
		}
		handlers, ok := hooks.Value.(*hujson.Array)
		if !ok {
			if err := s.wantsIf(strict, hooks, `"hooks" of a matcher group of `+event, "an array"); err != nil {
				return nil, err
			}
			continue
		}
		for j := range handlers.Elements {
			h := &handlers.Elements[j]
			handler, ok := h.Value.(*hujson.Object)
			if !ok {
				if err := s.wantsIf(strict, h, "a hook of "+event, "an object"); err != nil {
					return nil, err
				}
				continue
			}
			e := entry{groups: groups, group: group, handlers: handlers, handler: handler, i: i, j: j}
			e.Event = event
			ours, err := s.fill(&e)
			if err != nil {
				return nil, err
			}
			if ours {
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// fill reads what the entry says and reports whether it is ours.
func (s *settings) fill(e *entry) (bool, error) {
	var err error
	get := func(o *hujson.Object, key string) hujson.Literal {
		v, e := s.member(o, key)
		err = errors.Join(err, e)
		if v == nil {
			return nil
		}
		lit, ok := v.Value.(hujson.Literal)
		if !ok {
			return hujson.Literal("null")
		}
		return lit
	}
	kind, command, timeout, matcher := get(e.handler, "type"), get(e.handler, "command"), get(e.handler, "timeout"), get(e.group, "matcher")
	if err != nil {
		return false, err
	}
	if command.Kind() != '"' || !isOurs(command.String()) {
		return false, nil
	}
	e.Command = command.String()
	e.Timeout = int(timeout.Int())
	e.whole = kind.Kind() == '"' && kind.String() == "command" &&
		(timeout == nil || string(timeout) == string(hujson.Int(int64(e.Timeout))))
	if matcher.Kind() == '"' {
		e.Matcher = matcher.String()
	}
	return true, nil
}

// isOurs reports whether a command line names our program: as the last part of a path, or as its first word, quoted or
// not.
func isOurs(command string) bool {
	for rest, at := command, 0; ; {
		i := strings.Index(rest, program)
		if i < 0 {
			return false
		}
		at += i
		rest = rest[i+len(program):]
		before, after := strings.TrimLeft(command[:at], " \t\"'"), strings.TrimPrefix(rest, ".exe")
		begins := before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, `\`)
		if begins && (after == "" || strings.ContainsRune(" \t\"'", rune(after[0]))) {
			return true
		}
		at += len(program)
	}
}

// member returns the value of a key, nil when it is not there. A key that is there twice is an error: agents differ in
// which one counts.
func (s *settings) member(o *hujson.Object, key string) (*hujson.Value, error) {
	var v *hujson.Value
	for i := range o.Members {
		if name(&o.Members[i]) != key {
			continue
		}
		if v != nil {
			return nil, s.errorf(o.Members[i].Name.StartOffset, "%q is there twice", key)
		}
		v = &o.Members[i].Value
	}
	return v, nil
}

func name(m *hujson.ObjectMember) string {
	return m.Name.Value.(hujson.Literal).String()
}

func (s *settings) wantsIf(strict bool, v *hujson.Value, what, expected string) error {
	if !strict {
		return nil
	}
	return s.wants(v, what, expected)
}

func (s *settings) wants(v *hujson.Value, what, expected string) error {
	is := map[hujson.Kind]string{
		'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object",
		'[': "an array",
	}[v.Value.Kind()]
	return s.errorf(v.StartOffset, "%s is %s, expected %s", what, is, expected)
}

// errorf places an error; the column counts bytes from 1.
func (s *settings) errorf(at int, format string, args ...any) error {
	line := 1 + bytes.Count(s.text[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(s.text[:at], '\n')
	return fmt.Errorf("hooks: settings: line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}

// tooDeep returns where b nests deeper than maxDepth, -1 when it does not.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			i += max(0, commentLen(b[i:])-1)
		}
	}
	return -1
}

// pack writes the file.
func (s *settings) pack() []byte {
	b := s.root.Pack()
	if s.bom {
		b = slices.Concat(byteOrderMark, b)
	}
	return b
}
