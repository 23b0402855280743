package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newInit(a *app) *cobra.Command {
	req := api.InitRequest{}
	cmd := &cobra.Command{
		Use:   "init [--mode {project | global}] [--dry-run]",
		Short: "Set up a project: make its store and take the first checkpoint",
		Long: "Sets up the git repository that the current directory is in, or the directory itself. The store goes to\n" +
			"~/.rewind/storage by default, out of reach of git clean and rm -rf; --mode project puts it into .agent/rewind.\n" +
			"The project gets a small .agent/rewind that ignores itself in git. Safe to repeat.",
		Example: "  rewind init\n  rewind init --mode project\n  rewind init --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = a.project()
			return runInit(cmd.Context(), a, req)
		},
	}
	cmd.Flags().StringVar(&req.Mode, "mode", "", "where the store goes: global or project")
	cmd.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would be done")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"global\tin ~/.rewind", "project\tin .agent/rewind"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runInit(ctx context.Context, a *app, req api.InitRequest) error {
	r, err := call(ctx, a, api.Init, req, "first checkpoint")
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	a.notices(r.Notices)
	root, store := term.Quote(string(r.Root)), term.Quote(string(r.Store))
	switch {
	case req.DryRun && r.Exists:
		fmt.Fprintf(a.Out, "%s is set up already (%s mode, store %s)\n", root, r.Mode, store)
	case req.DryRun:
		fmt.Fprintf(a.Out, "would set up %s (%s mode)\n  make the store %s\n  make %s/.agent/rewind\n  take the first checkpoint\n", root, r.Mode, store, root)
	case r.Exists:
		fmt.Fprintf(a.Out, "%s is set up already (%s mode, store %s)\ncurrent checkpoint %s  %s\n", root, r.Mode, store, a.Styled(term.ID, r.Checkpoint.Short), tally(*r.Checkpoint))
	default:
		fmt.Fprintf(a.Out, "set up %s (%s mode)\nstore %s\nfirst checkpoint %s  %s\n", root, r.Mode, store, a.Styled(term.ID, r.Checkpoint.Short), tally(*r.Checkpoint))
		if n := len(r.Skips); n > 0 {
			a.say("%s not captured; 'rewind show @' lists them", count(n, "path"))
		}
		a.say("hint: 'rewind save' takes a checkpoint, 'rewind checkout <checkpoint>' goes back to one")
	}
	return nil
}
