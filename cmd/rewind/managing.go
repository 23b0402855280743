package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

// mostSessions is how many sessions a command line may name.
const mostSessions = 1000

// manageOptions are the flags of what manages sessions.
type manageOptions struct {
	req api.ManageRequest
	yes bool
}

// newManaging are the commands below forks that do something with sessions.
func newManaging(a *app) []*cobra.Command {
	return []*cobra.Command{
		newForksRename(a), newForksDelete(a), newForksPrune(a),
		newManage(a, api.DoPromote, &cobra.Command{
			Use: "promote <session>", Short: "Make a session the main line of its family",
			Long: "Makes a session the main line of its family. The former main line is archived, and nothing is " +
				"deleted. The code does not change. 'rewind undo-restore' takes it back.",
			Example: "  rewind forks promote 1a2b3c4d", Args: takes(1, 1, "one session"),
		}), newManage(a, api.DoArchive, &cobra.Command{
			Use: "archive <session>...", Short: "Hide sessions from lists; nothing is deleted",
			Long: "Hides sessions from the lists of 'rewind sessions' and 'rewind forks'. With --all those lists " +
				"show them. A session that an agent has open, or where the project is, stays in the lists. The " +
				"agent's own list does not change, and nothing is deleted.",
			Example: "  rewind forks archive 1a2b3c4d\n  rewind forks list --all", Args: takes(1, mostSessions, "sessions"),
		}), newManage(a, api.DoRestore, &cobra.Command{
			Use: "restore <session>...", Short: "Bring archived sessions back into lists",
			Long:    "Brings archived sessions back into lists. 'rewind undo-restore' brings deleted ones back.",
			Example: "  rewind forks restore 1a2b3c4d", Args: takes(1, mostSessions, "sessions"),
		}),
	}
}

// newManage completes a command that does one thing with the sessions that it names.
func newManage(a *app, do string, cmd *cobra.Command) *cobra.Command {
	cmd.ValidArgsFunction = completeAllSessions(a)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runManage(cmd.Context(), a, api.ManageRequest{Do: do, Sessions: args})
	}
	return cmd
}

func newForksRename(a *app) *cobra.Command {
	req := api.ManageRequest{Do: api.DoRename}
	cmd := &cobra.Command{
		Use: "rename <session> <title>", Short: "Give a session another title, in the agent's own list, too",
		Long: "Gives a session another title: in its session file, as the agent itself writes one; for Codex, " +
			"through its own program. A session that its agent has open is refused, except with Codex. " +
			"'rewind undo-restore' gives the old title back.",
		Example: "  rewind forks rename 1a2b3c4d 'with a cache'", Args: takes(2, 2, "a session and a title"),
		ValidArgsFunction: completeAllSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Sessions, req.Title = args[:1], api.Text(args[1])
			return runManage(cmd.Context(), a, req)
		},
	}
	cmd.Flags().BoolVar(&req.Force, "force", false, "also while the agent seems to have it open")
	return cmd
}

