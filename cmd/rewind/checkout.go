package main

import (
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
)

func newCheckout(a *app) *cobra.Command {
	c := &checkout{app: a}
	req := &c.req
	cmd := &cobra.Command{
		Use: "checkout {<checkpoint> [-- <path>...] | --continue | --abort} [--code-only | --context-only] [--in-place [--force]]\n" +
			"      [--title <title>] [--tag <tag>] [--session <session>] [--exact | --merge [--ours | --theirs]]\n" +
			"      [--dry-run | --plan <plan>]\n" +
			"  rewind checkout <checkpoint> --into <directory> [-- <path>...]\n" +
			"  rewind checkout <checkpoint> --patch [-- <path>...]",
		Short: "Set the project to a checkpoint, and the conversation with it",
		Long: "Sets the project's files to a checkpoint; with paths, only those files. The current state is " +
			"stored first, so every checkout can be undone. Your own changes since then are replaced and " +
			"named; --keep-mine keeps them. Ignored files are never removed. Git's HEAD, index and stash stay " +
			"as they are.\n\n" +
			"The agent's conversation goes back, too: a new session ends there, and the command that opens it " +
			"is printed. The old session does not change. --in-place sets the old session itself back " +
			"instead: its file is cut, or gets back a part that was cut before. With paths the conversation " +
			"does not change.\n\n" +
			"What other sessions changed since is kept. With --merge this session's changes are taken out of " +
			"those files, too, by a three-way merge as in 'rewind revert'. Conflicts are marked and named " +
			"(exit code 15), unless --ours or --theirs.\n\n" +
			"--patch (-p) shows the differences piece by piece, and asks for each whether to set it. 'q' ends " +
			"the questions, '?' explains the others. All chosen pieces are set at once, and undone at once; " +
			"Ctrl-C sets nothing.\n\n" +
			"--continue and --abort end a checkout that was interrupted; with --code-only they leave session " +
			"files alone.\n\n" +
			"--into writes the checkpoint's files to a new directory and changes nothing else. It works on a " +
			"full disk and with a damaged store, too.",
		Example: "  rewind checkout @-\n  rewind checkout turn:2 --code-only\n  rewind checkout 3f2a91c4 -- src/main.go\n" +
			"  rewind checkout '@{20m ago}' --dry-run\n" +
			"  rewind checkout @- --into ../before\n  rewind checkout turn:2 -p -- src\n" +
			"  rewind checkout turn:2 --session 1a2b3c4d --merge",
		Args:              c.check,
		ValidArgsFunction: completePlaces(a, 1, &req.Session),
		RunE:              c.run,
	}
	cmd.Flags().BoolVar(&req.Exact, "exact", false,
		"take what other sessions changed since, too")
	c.merge.flags(cmd)
	codeOnlyFlag(cmd, &req.Wish)
	contextOnlyFlag(cmd, &req.Wish)
	inPlaceFlags(cmd, &req.Wish, "set the session itself back instead of making a new one")
	titleFlag(cmd, &req.Title)
	sessionFlag(a, cmd, &req.Session, "the `session` that goes back; what others changed since is kept")
	tagFlag(cmd, &req.Tag)
	cmd.Flags().StringVar(&c.into, "into", "",
		"write the checkpoint's files to this new `directory`, and change nothing else")
	cmd.Flags().BoolVarP(&c.some, "patch", "p", false, "ask for each differing piece whether to set it")
	dryRunFlags(cmd, &req.DryRun, &req.Plan)
	cmd.Flags().BoolVar(&req.Continue, "continue", false, "finish a checkout that was cut short")
	cmd.Flags().BoolVar(&req.Abort, "abort", false, "take back a checkout that was cut short")
	return cmd
}

// checkout is the command with its flags.
type checkout struct {
	app   *app
	req   api.CheckoutRequest
	into  string
	some  bool
	merge merging
}

