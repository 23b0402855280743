package main

import (
	"fmt"
	"io"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// showMessages prints a conversation as a person reads it. What tools answered is left out: it is long, and what it did is in the code.
func (a *app) showMessages(w io.Writer, list []api.Message) {
	last := ""
	for _, m := range list {
		text := strings.TrimRight(term.SanitizeText(string(m.Text)), " \t\n")
		if m.Who == "tool" || text == "" && len(m.Calls) == 0 {
			continue
		}
		if m.Who != last || m.Who == "user" {
			fmt.Fprintf(w, "\n%s  %s\n", a.Styled(term.Bold, term.Sanitize(m.Who)), a.Styled(term.Dim, a.Time(m.Time)))
		}
		last = m.Who
		if text != "" {
			indented(w, text)
		}
		if m.Cut {
			indented(w, a.Styled(term.Dim, "(the rest is left out)"))
		}
		for _, c := range m.Calls {
			line := a.Styled(term.ID, term.Sanitize(string(c.Name)))
			if c.Target != "" {
				line += "  " + term.Sanitize(string(c.Target))
			}
			indented(w, line)
		}
	}
}

func indented(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, strings.TrimRight("  "+line, " \n"))
	}
}
