package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"rewind/api"
)

// commands are the commands by the groups in which help lists them.
var commands = map[string]map[string]func(*app) *cobra.Command{
	"work": {
		"save": newSave, "list": newList, "show": newShow, "diff": newDiff, "compare": newCompare, "cat": newCat,
		"tag": newTag,
	},
	"find": {"ui": newUI, "grep": newGrep, "blame": newBlame, "bisect": newBisect, "events": newEvents, "mcp": newMCP},
	"back": {
		"checkout": newCheckout, "switch": newSwitch, "forward": newForward, "undo": newUndo, "redo": newRedo,
		"undo-restore": newUndoRestore,
		"pick":         newPick, "revert": newRevert, "ops": newOps,
	},
	"conversation": {
		"fork": newFork, "clone": newClone, "turns": newTurns, "sessions": newSessions, "forks": newForks,
		"tree":      newTree,
		"worktrees": newWorktrees,
		"future":    newFuture,
	},
	"keep": {
		"init": newInit, "stores": newStores, "status": newStatus, "validate": newValidate, "doctor": newDoctor,
		"verify": newVerify,
		"gc":     newGC,
		"purge":  newPurge, "config": newConfig, "daemon": newDaemon, "uninstall": newUninstall,
	},
}

// aliases are other names of commands.
var aliases = map[string]string{"st": "status", "ls": "list", "log": "list", "co": "checkout", "restore": "checkout"}

// newRoot makes the command line for its arguments. Where the first names a command none but that is made: to make all
// takes longer than most do.
func newRoot(a *app, args []string) *cobra.Command {
	plain := false
	root := &cobra.Command{
		Use:   "rewind",
		Short: "Perfect memory and perfect undo for work with coding agents",
		Long: `Which one when:
  rewind                    look around: what each turn did; '?' lists the keys
  rewind undo --turn        take back what the agent did last
  rewind checkout before:5  go back to where prompt 5 was typed, talk and all
  rewind fork turn:4        go another way from there, in a new session
  rewind grep <words>       find what is gone, and what was said
  rewind undo-restore       take any of these back

rewind keeps every state of a project that a coding agent works on, and gives any
of them back. What is there now is stored first: every restore can be undone.`,
		Args:              unknownCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           version(),
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.settle() },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plain || a.picks() {
				return a.runPicker(cmd.Context(), plain)
			}
			return runStatus(cmd.Context(), a, false)
		},
	}
	root.Flags().BoolVar(&plain, "plain", false,
		"the picker line by line, for screen readers")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(cmd.OutOrStdout(), helpPage(cmd)) })
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print versioned JSON objects")
	f.StringVar(&a.color, "color", "auto", "colour: auto, always or never")
	f.StringVarP(&a.dir, "directory", "C", "", "run as if started in `dir`")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 {
			return unknownCommand(cmd, words) // whose flags nobody knows
		}
		return &api.Error{
			Word: api.WordUsage, Message: parseNoise.ReplaceAllString(err.Error(), ""),
			Hint: fmt.Sprintf("'%s --help' shows the usage", cmd.CommandPath()),
		}
	})
	root.AddGroup(&cobra.Group{ID: "work", Title: "Checkpoints:"}, &cobra.Group{ID: "find", Title: "Finding:"},
		&cobra.Group{ID: "back", Title: "Going back:"},
		&cobra.Group{ID: "conversation", Title: "Conversations:"}, &cobra.Group{ID: "keep", Title: "The store:"})
	if !addNamed(a, root, args) {
		for group, list := range commands {
			for _, build := range list {
				root.AddCommand(grouped(build(a), group))
			}
		}
		root.AddCommand(newHook(a), newVersion(a), grouped(newMan(a), "keep")) // not in the table: man describes it
		root.AddCommand(topics()...)
		root.SetHelpCommand(newHelp())
		completionOf(root)
	}
	usageArgs(root)
	return root
}

// addNamed adds the command that the first argument names.
func addNamed(a *app, root *cobra.Command, args []string) bool {
	if len(args) == 0 {
		return false
	}
	name := args[0]
	if whole, ok := aliases[name]; ok {
		name = whole
	}
	for group, list := range commands {
		if build := list[name]; build != nil {
			root.AddCommand(grouped(build(a), group))
			return true
		}
	}
	return false
}

func grouped(c *cobra.Command, group string) *cobra.Command {
	c.GroupID = group
	for short, whole := range aliases {
		if whole == c.Name() {
			c.Aliases = append(c.Aliases, short)
		}
	}
	slices.Sort(c.Aliases)
	return c
}

// unknownCommand refuses what is no command, with those that were probably meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &api.Error{
		Word: api.WordUsage, Message: fmt.Sprintf("unknown command %q", args[0]),
		Hint: fmt.Sprintf("'%s --help' lists the commands", cmd.CommandPath()),
	}
	if near := suggestions(args[0], commandWords(cmd)); len(near) > 0 {
		e.Hint = didYouMean(cmd.CommandPath(), near)
	}
	if below := commandsBelow(cmd, args[0]); len(below) > 0 {
		e.Hint = didYouMean(cmd.CommandPath(), below)
	}
	e.Hint = cmp.Or(wished(args[0]), e.Hint)
	return e
}

// commandsBelow are the commands of that name that another one has: 'forks rename'.
func commandsBelow(root *cobra.Command, name string) (found []string) {
	for _, group := range root.Commands() {
		for _, c := range group.Commands() {
			if c.Name() == name {
				found = append(found, group.Name()+" "+name)
			}
		}
	}
	return found
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
			return &api.Error{
				Word: api.WordUsage, Message: err.Error(),
				Hint: fmt.Sprintf("'%s --help' shows the usage", c.CommandPath()),
			}
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}
