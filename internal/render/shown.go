package render

import (
	"fmt"
	"io"
	"strings"

	"rewind/api"
	"rewind/internal/term"
)

// ShowMessages prints a conversation as a person reads it. What tools answered is left out: it is long, and what it did
// is in the code.
func (pr *Printer) ShowMessages(w io.Writer, list []api.Message) {
	last := ""
	for _, m := range list {
		text := strings.TrimRight(term.SanitizeText(string(m.Text)), " \t\n")
		if m.Who == "tool" || text == "" && len(m.Calls) == 0 {
			continue
		}
		if m.Who != last || m.Who == "user" {
			fmt.Fprintf(w, "\n%s  %s\n", pr.Styled(term.Bold, term.Sanitize(m.Who)),
				pr.Styled(term.Dim, pr.Time(m.Time)))
		}
		last = m.Who
		if text != "" {
			indented(w, text)
		}
		if m.Cut {
			indented(w, pr.Styled(term.Dim, "(the rest is left out)"))
		}
		for _, c := range m.Calls {
			line := pr.Styled(term.ID, term.Sanitize(string(c.Name)))
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

// quotedLines is how many lines of a prompt or an answer show tells.
const quotedLines = 8

// quoted prints what was said, below its heading.
func (pr *Printer) quoted(w io.Writer, head string, text api.Text) {
	said := strings.TrimSpace(term.SanitizeText(string(text)))
	if said == "" {
		return
	}
	lines := strings.Split(said, "\n")
	fmt.Fprintf(w, "\n%s:\n", pr.Styled(term.Bold, head))
	for i, l := range lines {
		if i == quotedLines {
			fmt.Fprintf(w, "  ... and %s more\n", Count(len(lines)-i, "line"))
			break
		}
		fmt.Fprintln(w, strings.TrimRight("  "+l, " "))
	}
}

// ShowHead tells what a person knows a checkpoint, or a turn, by; of what was said only the prompt where the
// conversation follows.
func (pr *Printer) ShowHead(w io.Writer, r api.ShowResponse, follows bool) {
	c := r.Checkpoint
	who, prompt, when := ShownWords(r), c.Prompt, pr.Clock(c.Time)
	if r.Whole != nil {
		prompt, when = r.Whole.Prompt, pr.Clock(r.Whole.Time)
	}
	if pr.OutTTY {
		when += ", " + term.Ago(pr.Now(), c.Time)
	}
	if len(c.Tags) > 0 {
		who += "  [" + strings.Join(c.Tags, ", ") + "]"
	}
	if c.Current {
		who += "  (current)"
	}
	fmt.Fprintf(w, "%s\n%s\n", pr.Styled(term.Bold, term.Sanitize(who)), pr.Styled(term.Dim, when))
	for _, n := range c.Notes {
		fmt.Fprintf(w, "%-11s %s\n", "noted", strings.ReplaceAll(term.SanitizeText(string(n)), "\n", "\n            "))
	}
	if c.Merged > 0 {
		fmt.Fprintf(w, "%-11s %s: what changed is told against the state before them\n", "merged",
			Count(int(c.Merged), "older step"))
	}
	if c.Message != "" && r.Whole == nil {
		fmt.Fprintf(w, "\n    %s\n", strings.ReplaceAll(term.SanitizeText(string(c.Message)), "\n", "\n    "))
		return // what a person saved is known by that
	}
	if follows || r.Asked == nil ||
		!strings.HasPrefix(Words(string(r.Asked.Text)), strings.TrimSuffix(Words(string(prompt)), "…")) {
		pr.quoted(w, "prompt", prompt) // what was said last before it is of another turn
		return
	}
	pr.quoted(w, "prompt", r.Asked.Text)
	if r.Answered != nil {
		pr.quoted(w, "answered", r.Answered.Text)
	}
}

// ShownWords say whose a checkpoint is, and what made it.
func ShownWords(r api.ShowResponse) string {
	c := r.Checkpoint
	if len(r.Changes) == 1 {
		c.Paths = []api.Text{r.Changes[0].Path}
	}
	c.Notes, c.Tags = nil, nil // they stand apart
	session, turn := c.Session, c.Turn
	if r.Whole != nil {
		session, turn = r.Whole.Session, r.Whole.Turn
	}
	switch {
	case r.Whole == nil && c.Event == "save":
		return "saved" // the message stands below
	case r.Whole == nil && (c.Message != "" || c.Agent == "" || c.Event == "init"):
		return Cause(c)
	case turn == 0:
		return SessionWords(session) + ", " + StepText(&c)
	}
	text := SessionTurn(turn, session)
	if r.Whole == nil {
		return text + ", " + StepText(&c)
	}
	if r.Whole.NoCode {
		return text + ", " + NoCodeWords
	}
	return text + ", " + Count(r.Whole.Steps, "step")
}

// ShowBeside names what a person changed between the steps of a turn, and what restores of some paths set there. It is
// no part of the turn.
func (pr *Printer) ShowBeside(w io.Writer, r api.ShowResponse) {
	if r.Whole == nil {
		return
	}
	pr.showBeside(w, "beside it, yours:", r.Whole.Yours)
	pr.showBeside(w, "beside it, set by a restore:", r.Whole.Restored)
}

func (pr *Printer) showBeside(w io.Writer, head string, paths []api.Text) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", pr.Styled(term.Bold, head))
	for i, p := range paths {
		if i == ShownNames {
			fmt.Fprintf(w, "  ... and %d more\n", len(paths)-i)
			return
		}
		fmt.Fprintf(w, "  %s\n", term.Quote(string(p)))
	}
}

// ShowFiles prints what changed: as a patch, as --stat, or a line a file.
func (pr *Printer) ShowFiles(w io.Writer, r api.ShowResponse, patch, stat bool) error {
	if len(r.Changes) == 0 {
		if r.Whole != nil && !r.Whole.NoCode {
			fmt.Fprintln(w, "\nno file changed")
		}
		return nil
	}
	if patch || stat {
		fmt.Fprintln(w)
		return pr.FileDiffs(w, r.Files, patch, stat)
	}
	var n [3]int
	for _, c := range r.Changes {
		switch c.Status {
		case "added":
			n[0]++
		case "deleted":
			n[2]++
		default:
			n[1]++
		}
	}
	fmt.Fprintf(w, "\n%s  %s\n", pr.Styled(term.Bold, Count(len(r.Changes), "path")+" changed:"),
		pr.Styled(term.Dim, tallyWord(n)))
	lines := map[api.Text]api.FileDiff{}
	for _, f := range r.Files {
		lines[f.Path] = f
	}
	pr.ChangeLinesWith(w, r.Changes, ShownPaths, func(c api.Change) string {
		f, known := lines[c.Path]
		if !known || f.Note != "" || f.Added+f.Removed == 0 {
			return ""
		}
		text := " "
		if f.Added > 0 {
			text += " " + pr.Styled(term.Added, fmt.Sprintf("+%d", f.Added))
		}
		if f.Removed > 0 {
			text += " " + pr.Styled(term.Removed, fmt.Sprintf("-%d", f.Removed))
		}
		return text
	})
	return nil
}
