package main

import (
	"fmt"
	"io"
	"slices"

	"rewind/api"
	"rewind/internal/term"
)

// shownLeaks is how many files that look like they hold a secret are named.
const shownLeaks = 5

// leakLines names files and why, never what was found in them.
func (a *app) leakLines(w io.Writer, list []api.Leak, limit int) {
	for i, l := range list {
		if i == limit {
			fmt.Fprintf(w, "  ... and %d more\n", len(list)-i)
			break
		}
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
		fmt.Fprintf(w, "  %s\n", text)
	}
}

// statusLeaks is what status says of them.
func (a *app) statusLeaks(w io.Writer, list []api.Leak) {
	if len(list) == 0 {
		return
	}
	text := "1 file in the store looks like it holds a secret"
	if n := len(list); n > 1 {
		text = fmt.Sprintf("%d files in the store look like they hold a secret", n)
	}
	fmt.Fprintf(w, "%-11s %s\n", "secrets", a.Styled(term.Warn, text))
	a.leakLines(w, list, shownLeaks)
	fmt.Fprintln(w, "  'rewind purge <path>' takes it out for good; secrets.allow says it is none;")
	if slices.ContainsFunc(list, func(l api.Leak) bool { return l.Skipped }) {
		fmt.Fprintln(w, "  once it holds none, it is captured again (secrets.mode)")
	} else {
		fmt.Fprintln(w, "  'rewind config secrets.mode skip' does not store such files again")
	}
}
