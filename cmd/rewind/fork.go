package main

import (
	"context"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
)

func newFork(a *app) *cobra.Command {
	req, w := api.ForkRequest{}, worktreeWish{}
	cmd := &cobra.Command{
		Use: "fork {<checkpoint> | turn:<n>} [--title <title>] [--session <session>] [--new]\n" +
			"      [--checkout [--exact] | --worktree <dir>] [--dry-run | --plan <plan>] [--self-test]",
		Short: "Make a new session of the conversation up to a checkpoint",
		Long: "Makes a new session with the agent's conversation up to a checkpoint, or up to the end of a " +
			"turn, and prints the command that opens it. The agent lists it like any other. The original " +
			"session and the project's files do not change. If you fork the same place again and nobody has " +
			"used the first fork, that one is used again, unless --new or a --title is given.\n\n" +
			"--checkout sets the files to that place, too. --worktree writes the files of that place to a new " +
			"directory, where the new session goes on: two attempts run side by side. 'rewind worktrees' " +
			"lists them.",
		Example: "  rewind fork turn:2\n  rewind fork 3f2a91c4 --title 'another way' --checkout\n" +
			"  rewind fork @ --worktree ../other-way --link node_modules\n  rewind fork @- --self-test",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage("fork takes one checkpoint, or turn:<n>")
			case req.Exact && !req.Checkout:
				return usage("--exact goes with --checkout")
			case req.Plan != "" && !req.Checkout:
				return usage("--plan goes with --checkout only")
			case req.SelfTest && (req.Checkout || req.DryRun):
				return usage("--self-test goes with neither --checkout nor --dry-run: it removes what it makes")
			}
			return w.check(req)
		},
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if req.Checkpoint, err = a.checkpointName(args[0]); err != nil {
				return err
			}
			req.Project, req.Env, req.Choose = a.project(), agentEnv(), a.OutTTY
			if w.dir != "" {
				return runForkWorktree(cmd.Context(), a, req, w)
			}
			return runFork(cmd.Context(), a, req)
		},
	}
	f := cmd.Flags()
	titleFlag(cmd, &req.Title)
	sessionFlag(a, cmd, &req.Session, "of this `session`; default: the current one, or that of the checkpoint")
	f.BoolVar(&req.Checkout, "checkout", false, "set the files to that place, too")
	f.BoolVar(&req.Exact, "exact", false, "of --checkout: take files that no checkpoint has and what other sessions changed, too")
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	f.BoolVar(&req.New, "new", false, "make a new one, even if an unused one is there")
	f.BoolVar(&req.SelfTest, "self-test", false, "make it, check it, delete it again")
	w.flags(cmd)
	return cmd
}

func runFork(ctx context.Context, a *app, req api.ForkRequest) error {
	r, said, err := ask(ctx, a, api.MakeFork, req, "forking")
	if err != nil {
		return err
	}
	if !said {
		a.Notices(r.Notices)
		a.TellForked(r, req)
		if r.Restore != nil {
			a.TellRestore(render.WithoutFork(*r.Restore), "")
		}
	}
	if r.Restore != nil {
		return render.Partial(*r.Restore)
	}
	return nil
}
