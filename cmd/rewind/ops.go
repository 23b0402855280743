package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newOps(a *app) *cobra.Command {
	req := api.OpsRequest{}
	cmd := &cobra.Command{
		Use:   "ops [--all] [--limit <n>]",
		Short: "List restores, newest first, or every operation",
		Long: "Lists what went back or forward, from where to where, and whether it was taken back since: 'rewind undo-restore " +
			"<number>' does it.\n" +
			"--all lists everything that rewind did: checkpoints, events, tags, ... --json lists operations, safety checkpoints only " +
			"with --all.",
		Example: "  rewind ops\n  rewind ops --all",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project, req.Restores = a.project(), !req.All && !a.json
			return runOps(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "every operation")
	cmd.Flags().IntVarP(&req.Limit, "limit", "n", 100, "at most so many; 0: all")
	return cmd
}

func runOps(ctx context.Context, a *app, req api.OpsRequest) error {
	if req.Limit < 0 {
		return usage("--limit %d: must not be negative", req.Limit)
	}
	r, said, err := ask(ctx, a, api.Ops, req, "listing")
	if err != nil || said {
		return err
	}
	a.notices(r.Notices)
	if len(r.Operations) == 0 && req.Restores {
		a.say("nothing has gone back yet; 'rewind ops --all' shows every operation")
		return nil
	}
	return a.paged(func(w io.Writer) error {
		if req.Restores {
			return a.restoreTable(w, r.Operations)
		}
		t := a.Table(term.Column{Right: true}, term.Column{}, term.Column{}, term.Column{Flex: true})
		for _, op := range r.Operations {
			t.Row(term.Cell{Text: fmt.Sprint(op.Seq), Style: term.ID}, term.Cell{Text: a.Clock(op.Time), Style: term.Dim},
				term.Cell{Text: op.Kind, Style: term.Bold}, term.Cell{Text: opText(op)})
		}
		return t.Flush(w)
	})
}

// restoreTable lists restores: from where to where, and whether they were taken back.
func (a *app) restoreTable(w io.Writer, list []api.Operation) error {
	t := a.Table(term.Column{Right: true}, term.Column{}, term.Column{}, term.Column{Flex: true}, term.Column{Flex: true}, term.Column{})
	for _, op := range list {
		kind, style := term.Bold, term.Plain
		if op.Undone > 0 {
			kind, style = term.Dim, term.Dim
		}
		t.Row(term.Cell{Text: fmt.Sprint(op.Seq), Style: term.ID}, term.Cell{Text: a.Clock(op.Time), Style: term.Dim},
			term.Cell{Text: op.Kind, Style: kind},
			term.Cell{Text: "from " + sideWords(op.From, op.Safety), Style: style}, term.Cell{
				Text:  "to " + sideWords(op.To, op.Target),
				Style: style,
			},
			term.Cell{Text: restoreMarks(op), Style: style})
	}
	return t.Flush(w)
}

// restoreMarks say how much a restore changed, and what became of it.
func restoreMarks(op api.Operation) string {
	parts := []string{count(op.Changed, "path")}
	if op.Undoes > 0 {
		parts = append(parts, fmt.Sprintf("took back %d", op.Undoes))
	}
	if op.Undone > 0 {
		parts = append(parts, fmt.Sprintf("undone by %d", op.Undone))
	}
	if op.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", op.Kept))
	}
	if len(op.Paths) > 0 {
		parts = append(parts, "only "+strings.Join(value.Strings(op.Paths), ", "))
	}
	return strings.Join(parts, ", ")
}

// momentPrompt is how much of a prompt tells a moment from another, in columns.
const momentPrompt = 24

// sideWords is a checkpoint as a person names it.
func sideWords(m *api.Moment, id string) string {
	quote := func(text api.Text) string {
		return `"` + term.Truncate(term.Sanitize(words(string(text))), momentPrompt) + `"`
	}
	switch {
	case m == nil:
		return fmt.Sprintf("%.8s", id)
	case m.Turn > 0 && m.Event != "save" && m.Prompt != "":
		return fmt.Sprintf("turn:%d %s", m.Turn, quote(m.Prompt))
	case m.Turn > 0 && m.Event != "save":
		return fmt.Sprintf("turn:%d", m.Turn)
	case m.Event == "init":
		return "the first checkpoint"
	case m.Message != "" && !m.Safety:
		return quote(m.Message)
	}
	return m.Short
}

func opText(op api.Operation) string {
	var parts []string
	if op.Target != "" {
		parts = append(parts, fmt.Sprintf("to %.12s, %s changed", op.Target, count(op.Changed, "path")))
	}
	if op.Kept > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", op.Kept))
	}
	if len(op.Paths) > 0 {
		parts = append(parts, "only "+strings.Join(value.Strings(op.Paths), ", "))
	}
	if op.Undoes > 0 {
		parts = append(parts, fmt.Sprintf("reverts %d", op.Undoes))
	}
	if op.Checkpoint != "" {
		parts = append(parts, fmt.Sprintf("%.12s", op.Checkpoint))
	}
	if op.Message != "" {
		parts = append(parts, string(op.Message))
	}
	return strings.Join(parts, ", ")
}