func newForksDelete(a *app) *cobra.Command {
	o := manageOptions{req: api.ManageRequest{Do: api.DoDelete}}
	cmd := &cobra.Command{
		Use: "delete <session>... [--dry-run] [--yes]", Short: "Delete sessions, and say what is lost with them",
		Long: "Deletes sessions: their files are removed from the agent's folder, and no list has them any " +
			"more. It says what will be deleted with them, and asks if that is the last copy of a turn. Their " +
			"checkpoints stay. 'rewind undo-restore' brings the sessions back until gc has removed them. A " +
			"session that its agent has open is refused.",
		Example:           "  rewind forks delete 1a2b3c4d --dry-run\n  rewind forks delete 1a2b3c4d",
		Args:              takes(1, mostSessions, "sessions"),
		ValidArgsFunction: completeAllSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.req.Sessions = args
			return runForksDelete(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.req.DryRun, "dry-run", "n", false, "say what would go")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask, also for a last copy")
	f.BoolVar(&o.req.Force, "force", false, "also while the agent seems to have it open")
	return cmd
}

func runForksDelete(ctx context.Context, a *app, o manageOptions) error {
	o.req.LastCopy = o.yes
	err := runManage(ctx, a, o.req)
	var told *api.Error
	wantsYes := errors.As(err, &told) && told.Word == api.WordUnsaved && told.Op == "delete"
	answered := o.yes || o.req.DryRun
	if !wantsYes || answered || !a.asks() {
		return err
	}
	look := o.req
	look.Project, look.Env, look.DryRun = a.project(), agentEnv(), true
	r, lookErr := api.Call(ctx, a.client, api.ManageForks, look, nil)
	if lookErr != nil || lost(r.Losses) == 0 {
		return err
	}
	a.tellLosses(r.Losses, true)
	ask := fmt.Sprintf("This is the last copy of %s.", render.Count(lost(r.Losses), "turn"))
	if err := a.confirm(ask, told, "nothing was deleted"); err != nil {
		return err
	}
	o.req.LastCopy = true
	return runManage(ctx, a, o.req)
}

// lost is how many turns go for good.
func lost(list []api.Loss) (n int) {
	for _, l := range list {
		n += l.Turns
	}
	return n
}

func newForksPrune(a *app) *cobra.Command {
	req, yes := api.PruneRequest{}, false
	cmd := &cobra.Command{
		Use:   "prune [--older <age>] [--unused] [--keep N] [--kind <kind>]... [--dry-run]",
		Short: "Delete forks by age, kind, number, or because nobody used them",
		Long: "Deletes the forks that match all conditions, in one operation; 'rewind undo-restore' takes it " +
			"back. A fork stays if an agent has it open, if it is archived or a main line, or if the project " +
			"is on it. A fork with turns that no other session has stays unless --yes is given. With 'rewind " +
			"config forks.prune.auto true' the daemon does it while the project is idle, by the settings " +
			"forks.prune.*; 'rewind status' and 'rewind ops' list what it deleted.",
		Example: "  rewind forks prune --unused --older 7d --dry-run\n  rewind forks prune --unused --keep 10",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("keep") && req.Keep < 1 {
				return usage("--keep wants a number of at least 1")
			}
			all := req.Older == "" && !req.Unused
			if all && req.Keep == 0 && len(req.Kinds) == 0 {
				return usage("which forks? give --older, --unused, --keep or --kind")
			}
			req.Project, req.Env, req.LastCopy = a.project(), agentEnv(), yes
			r, said, err := ask(cmd.Context(), a, api.PruneForks, req, "reading")
			if err != nil || said {
				return err
			}
			return a.tellManaged(r)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&req.DryRun, "dry-run", "n", false, "say what would go")
	f.StringVar(&req.Older, "older", "", "from which nothing came for this `age`: 36h, 30d")
	f.BoolVar(&req.Unused, "unused", false, "that nobody has gone on with")
	f.IntVar(&req.Keep, "keep", 0, "all but the newest `N`")
	f.StringSliceVar(&req.Kinds, "kind", nil, "made by this `kind` of act: fork, clone, restore (going back), agent")
	_ = cmd.RegisterFlagCompletionFunc("kind",
		cobra.FixedCompletions(value.ForkMakers(), cobra.ShellCompDirectiveNoFileComp))
	f.BoolVarP(&yes, "yes", "y", false, "also those that have turns which no other session has")
	return cmd
}

func runManage(ctx context.Context, a *app, req api.ManageRequest) error {
	req.Project, req.Env = a.project(), agentEnv()
	r, said, err := ask(ctx, a, api.ManageForks, req, "reading")
	if err != nil {
		return err
	}
	if said {
		return keptFiles(r)
	}
	return a.tellManaged(r)
}

// keptFiles is the error of a deletion that left a file.
func keptFiles(r api.ManageResponse) error {
	if len(r.Kept) == 0 {
		return nil
	}
	return &api.Error{
		Word: api.WordPartial, Message: render.Count(len(r.Kept), "session file") + " stayed: written meanwhile",
		Hint: "close the agent, then try again",
	}
}

func (a *app) tellManaged(r api.ManageResponse) error {
	a.Notices(r.Notices)
	if r.Do == api.DoDelete || r.Do == "prune" {
		a.tellLosses(r.Losses, r.DryRun)
		if len(r.Losses) == 0 {
			a.Say("no fork fits")
		}
	} else {
		for _, m := range r.Managed {
			fmt.Fprintln(a.Out, render.ManagedWords(m))
		}
	}
	for _, l := range r.Left {
		a.Say("left: %s has %s that no other session has; --yes deletes it, too", render.ShortSession(l.Session),
			render.Count(l.Turns,
				"turn"))
	}
	for _, p := range r.Kept {
		a.Say("stays, it was written meanwhile: %s", term.Quote(string(p)))
	}
	if r.Problem != "" {
		a.Say("the agent's own list does not show it: %s", term.Sanitize(string(r.Problem)))
	}
	if r.Operation > 0 {
		a.Say("undo this: rewind undo-restore %d", r.Operation)
	}
	return keptFiles(r)
}

// tellLosses says what goes with sessions.
func (a *app) tellLosses(list []api.Loss, dryRun bool) {
	verb := "deleted"
	if dryRun {
		verb = "would delete"
	}
	for _, l := range list {
		what := "every turn of it is in another session, too"
		if l.Turns > 0 {
			what = a.Styled(term.Warn,
				fmt.Sprintf("with it %s that no other session has", render.Count(l.Turns, "turn")))
		}
		title := ""
		if l.Title != "" {
			title = ` "` + term.Truncate(term.Sanitize(render.Words(string(l.Title))), promptMost) + `"`
		}
		fmt.Fprintf(a.Out, "%s %s%s: %s", verb, a.Styled(term.ID, term.Sanitize(render.ShortSession(l.Session))),
			title, what)
		if l.Checkpoints > 0 {
			fmt.Fprintf(a.Out, "; its %s until gc lets them go", pluralStay(l.Checkpoints))
		}
		fmt.Fprintln(a.Out)
	}
}

func pluralStay(n int) string {
	if n == 1 {
		return "checkpoint stays"
	}
	return fmt.Sprintf("%d checkpoints stay", n)
}

// completeAllSessions offers sessions, archived ones, too.
func completeAllSessions(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		one := !strings.Contains(cmd.Use, "...")
		if one && len(args) > 0 || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.sessionNames(cmd.Context(), true), cobra.ShellCompDirectiveNoFileComp
	}
}
