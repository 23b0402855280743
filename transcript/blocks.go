package transcript

import (
	"bytes"
	"strings"

	"rewind/internal/jsonscan"
)

// blocks is what the blocks of a message in the form of Anthropic's API say, beside what they put into the line.
type blocks struct {
	tagged  bool // there is a text that the client has put in, in tags; it is not in the line's
	hasText bool
}

func (b *blocks) reset(l *line) {
	*b = blocks{}
	l.Calls, l.Results = l.Calls[:0], l.Results[:0]
	l.says.Reset()
}

// read reads a message's content: a text, or blocks.
func (b *blocks) read(s *jsonscan.Scanner, l *line) error {
	switch s.Next() {
	case '"':
		b.hasText = true
		return l.say(s)
	case '[':
		return s.Array(func(int) error { return b.block(s, l) })
	}
	return s.Skip()
}

func (b *blocks) block(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	var kind, answers string
	var call Call
	before := len(l.says.B)
	err := s.Object(func(key []byte) error {
		switch string(key) {
		case "type":
			return l.str(s, &kind, maxWord)
		case "id":
			return l.id(s, &call.ID, 0)
		case "name":
			return l.str(s, &call.Name, maxName)
		case "input":
			target, err := l.arguments(s)
			call.Target = target
			return err
		case "tool_use_id":
			return l.id(s, &answers, 0)
		case "text":
			return l.say(s)
		case "content":
			return sayBlocks(s, l)
		}
		return s.Skip()
	})
	if err != nil {
		return err
	}
	l.result(answers)
	switch {
	case strings.HasSuffix(kind, "tool_use"):
		l.call(call)
	case kind == "image":
		l.sayText("[image]")
	case kind == "text" && isTag(bytes.TrimPrefix(l.says.B[before:], []byte{'\n'})):
		b.tagged = true
		l.says.B = l.says.B[:before]
	case kind == "text":
		b.hasText = true
	}
	return nil
}

// isTag is true of what clients put in front of a prompt, in a block of its own.
func isTag(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<system-reminder>")) || bytes.HasPrefix(text, []byte("<ide_"))
}

// sayBlocks reads what a tool has answered: a text, or blocks of text.
func sayBlocks(s *jsonscan.Scanner, l *line) error {
	if s.Next() != '[' {
		return l.say(s)
	}
	return s.Array(func(int) error { return member(s, "text", func() error { return l.say(s) }) })
}

// notTyped is how a user's line begins that no person has typed as a prompt: the output of commands, notices of the
// client. A command of the client is no prompt either; one that is a prompt of its own (its line begins with
// <command-message>) is.
var notTyped = []string{
	"<command-name>", "<local-command-", "<command-stdout>", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<user-memory-input>",
	"<task-notification>", "<system-reminder>", "[Request interrupted by user", "Caveat: The messages below were generated",
	"Operation stopped by hook: ",
}

// typed says whether a person has typed what the line of a user says.
func (b *blocks) typed(l *line) bool {
	if b.tagged && !b.hasText && len(l.says.B) == 0 {
		return false
	}
	text := strings.TrimSpace(string(l.says.B[:min(len(l.says.B), maxID)]))
	for _, start := range notTyped {
		if strings.HasPrefix(text, start) {
			return false
		}
	}
	return true
}
