package main

import (
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
)

func newSwitch(a *app) *cobra.Command {
	req := api.SwitchRequest{}
	var m merging
	cmd := &cobra.Command{
		Use: "switch {<session> | -} [--code-only | --context-only] [--in-place [--force]] [--tag <tag>]\n" +
			"      [--exact | --merge [--ours | --theirs]] [--dry-run | --plan <plan>]",
		Short: "Go to the newest state of another session, code and conversation",
		Long: "Sets the project's files to the newest state of a session, and prints the command that continues " +
			"its conversation unchanged. Name the session by its id or the beginning of it, or by its title " +
			"or a part of it. '-' is the session where the project was before. 'turn:5@1a2b' in 'rewind tree' " +
			"is a branch within one session: a new session that ends there is made. The current state is " +
			"stored first, and what others changed since is kept, as with 'rewind checkout'.\n\n" +
			"A session that goes on in another worktree is left there: the error names the directory. If a " +
			"session's file was cut and not continued, its newest state is the cut one; --in-place gives it " +
			"its end back.",
		Example: "  rewind switch 1a2b3c4d\n  rewind switch 'fix the parser'\n  rewind switch -\n  rewind switch 1a2b3c4d --in-place",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage("switch takes one session: its id, its title, or '-' for the one before")
			case req.ContextOnly && req.Exact:
				return usage("--exact is about files, and --context-only leaves them alone")
			}
			return m.set(cmd, &req.Merging)
		},
		ValidArgsFunction: completeSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Branch = a.project(), api.Text(args[0])
			if dir, rest, ok := a.splitPlace(args[0]); ok {
				req.Branch = api.Text(strings.TrimSuffix(dir+":"+rest, ":"))
			}
			if err := forceInPlace(&req.Wish); err != nil {
				return err
			}
			if err := a.converse(&req.Wish, nil); err != nil {
				return err
			}
			return doRestore(cmd.Context(), a, api.Switch, req, again{cmd: cmd, args: args, counts: args[0] == "-"})
		},
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false,
		"take what other sessions changed since, too")
	m.flags(cmd)
	codeOnlyFlag(cmd, &req.Wish)
	contextOnlyFlag(cmd, &req.Wish)
	inPlaceFlags(cmd, &req.Wish, "of a session whose file was cut: go to what it was before, and give it that end back")
	tagFlag(cmd, &req.Tag)
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	return cmd
}
