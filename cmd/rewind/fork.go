package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newFork(a *app) *cobra.Command {
	req, w := api.ForkRequest{}, worktreeWish{}
	cmd := &cobra.Command{
		Use: "fork {<checkpoint> | turn:<n>} [--title <title>] [--session <session>] [--new]\n" +
			"      [--checkout [--exact] | --worktree <dir>] [--dry-run] [--self-test]",
		Short: "Make a new session of the conversation up to a checkpoint",
		Long: "Makes a new session of the agent's conversation as it was at a checkpoint, or at the end of a turn, and prints the " +
			"command that\n" +
			"opens it. The agent lists it like any other; the session it is made of, and the files of the project, stay as they are.\n" +
			"A fork of the same place that nobody has used yet serves again, unless --new or a --title is given.\n" +
			"--checkout sets the files to that place, too.\n" +
			"--worktree lays the files of that place out in a directory of its own, where the new\n" +
			"session goes on: two attempts run side by side. 'rewind worktrees' lists them.",
		Example: "  rewind fork turn:2\n  rewind fork 3f2a91c4 --title 'another way' --checkout\n" +
			"  rewind fork @ --worktree ../other-way --link node_modules\n  rewind fork @- --self-test",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage("fork takes one checkpoint, or turn:<n>")
			case req.Exact && !req.Checkout:
				return usage("--exact goes with --checkout")
			case req.SelfTest && (req.Checkout || req.DryRun):
				return usage("--self-test takes away again what it makes: --checkout and --dry-run do not go with it")
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
	f.BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would be done")
	f.BoolVar(&req.New, "new", false, "although one that nobody has used is there")
	f.BoolVar(&req.SelfTest, "self-test", false, "make it, check it, take it away again")
	w.flags(cmd)
	return cmd
}

func runFork(ctx context.Context, a *app, req api.ForkRequest) error {
	r, said, err := ask(ctx, a, api.MakeFork, req, "forking")
	if err != nil {
		return err
	}
	if !said {
		a.notices(r.Notices)
		a.tellForked(r, req)
		if r.Restore != nil {
			a.tellRestore(withoutFork(*r.Restore))
		}
	}
	if r.Restore != nil {
		return partial(*r.Restore)
	}
	return nil
}

// withoutFork is a restore whose fork has been told already.
func withoutFork(r api.RestoreResponse) api.RestoreResponse {
	if r.Conversation != nil {
		told := *r.Conversation
		told.Mode, told.Why, told.Fork = "none", "", nil
		r.Conversation = &told
	}
	return r
}

func (a *app) tellForked(r api.ForkResponse, req api.ForkRequest) {
	f, verb := r.Fork, "forked"
	if req.DryRun {
		verb = "would fork"
	}
	fmt.Fprintf(a.Out, "%s %s at %s: %s (%s)\n", verb, term.Sanitize(shortSession(f.From.Session)),
		a.Styled(term.ID, place(f.From, string(req.Checkpoint))),
		term.Sanitize(string(f.Title)), count(f.Messages, "message"))
	switch {
	case req.SelfTest:
		for _, c := range f.Checks {
			fmt.Fprintf(a.Out, "  ok: %s\n", term.Sanitize(string(c)))
		}
		fmt.Fprintln(a.Out, "  taken away again")
	case !req.DryRun && req.Worktree == "":
		a.whereForked(f)
	}
	if r.Reused {
		a.say("note: it was there already, and nobody has used it: --new makes another")
	}
	a.forkNotes(f)
}

// whereForked prints the new session's file and the command that opens it.
func (a *app) whereForked(f api.Fork) {
	fmt.Fprintf(a.Out, "  %s\n", term.Quote(string(f.Path)))
	a.resumeLine(f.Resume)
}

// place says where a fork begins, by the name that it was asked for.
func place(l api.Lineage, name string) string {
	if isTurn(name) || l.Checkpoint == "" {
		return fmt.Sprintf("the end of turn %d", l.Turn)
	}
	return fmt.Sprintf("checkpoint %.8s, turn %d", l.Checkpoint, l.Turn)
}
