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
	cmd := &cobra.Command{
		Use:   "show <checkpoint> [--session <session>] [--messages <n>] [-- <path>...]",
		Short: "Show a checkpoint: when, why, what changed, what was said before it",
		Long: "Shows when and why a checkpoint was taken, what it changed and what it could not capture. With --messages also the last messages of\n" +
			"the conversation before it, without what tools answered.",
		Example: "  rewind show @\n  rewind show @~2 -- src\n  rewind show turn:3 --messages 30",
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
			if len(names) == 0 {
				return runShow(cmd.Context(), a, req)
			}
			var err error
			if req.Checkpoint, err = a.checkpointName(names[0]); err != nil {
				return err
			}
			return a.meantPath(runShow(cmd.Context(), a, req), names[0], "rewind show @ -- %s")
		},
	}
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	cmd.Flags().IntVar(&req.Messages, "messages", 0, "the last `n` messages of the conversation before it, too")
	return cmd
}

func runShow(ctx context.Context, a *app, req api.ShowRequest) error {
	r, said, err := ask(ctx, a, api.Show, req, "reading")
	if err != nil || said {
		return err
	}
	a.notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.showCheckpoint(w, r.Checkpoint, r.GitUnread)
		if len(r.Changes) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, count(len(r.Changes), "path")+" changed"))
			a.changeLines(w, r.Changes, shownPaths)
		}
		if len(r.Skips) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "not captured, or flagged"))
			a.skipLines(w, r.Skips, 20)
		}
		if len(r.Leaks) > 0 {
			fmt.Fprintf(w, "\n%s:\n", a.Styled(term.Bold, "looks like a secret"))
			a.leakLines(w, r.Leaks, 20)
		}
		a.showMessages(w, r.Messages)
		if len(r.Messages) == 0 && r.Conversation != "" {
			fmt.Fprintf(w, "\nno conversation: %s\n", term.Sanitize(string(r.Conversation)))
		}
		return nil
	})
}

func (a *app) showCheckpoint(w io.Writer, c api.Checkpoint, unread []api.Text) {
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
	row("tags", strings.Join(c.Tags, ", "))
	row("taken", fmt.Sprintf("%s, operation %d, session %s", a.Time(c.Time), c.Seq, term.Sanitize(c.Session)))
	row("why", c.Event)
	if len(c.Parents) > 0 {
		row("after", c.Parents[0])
	}
	if c.Git != nil {
		row("git", term.Sanitize(strings.TrimSpace(c.Git.Commit+" "+c.Git.Branch)))
	}
	for _, p := range unread {
		row("git", a.Styled(term.Warn, term.Quote(string(p))+" could not be read then"))
	}
	row("holds", fmt.Sprintf("%s, %s", count(c.Files, "file"), term.Size(c.Bytes)))
	for _, n := range c.Notes {
		row("noted", strings.ReplaceAll(term.SanitizeText(string(n)), "\n", "\n            "))
	}
	if c.Message != "" {
		fmt.Fprintf(w, "\n    %s\n", strings.ReplaceAll(term.SanitizeText(string(c.Message)), "\n", "\n    "))
	}
}
