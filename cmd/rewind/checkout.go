package main

import (
	"github.com/spf13/cobra"

	"rewind/api"
)

func newCheckout(a *app) *cobra.Command {
	req := api.CheckoutRequest{}
	cmd := &cobra.Command{
		Use:     "checkout {<checkpoint> [-- <path>...] | --continue | --abort} [--exact] [--dry-run]",
		Aliases: []string{"restore"},
		Short:   "Set the project to a checkpoint",
		Long: "Sets the project's files to what a checkpoint holds; with paths, only those. What is there now is stored first, so\n" +
			"every checkout can be undone. Files that no checkpoint has are kept unless --exact is given; ignored files are\n" +
			"never removed. Git's HEAD, index and stash stay as they are.",
		Example: "  rewind checkout @-\n  rewind checkout 3f2a91c4 -- src/main.go\n  rewind checkout '@{20m ago}' --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			names, _ := afterDash(cmd, args)
			ending := req.Continue || req.Abort
			switch {
			case req.Continue && req.Abort:
				return usage("--continue and --abort exclude each other")
			case ending && len(args) > 0:
				return usage("--continue and --abort take no checkpoint")
			case !ending && len(names) != 1:
				return usage("checkout takes one checkpoint; put paths after '--'")
			}
			return nil
		},
		ValidArgsFunction: completeCheckpoints(a, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, paths := afterDash(cmd, args)
			req.Project, req.Paths, req.Choose = a.project(), paths, a.OutTTY
			if len(names) > 0 {
				req.Checkpoint = api.Text(names[0])
			}
			return doRestore(cmd.Context(), a, api.Checkout, req)
		},
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false, "take files that no checkpoint has and what other sessions changed, too")
	cmd.Flags().StringVar(&req.Session, "session", "", "the `session` that goes back; what others changed since is kept")
	cmd.Flags().BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would be done")
	cmd.Flags().BoolVar(&req.Continue, "continue", false, "finish a checkout that was cut short")
	cmd.Flags().BoolVar(&req.Abort, "abort", false, "take back a checkout that was cut short")
	return cmd
}
