package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/term"
)

// commands are the commands by the groups in which help lists them.
var commands = map[string]map[string]func(*app) *cobra.Command{
	"work": {"save": newSave, "list": newList, "show": newShow, "diff": newDiff, "cat": newCat, "tag": newTag},
	"find": {"grep": newGrep, "blame": newBlame},
	"back": {"checkout": newCheckout, "undo": newUndo, "redo": newRedo, "undo-restore": newUndoRestore, "ops": newOps},
	"conversation": {
		"fork": newFork, "clone": newClone, "turns": newTurns, "sessions": newSessions, "forks": newForks,
	},
	"keep": {
		"init": newInit, "stores": newStores, "status": newStatus, "validate": newValidate, "doctor": newDoctor, "verify": newVerify, "gc": newGC,
		"purge": newPurge, "config": newConfig, "daemon": newDaemon,
	},
}

// newRoot makes the command line for its arguments. Where the first names a command none but that is made: to make all takes longer than most do.
func newRoot(a *app, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "rewind",
		Short: "Perfect memory and perfect undo for work with coding agents",
		Long: "rewind keeps every state of a project that a coding agent works on and gives any of them back.\n" +
			"Every restore can be undone, and nothing that was not stored is ever overwritten.",
		Args:          unknownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE:          func(*cobra.Command, []string) error { return a.settle() },
		RunE:                       func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a) },
	}
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print versioned JSON objects")
	f.StringVar(&a.color, "color", "auto", "when to use colour: auto, always or never")
	f.StringVarP(&a.dir, "directory", "C", "", "run as if started in `dir`")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &api.Error{Word: api.WordUsage, Message: parseNoise.ReplaceAllString(err.Error(), ""), Hint: fmt.Sprintf("'%s --help' shows the usage", cmd.CommandPath())}
	})
	root.AddGroup(&cobra.Group{ID: "work", Title: "Checkpoints:"}, &cobra.Group{ID: "find", Title: "Finding:"}, &cobra.Group{ID: "back", Title: "Going back:"},
		&cobra.Group{ID: "conversation", Title: "Conversations:"}, &cobra.Group{ID: "keep", Title: "The store:"})
	if !addNamed(a, root, args) {
		for group, list := range commands {
			for _, build := range list {
				root.AddCommand(grouped(build(a), group))
			}
		}
		root.AddCommand(newHook(a), newVersion(a))
		root.AddCommand(topics()...)
	}
	usageArgs(root)
	return root
}

// addNamed adds the command that the first argument names.
func addNamed(a *app, root *cobra.Command, args []string) bool {
	if len(args) == 0 {
		return false
	}
	for group, list := range commands {
		if build := list[args[0]]; build != nil {
			root.AddCommand(grouped(build(a), group))
			return true
		}
	}
	return false
}

func grouped(c *cobra.Command, group string) *cobra.Command {
	c.GroupID = group
	return c
}

// unknownCommand refuses what is no command, with the one that was probably meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &api.Error{Word: api.WordUsage, Message: fmt.Sprintf("unknown command %q", args[0]), Hint: fmt.Sprintf("'%s --help' lists the commands", cmd.CommandPath())}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.Hint = fmt.Sprintf("did you mean '%s %s'?", cmd.CommandPath(), near[0])
	}
	return e
}

// parseNoise is what strconv says of itself in errors of flags.
var parseNoise = regexp.MustCompile(`strconv\.\w+: parsing "[^"]*": `)

// usageArgs makes every complaint about arguments an error of usage with a remedy.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			var told *api.Error
			if err == nil || errors.As(err, &told) {
				return err
			}
			return &api.Error{Word: api.WordUsage, Message: err.Error(), Hint: fmt.Sprintf("'%s --help' shows the usage", c.CommandPath())}
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

// topics are pages of help that are no commands.
func topics() []*cobra.Command {
	var codes strings.Builder
	for _, c := range api.ExitCodes() {
		fmt.Fprintf(&codes, "  %3d  %-12s  %s\n", c.Code, c.Word, c.Meaning)
	}
	var forms strings.Builder
	for _, f := range naming.Forms() {
		name, is, _ := strings.Cut(f, "  ")
		fmt.Fprintf(&forms, "  %-18s%s\n", name, is)
	}
	return []*cobra.Command{
		{
			Use: "exit-codes", Short: "What exit codes mean",
			Long: "Exit codes of rewind:\n\n" + codes.String() + "\n2 is never used: agents read it as \"block\".",
		},
		{
			Use: "checkpoints", Short: "How checkpoints are named",
			Long: "Wherever a checkpoint is wanted, it can be named by:\n\n" + forms.String() +
				"\nTimes are those of the clock and the zone of whoever types them. A session is named by its id, or how it begins.",
		},
		{
			Use: "environment", Short: "Environment variables",
			Long: "  REWIND_WATCH      'off': the daemon looks at every file at each capture instead of having the project watched\n" +
				"  REWIND_HOME       where stores and the global configuration are (default: ~/.rewind)\n" +
				"  REWIND_DAEMON     off: no daemon; each command starts a rewindd of its own\n" +
				"  CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, FACTORY_HOME_OVERRIDE\n" +
				"                    where agents keep their settings, as they themselves read it\n" +
				"  PAGER, LESS       the pager for long output on a terminal\n" +
				"  NO_COLOR          no colour; CLICOLOR_FORCE forces it; TERM=dumb: neither colour nor progress",
		},
	}
}

// completePlaces offers the turns of a session, their ends and where their prompts were typed, then checkpoints.
func completePlaces(a *app, most int, session *string) cobra.CompletionFunc {
	checkpoints := completeCheckpoints(a, most)
	return func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		list, how := checkpoints(cmd, args, word)
		if len(args) >= most {
			return list, how
		}
		r, err := api.Call(cmd.Context(), a.client, api.Turns, api.TurnsRequest{Project: a.project(), Walk: api.Walk{Session: *session, Choose: true}}, nil)
		if err != nil {
			return list, how
		}
		var ends, before []string
		for _, t := range r.Turns {
			ends = append(ends, fmt.Sprintf("turn:%d\t%s", t.Turn, term.Sanitize("the end of: "+string(t.Prompt))))
			before = append(before, fmt.Sprintf("before:%d\t%s", t.Turn, term.Sanitize("before: "+string(t.Prompt))))
		}
		return append(append(ends, before...), list...), how
	}
}

// completeCheckpoints offers checkpoints with what they are.
func completeCheckpoints(a *app, most int) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most || a.settle() != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		r, err := api.Call(cmd.Context(), a.client, api.List, api.ListRequest{Project: a.project(), Limit: 30}, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, c := range r.Checkpoints {
			out = append(out, c.Short+"\t"+term.Sanitize(fmt.Sprintf("%s %s", term.Ago(a.Now(), c.Time), what(c))))
			for _, t := range c.Tags {
				out = append(out, t+"\ttag of "+c.Short)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
