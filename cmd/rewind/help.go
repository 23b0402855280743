package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
)

// newHelp is the command that shows the page of another, or of a topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [command | topic]", Short: "Show the page of a command or a topic",
		Example: "  rewind help checkout\n  rewind help checkpoints",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var list []string
			of, _, err := cmd.Root().Find(args)
			if err != nil || of == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
					list = append(list, c.Name()+"\t"+c.Short)
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of := cmd.Root()
			for _, word := range args {
				next, rest, err := of.Find([]string{word})
				if err != nil || len(rest) > 0 {
					return unknownTopic(of, word)
				}
				of = next
			}
			of.InitDefaultHelpFlag()
			of.InitDefaultVersionFlag()
			return of.Help()
		},
	}
}

func unknownTopic(of *cobra.Command, word string) error {
	e := &api.Error{Word: api.WordUsage, Message: fmt.Sprintf("no help on %q", word), Hint: "'rewind help' lists commands and topics"}
	words := commandWords(of)
	for _, c := range of.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			words = append(words, c.Name())
		}
	}
	if near := suggestions(word, words); len(near) > 0 {
		e.Hint = didYouMean(strings.Replace(of.CommandPath(), "rewind", "rewind help", 1), near)
	}
	return e
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
