package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

// initOptions are the flags of init.
type initOptions struct {
	mode                string
	agents              agentsFlag
	dryRun, remove, yes bool
	adopt, now          bool
}

func newInit(a *app) *cobra.Command {
	o := initOptions{}
	cmd := &cobra.Command{
		Use:   "init [--mode {project | global}] [--agents {all | none | <agent>,...}] [--adopt] [--remove [--now]] [--dry-run]",
		Short: "Set up a project: store, first checkpoint, agents' hooks",
		Long: "Sets up the git repository that the current directory is in, or the directory itself. The store " +
			"is in ~/.rewind/storage by default, out of reach of git clean and rm -rf; --mode project puts it " +
			"into .agent/rewind. The project gets a small .agent/rewind that git ignores. Running it again is " +
			"safe.\n\n" +
			"The hooks of the installed agents go into their own settings, for all projects; nothing else in " +
			"these files changes. --remove removes the store and the marker of a project, and with the last " +
			"project the hooks. The store stays in a trash for a day ('rewind stores restore'); with --now it " +
			"is deleted at once.\n\n" +
			"A store that came with the directory, from a repository, a backup or another machine, is not " +
			"trusted: it is not opened, and init begins one of your own. --adopt shows such a store, asks, " +
			"and takes it over. 'rewind stores' lists the known stores.",
		Example: "  rewind init\n  rewind init --mode project --agents claude,codex\n  rewind init --dry-run\n" +
			"  rewind init --adopt --dry-run\n  rewind init --remove",
		Args: takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.adopt {
				removes := o.remove || o.now
				if o.mode != "" || o.agents != nil || removes {
					return usage("--adopt goes with --yes and --dry-run only")
				}
				return runAdopt(cmd.Context(), a, o)
			}
			if o.remove {
				if o.mode != "" || o.agents != nil {
					return usage("--remove goes with --yes, --now and --dry-run only")
				}
				return runRemove(cmd.Context(), a, o)
			}
			if o.now {
				return usage("--now goes with --remove")
			}
			return runInit(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.mode, "mode", "", "where the store goes: global or project")
	f.BoolVarP(&o.dryRun, "dry-run", "n", false, "say what would be done")
	f.BoolVar(&o.remove, "remove", false, "take the project's history and marker away")
	f.BoolVar(&o.now, "now", false, "with --remove: for good, and not into the trash")
	f.BoolVar(&o.adopt, "adopt", false, "take over a store that lies in the project and is not believed")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask: with --remove, with --adopt, about settings that lie here")
	o.agents.add(cmd, "whose hooks to register: all that are installed, none, or some of claude, codex, gemini, droid")
	_ = cmd.RegisterFlagCompletionFunc("mode",
		cobra.FixedCompletions([]string{"global\tin ~/.rewind", "project\tin .agent/rewind"},
			cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// initResult is what init prints as JSON.
type initResult struct {
	api.InitResponse
	Hooks      *api.HooksResponse `json:"hooks,omitempty"`
	HooksError *api.Error         `json:"hooks_error,omitempty"` // the project is set up all the same
}

func newInitResult(r api.InitResponse, done api.HooksResponse, off bool, failed error) initResult {
	out := initResult{InitResponse: r}
	if failed == nil && !off {
		out.Hooks = &done
		failed = hooksErrors(done)
	}
	out.HooksError = asError(failed)
	return out
}

func runInit(ctx context.Context, a *app, o initOptions) error {
	names, off, err := o.agents.names()
	if err != nil {
		return err
	}
	req := api.InitRequest{Project: a.project(), Mode: o.mode, DryRun: o.dryRun, Settings: o.yes}
	if err := a.askSettings(ctx, &req); err != nil {
		return err
	}
	r, err := call(ctx, a, api.Init, req, "first checkpoint")
	if err != nil {
		return err
	}
	if !a.json {
		a.tellInit(r, o)
	}
	hooks := api.HooksRequest{Agents: names, DryRun: o.dryRun}
	var done api.HooksResponse
	var failed error
	if !off {
		done, failed = a.setHooks(ctx, hooks)
	}
	if a.json {
		return a.printJSON(newInitResult(r, done, off, failed))
	}
	switch {
	case failed != nil && ctx.Err() != nil:
		return &api.Error{
			Word: api.WordInterrupted, Message: "interrupted while hooks were registered: the project is set up",
			Hint: "'rewind config --register-hooks' registers them",
		}
	case failed != nil:
		a.hooksNote(failed)
	case off:
	case !installed(done):
		a.Say("hint: %s", noAgents(done))
	default:
		if err := a.tellHooks(done, hooks); err != nil {
			return err
		}
	}
	if !o.dryRun && !r.Exists {
		a.Say("hint: 'rewind save' takes a checkpoint, 'rewind checkout <checkpoint>' goes back to one")
	}
	return nil
}

// askSettings asks about a project's settings, where somebody can answer and has not answered ahead.
func (a *app) askSettings(ctx context.Context, req *api.InitRequest) (err error) {
	if !req.Settings && !req.DryRun && a.asks() {
		req.Settings, err = a.confirmSettings(ctx, *req)
	}
	return err
}

// tellHooks tells of hooks that were registered, or would be.
func (a *app) tellHooks(done api.HooksResponse, asked api.HooksRequest) error {
	if err := a.showHooks(a.Out, done, asked); err != nil {
		return err
	}
	a.programsNote(done, asked)
	a.agentNotes(done)
	if !asked.DryRun {
		a.Say("hint: restart the agents that are running; 'rewind validate' shows that their events arrive")
	}
	return nil
}

// asError is an error as an answer in JSON has it; nil of none.
func asError(failed error) *api.Error {
	if failed == nil {
		return nil
	}
	e := &api.Error{Word: api.WordFailed, Message: failed.Error()}
	_ = errors.As(failed, &e)
	e.Code = api.CodeOf(e.Word)
	return e
}

// confirmSettings asks a person about settings that lie in what is to be set up, and would have rewind remember less;
// it reports whether there were any.
func (a *app) confirmSettings(ctx context.Context, req api.InitRequest) (asked bool, err error) {
	req.DryRun = true
	r, err := call(ctx, a, api.Init, req, "")
	if err != nil || len(r.Doubtful) == 0 {
		return false, err
	}
	for _, line := range r.Doubtful {
		fmt.Fprintf(a.Err, "  %s\n", term.Sanitize(line))
	}
	ask := "These settings lie in " + term.Quote(string(r.Root)) +
		"/.agent/rewind/config.json, and rewind would remember less with " +
		"them. Only yes if you wrote them."
	return true, a.confirm(ask, nil, "nothing was set up; take them out of the file, then 'rewind init'")
}

func (a *app) tellInit(r api.InitResponse, o initOptions) {
	a.Notices(r.Notices)
	for _, line := range r.Doubtful {
		a.Say("note: init would ask about a setting that lies here: %s", line)
	}
	for _, s := range r.Offers {
		a.Say("note: %s, has no directory now: if this is its project, 'rewind stores join %.8s'", storeText(s), s.ID)
	}
	root, store := term.Quote(string(r.Root)), term.Quote(string(r.Store))
	switch {
	case o.dryRun && r.Exists:
		fmt.Fprintf(a.Out, "%s is set up already (%s mode, store %s)\n", root, r.Mode, store)
	case o.dryRun:
		fmt.Fprintf(a.Out,
			"would set up %s (%s mode)\n  make the store %s\n  make %s/.agent/rewind\n  take the first checkpoint\n",
			root, r.Mode, store, root)
	case r.Exists:
		fmt.Fprintf(a.Out, "%s is set up already (%s mode, store %s)\ncurrent checkpoint %s  %s\n", root, r.Mode, store,
			a.Styled(term.ID, r.Checkpoint.Short), render.Tally(*r.Checkpoint))
	default:
		fmt.Fprintf(a.Out, "set up %s (%s mode)\nstore %s\nfirst checkpoint %s  %s\n", root, r.Mode, store,
			a.Styled(term.ID, r.Checkpoint.Short), render.Tally(*r.Checkpoint))
		switch n := len(r.Skips); {
		case n > 0 && r.Checkpoint.Files == 0:
			a.Say("nothing of this project is captured: all of it is left out; 'rewind show @' says why")
		case n > 0:
			a.Say("%s not captured; 'rewind show @' lists them", render.Count(n, "path"))
		}
	}
}
