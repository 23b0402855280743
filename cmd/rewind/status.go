package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show the project: store, current checkpoint, unsaved changes",
		Example: "  rewind status\n  rewind status --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a) },
	}
}

func runStatus(ctx context.Context, a *app) error {
	r, err := call(ctx, a, api.Status, api.StatusRequest{Project: a.project()}, "comparing")
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.showStatus(w, r)
		return nil
	})
}

func (a *app) showStatus(w io.Writer, r api.StatusResponse) {
	row := func(name, text string) { fmt.Fprintf(w, "%-11s %s\n", name, text) }
	row("project", term.Quote(string(r.Root)))
	row("store", fmt.Sprintf("%s (%s mode, %s)", term.Quote(string(r.Store)), r.Mode, term.Size(r.DiskBytes)))
	steps := count(r.Checkpoints, "checkpoint")
	if r.Safety > 0 {
		steps += fmt.Sprintf(", %s", count(r.Safety, "safety checkpoint"))
	}
	row("holds", steps)
	if r.HalfDone != "" {
		row("half done", a.Styled(term.Warn, fmt.Sprintf("a checkout of %.12s; 'rewind checkout --continue' finishes it, '--abort' takes it back", r.HalfDone)))
	}
	if n := len(r.Stages); n > 0 {
		row("kept bytes", a.Styled(term.Warn, "of files that changed while a restore ran; look at them, then remove them"))
		for _, s := range r.Stages {
			fmt.Fprintf(w, "  %s\n", term.Quote(string(s)))
		}
	}
	if r.Current == nil {
		row("current", "none yet; 'rewind save' takes the first checkpoint")
		return
	}
	row("current", fmt.Sprintf("%s  %s  %s", a.Styled(term.ID, r.Current.Short), a.Time(r.Current.Time), term.Sanitize(what(*r.Current))))
	if r.Ahead > 0 {
		row("ahead", count(r.Ahead, "step")+"; 'rewind redo' goes forward")
	}
	if len(r.Changes) == 0 {
		row("unsaved", "nothing")
	} else {
		row("unsaved", count(len(r.Changes), "path"))
		a.changeLines(w, r.Changes, 20)
	}
	if n := len(r.Skips); n > 0 {
		row("skipped", count(n, "path"))
		a.skipLines(w, r.Skips, 5)
	}
}
