package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// shownPaths is how many paths a person is shown of a long list; --json has them all.
const shownPaths = 200

func newShow(a *app) *cobra.Command {
	req := api.ShowRequest{}
	var stat bool
	cmd := &cobra.Command{
		Use:   "show <checkpoint> [-p] [--stat] [--session <session>] [--messages <n>] [-- <path>...]",
		Short: "Show a checkpoint or a turn: who, when, the prompt, what changed, what was answered",
		Long: "Shows what a checkpoint is known by (turn, tool call, time, prompt, what was answered), what it changed and what it could " +
			"not capture,\n" +
			"then its ids. turn:<n> is the whole turn, from the state before it. With --messages also the last messages of the " +
			"conversation\n" +
			"before it, without what tools answered.",
		Example: "  rewind show @ -p\n  rewind show turn:3\n  rewind show @~2 -- src\n  rewind show turn:3 --messages 30",
		Args: func(cmd *cobra.Command, args []string) error {
			names, _ := afterDash(cmd, args)
			if err := oneName(cmd, names); err != nil {
				return err
			}
			if req.Messages < 0 {
				return usage("--messages %d: must not be negative", req.Messages)
			}
			return nil
		},
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, paths := afterDash(cmd, args)
			req.Project, req.Checkpoint, req.Paths, req.Choose = a.project(), "@", paths, a.OutTTY
			req.Said, req.Lines = true, !a.json || stat
			if req.Context = patchContext; !req.Patch && !stat {
				req.Most = shownPaths
			}
			if len(names) == 0 {
				return runShow(cmd.Context(), a, req, stat)
			}
			req.Whole = strings.HasPrefix(names[0], "turn:")
			var err error
			if req.Checkpoint, err = a.checkpointName(names[0]); err != nil {
				return err
			}
			return a.meantPath(runShow(cmd.Context(), a, req, stat), names[0], "rewind show @ -- %s")
		},
	}
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	cmd.Flags().BoolVarP(&req.Patch, "patch", "p", false, "what changed, as a patch")
	cmd.Flags().BoolVar(&stat, "stat", false, "how many lines of which files")
	cmd.Flags().IntVar(&req.Messages, "messages", 0, "the last `n` messages of the conversation before it, too")
	return cmd
}

func runShow(ctx context.Context, a *app, req api.ShowRequest, stat bool) error {
	r, said, err := ask(ctx, a, api.Show, req, "reading")
	if err != nil || said {
		return err
	}
	a.notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.showHead(w, r, req.Messages > 0)
		if err := a.showFiles(w, r, req.Patch, stat); err != nil {
			return err
		}
		if len(r.Skips) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "not captured, or flagged"))
			a.skipLines(w, r.Skips, 20)
		}
		if len(r.Leaks) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "looks like a secret"))
			a.leakLines(w, r.Leaks, shownLeaks)
		}
		a.showMessages(w, r.Messages)
		if len(r.Messages) == 0 && r.Conversation != "" {
			fmt.Fprintf(w, "\nno conversation: %s\n", term.Sanitize(string(r.Conversation)))
		}
		fmt.Fprintln(w)
		a.showIDs(w, r)
		return nil
	})
}

// showHead tells what a person knows a checkpoint, or a turn, by; of what was said only the prompt where the conversation follows.
func (a *app) showHead(w io.Writer, r api.ShowResponse, follows bool) {
	c := r.Checkpoint
	who, prompt, when := shownWords(r), c.Prompt, a.Clock(c.Time)
	if r.Whole != nil {
		prompt, when = r.Whole.Prompt, a.Clock(r.Whole.Time)
	}
	if a.OutTTY {
		when += ", " + term.Ago(a.Now(), c.Time)
	}
	if len(c.Tags) > 0 {
		who += "  [" + strings.Join(c.Tags, ", ") + "]"
	}
	if c.Current {
		who += "  (current)"
	}
	fmt.Fprintf(w, "%s\n%s\n", a.Styled(term.Bold, term.Sanitize(who)), a.Styled(term.Dim, when))
	for _, n := range c.Notes {
		fmt.Fprintf(w, "%-11s %s\n", "noted", strings.ReplaceAll(term.SanitizeText(string(n)), "\n", "\n            "))
	}
	if c.Merged > 0 {
		fmt.Fprintf(w, "%-11s %s: what changed is told against the state before them\n", "merged", count(int(c.Merged), "older step"))
	}
	if c.Message != "" && r.Whole == nil {
		fmt.Fprintf(w, "\n    %s\n", strings.ReplaceAll(term.SanitizeText(string(c.Message)), "\n", "\n    "))
		return // what a person saved is known by that
	}
	if follows || r.Asked == nil || !strings.HasPrefix(words(string(r.Asked.Text)), strings.TrimSuffix(words(string(prompt)), "…")) {
		a.quoted(w, "prompt", prompt) // what was said last before it is of another turn
		return
	}
	a.quoted(w, "prompt", r.Asked.Text)
	if r.Answered != nil {
		a.quoted(w, "answered", r.Answered.Text)
	}
}

