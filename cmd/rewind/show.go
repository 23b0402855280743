package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newShow(a *app) *cobra.Command {
	req := api.ShowRequest{}
	var stat bool
	cmd := &cobra.Command{
		Use:   "show <checkpoint> [-p] [--stat] [--session <session>] [--messages <n>] [-- <path>...]",
		Short: "Show a turn or a checkpoint: prompt, changes, answer",
		Long: "Shows a checkpoint: its turn, tool call, time, prompt and answer, what it changed, what it could " +
			"not capture, and its ids. turn:<n> is the whole turn, compared with the state before it. With " +
			"--messages it also shows the last messages of the conversation there, without tools' answers.",
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
				req.Most = render.ShownPaths
			}
			if len(names) == 0 {
				return runShow(cmd.Context(), a, req, stat)
			}
			_, bare, _ := a.splitPlace(names[0])
			req.Whole = strings.HasPrefix(bare, "turn:")
			var err error
			if req.Checkpoint, err = a.checkpointName(names[0]); err != nil {
				return err
			}
			return a.meantPath(cmd.Context(), runShow(cmd.Context(), a, req, stat), names[0], "rewind show @ -- %s")
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
	a.Notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.ShowHead(w, r, req.Messages > 0)
		if err := a.ShowFiles(w, r, req.Patch, stat); err != nil {
			return err
		}
		a.ShowBeside(w, r)
		a.ShowUncaptured(w, r.NotCaptured)
		if len(r.Skips) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "not captured, or flagged"))
			a.SkipLines(w, r.Skips, 20)
		}
		if len(r.Leaks)+len(r.SaidLeaks) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "looks like a secret"))
			a.leakLines(w, r.Leaks, shownLeaks)
			a.saidLeakLines(w, r.SaidLeaks, shownLeaks)
		}
		a.ShowMessages(w, r.Messages)
		if len(r.Messages) == 0 && r.Conversation != "" {
			fmt.Fprintf(w, "\nno conversation: %s\n", term.Sanitize(string(r.Conversation)))
		}
		fmt.Fprintln(w)
		if r.Whole != nil && r.Whole.NoCode {
			name := []string{api.TurnName(r.Whole.Turn, r.Whole.Session)}
			fmt.Fprintf(w, "go on from there: rewind fork %s\n", term.Sanitize(render.ShellLine(name)))
			return nil
		}
		a.showIDs(w, r)
		return nil
	})
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
	if r.GitGone != nil {
		row("git", a.Styled(term.Warn, "the repository is gone: it was at "+render.HeadText(r.GitGone)+" before"))
	}
	for _, p := range r.GitUnread {
		row("git", a.Styled(term.Warn, term.Quote(string(p))+" could not be read then"))
	}
	if f := r.Fork; f != nil {
		row("forked", term.Sanitize(fmt.Sprintf("%s: %s", render.ShortSession(f.Child), render.Relation(f))))
		if f.Message != "" {
			row("", term.Sanitize("after message "+f.Message))
		}
		row("", fmt.Sprintf("%s, depth %d, %s", a.Time(f.Time), f.Depth, foundWords(f.How)))
	}
	row("holds", fmt.Sprintf("%s, %s", render.Count(c.Files, "file"), term.Size(c.Bytes)))
	if k := r.Cursor; k != nil {
		row("talk", fmt.Sprintf("%s, generation %d, byte %d", term.Quote(string(k.Path)), k.Generation, k.Offset))
		row("", term.Sanitize(strings.TrimSpace("up to "+k.Last+" "))+fmt.Sprintf(", hash %.16s", k.Hash))
	}
}
