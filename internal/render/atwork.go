package render

import (
	"fmt"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// TellAtWork says which agents were at work when a restore began, or are before one, a line for each.
func (pr *Printer) TellAtWork(r api.RestoreResponse) {
	for _, w := range r.AtWork {
		text := SessionWords(w.Session)
		switch {
		case w.Known == "call" && len(w.Tools) > 0:
			text += fmt.Sprintf(" is at work, %s since %s", toolNames(w.Tools), pr.Time(w.Since))
		case w.Known == "open":
			text += " is still open"
		default:
			text += fmt.Sprintf(" is at work on a turn, last heard of %s", pr.Time(w.Since))
		}
		if w.PID > 0 {
			text += fmt.Sprintf(" (process %d)", w.PID)
		}
		if under := underText(w, r.DryRun); under != "" && w.Known != "open" {
			text += ": " + under
		}
		pr.Say("note: %s", text)
		pr.tellLeft(w, r)
	}
}

// WorkText is a line about an agent at work.
func (pr *Printer) WorkText(w api.AtWork) string {
	doing := "a turn, last heard of"
	if n := len(w.Tools); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(" +%d", n-1)
		}
		doing = term.Truncate(term.Sanitize(string(w.Tools[0].Name)), shownTool-len(more)) + more + " since"
	}
	return fmt.Sprintf("%s  %s %s", SessionWords(w.Session), doing, pr.Time(w.Since))
}

// shownTool is how wide a tool's name may be in a line of 80 columns.
const shownTool = 20

func toolNames(list []api.Tool) string {
	var names []string
	for _, t := range list {
		names = append(names, term.Sanitize(string(t.Name)))
	}
	return strings.Join(names, ", ")
}

// underText says which files move under an agent.
func underText(w api.AtWork, dryRun bool) string {
	verb := "changed"
	if dryRun {
		verb = "would change"
	}
	switch {
	case len(w.Paths) > 0:
		var names []string
		for i, p := range w.Paths {
			if i == 3 {
				names = append(names, fmt.Sprintf("and %d more", len(w.Paths)-i))
				break
			}
			names = append(names, term.Quote(string(p)))
		}
		return strings.Join(names, ", ") + " " + verb + " under it"
	case w.Files > 0:
		return Count(w.Files, "file") + " " + verb + " under it"
	}
	return ""
}

// tellLeft says what to do with a program that has a session open from which the restore goes on in another one.
func (pr *Printer) tellLeft(w api.AtWork, r api.RestoreResponse) {
	t := r.Conversation
	switch {
	case !w.Left:
	case r.DryRun:
		pr.Say("  its open conversation would be the old one")
	case t == nil || t.Session == "":
		pr.Say("  its open conversation is the old one")
	case w.Type != "":
		pr.Say("  its open conversation is the old one: type %s there, or leave it", term.Sanitize(string(w.Type)))
	default:
		pr.Say("  its open conversation is the old one: leave it and run %s", term.Sanitize(ShellLine(t.Resume)))
	}
}

// WorkOf is a restore that is under way, in words.
func WorkOf(act api.Activity) string {
	text := "a " + act.What
	if strings.HasPrefix(act.What, "u") {
		text = "an " + act.What
	}
	if act.Process > 0 {
		text += fmt.Sprintf(", process %d", act.Process)
	}
	switch {
	case act.Total > 0:
		text += ": " + term.Count(act.Files) + " of " + term.Count(act.Total)
	case act.Files > 0:
		text += ": " + term.Count(act.Files)
	}
	return text
}
