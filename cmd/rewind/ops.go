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
		Use:     "ops [--all] [--limit <n>]",
		Short:   "List operations, newest first",
		Long:    "Lists what rewind did: checkpoints, restores, tags. Restores can be reverted with 'rewind undo-restore <number>'.",
		Example: "  rewind ops",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = a.project()
			return runOps(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVarP(&req.All, "all", "a", false, "safety checkpoints too")
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
	return a.paged(func(w io.Writer) error {
		t := a.Table(term.Column{Right: true}, term.Column{}, term.Column{}, term.Column{Flex: true})
		for _, op := range r.Operations {
			t.Row(term.Cell{Text: fmt.Sprint(op.Seq), Style: term.ID}, term.Cell{Text: a.Time(op.Time), Style: term.Dim},
				term.Cell{Text: op.Kind, Style: term.Bold}, term.Cell{Text: opText(op)})
		}
		return t.Flush(w)
	})
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