// quotedLines is how many lines of a prompt or an answer show tells.
const quotedLines = 8

// quoted prints what was said, below its heading.
func (a *app) quoted(w io.Writer, head string, text api.Text) {
	said := strings.TrimSpace(term.SanitizeText(string(text)))
	if said == "" {
		return
	}
	lines := strings.Split(said, "\n")
	fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, head))
	for i, l := range lines {
		if i == quotedLines {
			fmt.Fprintf(w, "  ... and %s more\n", count(len(lines)-i, "line"))
			break
		}
		fmt.Fprintln(w, strings.TrimRight("  "+l, " "))
	}
}

// shownWords say whose a checkpoint is, and what made it.
func shownWords(r api.ShowResponse) string {
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
		return cause(c)
	case turn == 0:
		return sessionWords(session) + ", " + stepText(&c)
	}
	text := fmt.Sprintf("turn:%d of %s", turn, sessionWords(session))
	if r.Whole == nil {
		return text + ", " + stepText(&c)
	}
	return text + ", " + count(r.Whole.Steps, "step")
}

// showFiles prints what changed: as a patch, as --stat, or a line a file.
func (a *app) showFiles(w io.Writer, r api.ShowResponse, patch, stat bool) error {
	if len(r.Changes) == 0 {
		if r.Whole != nil {
			fmt.Fprintln(w, "\nno file changed")
		}
		return nil
	}
	if patch || stat {
		fmt.Fprintln(w)
		return a.fileDiffs(w, r.Files, patch, stat)
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
	fmt.Fprintf(w, "\n%s  %s\n", a.Styled(term.Bold, count(len(r.Changes), "path")+" changed:"), a.Styled(term.Dim, tallyWord(n)))
	lines := map[api.Text]api.FileDiff{}
	for _, f := range r.Files {
		lines[f.Path] = f
	}
	a.changeLinesWith(w, r.Changes, shownPaths, func(c api.Change) string {
		f, known := lines[c.Path]
		if !known || f.Note != "" || f.Added+f.Removed == 0 {
			return ""
		}
		text := " "
		if f.Added > 0 {
			text += " " + a.Styled(term.Added, fmt.Sprintf("+%d", f.Added))
		}
		if f.Removed > 0 {
			text += " " + a.Styled(term.Removed, fmt.Sprintf("-%d", f.Removed))
		}
		return text
	})
	return nil
}

// showIDs tells what programs know a checkpoint by.
func (a *app) showIDs(w io.Writer, r api.ShowResponse) {
	c := r.Checkpoint
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-11s %s\n", name, text)
		}
	}
	id := a.Styled(term.ID, c.ID)
	if c.Current {
		id += "  (current)"
	}
	row("checkpoint", id)
	if len(c.Parents) > 0 {
		row("after", c.Parents[0])
	}
	row("operation", fmt.Sprintf("%d, %s, session %s", c.Seq, c.Event, term.Sanitize(c.Session)))
	if t := c.Tool; t != nil && t.Call != "" {
		row("call", term.Sanitize(string(t.Call)))
	}
	if c.Git != nil {
		row("git", term.Sanitize(strings.TrimSpace(c.Git.Commit+" "+c.Git.Branch)))
	}
	for _, p := range r.GitUnread {
		row("git", a.Styled(term.Warn, term.Quote(string(p))+" could not be read then"))
	}
	if f := r.Fork; f != nil {
		row("forked", term.Sanitize(fmt.Sprintf("%s: %s", shortSession(f.Child), relation(f))))
		if f.Message != "" {
			row("", term.Sanitize("after message "+f.Message))
		}
		row("", fmt.Sprintf("%s, depth %d, %s", a.Time(f.Time), f.Depth, foundWords(f.How)))
	}
	row("holds", fmt.Sprintf("%s, %s", count(c.Files, "file"), term.Size(c.Bytes)))
	if k := r.Cursor; k != nil {
		row("talk", fmt.Sprintf("%s, generation %d, byte %d", term.Quote(string(k.Path)), k.Generation, k.Offset))
		row("", term.Sanitize(strings.TrimSpace("up to "+k.Last+" "))+fmt.Sprintf(", hash %.16s", k.Hash))
	}
}
