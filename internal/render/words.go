package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// What is a checkpoint's message, or what else it is known by, and what was noted on it.
func What(c api.Checkpoint) string {
	text := Cause(c)
	for _, n := range c.Notes {
		text += "; noted: " + string(n)
	}
	return text
}

// MergedWords say that gc has merged older steps into one: what is told of it may be what one of them did.
func MergedWords(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s)", Count(int(n), "merged step"))
}

// moment is when in a turn a checkpoint was taken.
func moment(c *api.Checkpoint) string {
	switch {
	case c.Event == "prompt" && c.Prompt != "":
		return "before: " + string(c.Prompt)
	case c.Event == "notice":
		return atNotice
	case c.Event == "pre-tool-use" && c.Tool != nil:
		return "before " + string(c.Tool.Name)
	case c.Event == "post-tool-use" && c.Tool != nil:
		return "after " + string(c.Tool.Name)
	case c.Event == "stop", c.Event == "quiet":
		return "end of turn"
	case c.Event == "scan" && c.Tool != nil:
		return During(c.Tool, c.Target)
	case c.Event == "scan" && slices.Contains(c.By, c.Session):
		return "during a call" // found by another session's event, or a look at the tree
	case c.Event == "scan":
		return "looked at after it"
	}
	return c.Event
}

// shownTarget is how much of a command tells it from others, in columns.
const shownTarget = 60

// During says in which call a step was found: "during Bash: rm -rf docs".
func During(t *api.Tool, target api.Text) string {
	text := "during " + string(t.Name)
	if about := Words(string(target)); about != "" {
		text += ": " + term.Truncate(term.Sanitize(about), shownTarget)
	}
	return text
}

// WithPrompt adds the prompt of a turn to what is told of a step. Behind a call during which that was found it must not
// look like the command.
func WithPrompt(text, event string, prompt api.Text) string {
	if event == "scan" {
		return text + " (" + Words(string(prompt)) + ")"
	}
	return text + ": " + Words(string(prompt))
}

// Cause is why a checkpoint was taken.
func Cause(c api.Checkpoint) string {
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
		text += " " + naming.TurnWords(c.Turn, c.Whose)
	}
	text += ", " + moment(&c)
	if len(c.By) == 0 && !c.Safety {
		text += " (changed by nobody's tool call)"
	}
	if c.Late {
		text += " (late)"
	}
	return text
}

// Tally says what a checkpoint changed against the one before.
func Tally(c api.Checkpoint) string {
	if len(c.Parents) == 0 {
		return fmt.Sprintf("%s, %s", Count(c.Files, "file"), term.Size(c.Bytes))
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

// ChangeLine is one path that differs, as a person reads it.
func (pr *Printer) ChangeLine(c api.Change) string {
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
	return pr.Styled(style, letters[c.Status]+" "+text)
}

// ChangeLines prints changes, at most limit of them.
func (pr *Printer) ChangeLines(w io.Writer, list []api.Change, limit int) {
	pr.ChangeLinesWith(w, list, limit, func(api.Change) string { return "" })
}

// ChangeLinesWith is changeLines with more to tell behind each.
func (pr *Printer) ChangeLinesWith(w io.Writer, list []api.Change, limit int, more func(api.Change) string) {
	for i, c := range list {
		if i == limit {
			fmt.Fprintf(w, "  ... and %d more\n", len(list)-limit)
			return
		}
		fmt.Fprintf(w, "  %s%s\n", pr.ChangeLine(c), more(c))
	}
}

// SkipLines prints what was not captured, grouped by reason.
func (pr *Printer) SkipLines(w io.Writer, list []api.Skip, limit int) {
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
	"git":        "a git directory by what is in it; git's own is never captured and never written",
	"worktree":   "a worktree that git has linked to a repository: it is a project of its own",
	"size":       "over limits.file_size",
	"pipe":       "has no content to store",
	"socket":     "has no content to store",
	"device":     "has no content to store",
	"unreadable": "no permission to read it, or damaged",
	"secret":     "content not stored (secrets.store), only that it changed",
	"torn":       "captured, but it changed while it was read",
	"mount":      "captured, from another file system",
}

// Count is a number of things: "1 file", "3 entries".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if s, ok := strings.CutSuffix(one, "y"); ok {
		return fmt.Sprintf("%d %sies", n, s)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// ShownPaths is how many paths a person is shown of a long list; --json has them all.
const ShownPaths = 200