func (c *checkout) check(cmd *cobra.Command, args []string) error {
	if err := c.checkAlone(cmd); err != nil {
		return err
	}
	req := &c.req
	names, _ := afterDash(cmd, args)
	ending := req.Continue || req.Abort
	switch {
	case req.Continue && req.Abort:
		return usage("--continue and --abort exclude each other")
	case ending && len(args) > 0:
		return usage("--continue and --abort take no checkpoint")
	case ending && !c.endsAlone():
		return usage("--continue and --abort end what was begun: only --code-only goes with them")
	case !ending && len(names) > 1:
		return oneName(cmd, names)
	case !ending && len(names) != 1:
		return usage("checkout takes one checkpoint; put paths after '--'")
	case req.ContextOnly && req.Exact:
		return usage("--exact is about files, and --context-only leaves them alone")
	}
	return c.merge.set(cmd, &req.Merging)
}

// checkAlone refuses flags beside --into and --patch.
func (c *checkout) checkAlone(cmd *cobra.Command) error {
	if cmd.Flags().Changed("into") {
		if err := intoAlone(cmd); err != nil {
			return err
		}
	}
	if c.some {
		return c.app.patchAlone(cmd)
	}
	return nil
}

// endsAlone reports whether nothing is asked for that what was begun has settled.
func (c *checkout) endsAlone() bool {
	how := c.req.ContextOnly || c.req.InPlace || c.req.Force
	named := c.req.Title != "" || c.req.Tag != "" || c.req.Plan != ""
	return !how && !named
}

func (c *checkout) run(cmd *cobra.Command, args []string) error {
	a, req := c.app, &c.req
	names, paths := afterDash(cmd, args)
	req.Project, req.Paths, req.Choose = a.project(), paths, a.OutTTY
	if len(names) > 0 {
		var err error
		if req.Checkpoint, err = a.checkpointName(names[0]); err != nil {
			return err
		}
	}
	if c.into != "" {
		err := layOut(cmd.Context(), a, req.Walk, req.Checkpoint, c.into, paths)
		return a.meantPath(cmd.Context(), err, names[0], "rewind checkout @ --into <directory> -- %s")
	}
	if c.some {
		return a.meantPath(cmd.Context(), checkoutParts(cmd.Context(), a, *req), names[0], "rewind checkout @ -p -- %s")
	}
	if err := forceInPlace(&req.Wish); err != nil {
		return err
	}
	if err := a.converse(&req.Wish, paths); err != nil {
		return err
	}
	if req.Continue || req.Abort {
		req.Env = agentEnv() // with --code-only, too: what was done to session files is recorded
	}
	counts := len(names) > 0 && strings.HasPrefix(names[0], "@")
	err := doRestore(cmd.Context(), a, api.Checkout, *req, again{cmd: cmd, args: names, paths: paths, counts: counts})
	if len(names) > 0 {
		err = a.meantPath(cmd.Context(), err, names[0], "rewind checkout @ -- %s")
	}
	return a.wasLast(cmd.Context(), err, paths)
}

// intoAlone refuses what has no meaning with --into.
func intoAlone(cmd *cobra.Command) error {
	if cmd.Flag("into").Value.String() == "" {
		return usage("--into wants a directory")
	}
	for _, name := range []string{
		"exact", "code-only", "context-only", "in-place", "force", "title", "tag", "patch", "dry-run", "plan",
		"continue", "abort",
	} {
		if cmd.Flags().Changed(name) {
			return usage("--into and --%s exclude each other: a new directory is made, and nothing else is changed",
				name)
		}
	}
	return nil
}

// patchAlone refuses what has no meaning with --patch.
func (a *app) patchAlone(cmd *cobra.Command) error {
	if a.json {
		return usage("--patch asks a person, and --json is for programs: 'rewind diff --json' tells what differs")
	}
	for _, name := range []string{
		"exact", "context-only", "in-place", "force", "title", "tag", "plan", "continue",
		"abort",
	} {
		if cmd.Flags().Changed(name) {
			return usage("--patch and --%s exclude each other: pieces of files are set, each as it was chosen", name)
		}
	}
	if cmd.Flags().Changed("dry-run") {
		return usage("--patch and --dry-run exclude each other: nothing is done before the last answer, and with Ctrl-C nothing at all")
	}
	return nil
}
