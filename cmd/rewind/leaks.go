package main

import (
	"fmt"
	"io"
	"slices"

	"rewind/api"
	"rewind/internal/render"
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
		fmt.Fprintf(w, "  %s\n", render.LeakText(l))
	}
}

// saidLeakLines names places in conversations and why, each with the name by which purge takes it.
func (a *app) saidLeakLines(w io.Writer, list []api.SaidLeak, limit int) {
	for i, l := range list {
		if i == limit {
			fmt.Fprintf(w, "  ... and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(w, "  %s  %s\n", a.Styled(term.ID, l.Found), render.SaidText(l))
	}
}

// statusLeaks is what status says of files and conversations that look like they hold a secret.
func (a *app) statusLeaks(w io.Writer, list []api.Leak, said []api.SaidLeak) {
	row := func(one, many string, n int) {
		text := "1 " + one + " in the store looks like it holds a secret"
		if n > 1 {
			text = fmt.Sprintf("%d %s in the store look like they hold a secret", n, many)
		}
		fmt.Fprintf(w, "%-11s %s\n", "secrets", a.Styled(term.Warn, text))
	}
	if len(list) > 0 {
		row("file", "files", len(list))
		a.leakLines(w, list, shownLeaks)
		fmt.Fprintln(w, "  'rewind purge <path>' takes it out for good; secrets.allow says it is none;")
		if slices.ContainsFunc(list, func(l api.Leak) bool { return l.Skipped }) {
			fmt.Fprintln(w, "  once it holds none, it is captured again (secrets.mode)")
		} else {
			fmt.Fprintln(w, "  'rewind config secrets.mode skip' does not store such files again")
		}
	}
	if len(said) > 0 {
		row("place of a conversation", "places of conversations", len(said))
		a.saidLeakLines(w, said, shownLeaks)
		fmt.Fprintln(w, "  'rewind purge --found <name>' takes what is there out of everything, for good")
	}
}
