package main

import (
	"fmt"
	"io"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// what is a checkpoint's message, or what else it is known by, and what was noted on it.
func what(c api.Checkpoint) string {
	text := cause(c)
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return text
}

// mergedWords say that gc has merged older steps into one: what is told of it may be what one of them did.
func mergedWords(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s)", count(int(n), "merged step"))
}

// cause is why a checkpoint was taken.
func cause(c api.Checkpoint) string {
	switch {
	case c.Message != "":
		return string(c.Message)
	case c.Event == "init":
		return "first checkpoint"
	case c.Agent == "":
		return c.Event
	}
	text := string(c.Agent)
	if c.Turn > 0 {
		text += fmt.Sprintf(" turn %d", c.Turn)
	}
	switch {
	case c.Event == "prompt" && c.Prompt != "":
		text += ", before: " + string(c.Prompt)
	case c.Event == "pre-tool-use" && c.Tool != nil:
		text += ", before " + string(c.Tool.Name)
	case c.Event == "post-tool-use" && c.Tool != nil:
		text += ", after " + string(c.Tool.Name)
	case c.Event == "stop":
		text += ", end of turn"
	default:
		text += ", " + c.Event
	}
	if len(c.By) == 0 && !c.Safety {
		text += " (changed by nobody's tool call)"
	}
	if c.Late {
		text += " (late)"
	}
	return text
}

// tally says what a checkpoint changed against the one before.
func tally(c api.Checkpoint) string {
	if len(c.Parents) == 0 {
		return fmt.Sprintf("%s, %s", count(c.Files, "file"), term.Size(c.Bytes))
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.Added, "added"}, {c.Modified, "modified"}, {c.Deleted, "deleted"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if parts == nil {
		return "no file changed"
	}
	return strings.Join(parts, ", ")
}

var letters = map[string]string{"added": "A", "deleted": "D", "modified": "M", "mode": "m", "type": "T", "renamed": "R", "uncaptured": "-"}

// changeLine is one path that differs, as a person reads it.
func (a *app) changeLine(c api.Change) string {
	style := term.Plain
	switch c.Status {
	case "added":
		style = term.Added
	case "deleted":
		style = term.Removed
	}
	path := string(c.Path)
	if strings.HasPrefix(c.NewMode, "04") || c.NewMode == "" && strings.HasPrefix(c.OldMode, "04") {
		path += "/"
	}
	text := term.Quote(path)
	if c.RenamedFrom != "" {
		text = term.Quote(string(c.RenamedFrom)) + " -> " + text
	}
	if c.Status == "mode" {
		text += fmt.Sprintf(" (%s -> %s)", c.OldMode, c.NewMode)
	}
	if c.Status == "uncaptured" {
		text += " (still there, no longer captured)"
	}
	if c.Gone != "" {
		text += " (" + c.Gone + ")"
	}
	return a.Styled(style, letters[c.Status]+" "+text)
}

// changeLines prints changes, at most limit of them.
func (a *app) changeLines(w io.Writer, list []api.Change, limit int) {
	a.changeLinesWith(w, list, limit, func(api.Change) string { return "" })
}

// changeLinesWith is changeLines with more to tell behind each.
func (a *app) changeLinesWith(w io.Writer, list []api.Change, limit int, more func(api.Change) string) {
	for i, c := range list {
		if i == limit {
			fmt.Fprintf(w, "  ... and %d more\n", len(list)-limit)
			return
		}
		fmt.Fprintf(w, "  %s%s\n", a.changeLine(c), more(c))
	}
}

// skipLines prints what was not captured, grouped by reason.
func (a *app) skipLines(w io.Writer, list []api.Skip, limit int) {
	groups := map[string][]api.Skip{}
	var order []string
	for _, s := range list {
		if groups[s.Reason] == nil {
			order = append(order, s.Reason)
		}
		groups[s.Reason] = append(groups[s.Reason], s)
	}
	for _, reason := range order {
		fmt.Fprintf(w, "  %s: %s\n", reason, skipHelp[reason])
		for i, s := range groups[reason] {
			if i == limit {
				fmt.Fprintf(w, "    ... and %d more\n", len(groups[reason])-limit)
				break
			}
			size := ""
			if s.Size > 0 {
				size = " (" + term.Size(s.Size) + ")"
			}
			if s.Changed {
				size += " changed"
			}
			fmt.Fprintf(w, "    %s%s\n", term.Quote(string(s.Path)), size)
		}
	}
}

var skipHelp = map[string]string{
	"purged":     "the content was purged from the store, and is refused",
	"ignored":    "by a rules file or exclude.defaults",
	"built-in":   "by exclude.defaults, or a name that is git's or rewind's own, in any spelling",
	"size":       "over limits.file_size",
	"pipe":       "has no content to store",
	"socket":     "has no content to store",
	"device":     "has no content to store",
	"unreadable": "no permission to read it, or damaged",
	"secret":     "content not stored (secrets.store), only that it changed",
	"torn":       "captured, but it changed while it was read",
	"mount":      "captured, from another file system",
}
