package render

import (
	"fmt"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// Secrets names what looks like a secret, one a text, at most so many and how many more there are; never what was
// found.
func Secrets(files []api.Leak, said []api.SaidLeak, most int) []string {
	var out []string
	for _, l := range files {
		out = append(out, LeakText(l))
	}
	for _, l := range said {
		out = append(out, SaidText(l))
	}
	if len(out) > most {
		out = append(out[:most:most], fmt.Sprintf("%d more", len(out)-most))
	}
	return out
}

// LeakText names a file and why.
func LeakText(l api.Leak) string {
	text := term.Quote(string(l.Path))
	for n, f := range l.Findings {
		if n == 2 {
			text += fmt.Sprintf(" and %d more", len(l.Findings)-n)
			break
		}
		text += fmt.Sprintf(" line %d (%s)", f.Line, term.Sanitize(f.Rule))
	}
	if l.Skipped {
		text += ", not captured any more"
	}
	return text
}

// SaidText names a place in a conversation and why.
func SaidText(l api.SaidLeak) string {
	where := "before the first turn"
	if l.Turn > 0 {
		where = naming.TurnWords(l.Turn, "") // the session is told before it
	}
	part := term.Sanitize(l.Part)
	if part == "other" {
		part = "what the agent noted"
	}
	return fmt.Sprintf("%s %s, %s, line %d (%s)", SessionWords(l.Session), where, part, l.Record, term.Sanitize(l.Rule))
}
