package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
)

// newHelp is the command that shows the page of another, or of a topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [command | topic]", Short: "Show the page of a command or a topic",
		Example: "  rewind help checkout\n  rewind help checkpoints\n  rewind help agents",
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
			if len(args) == 1 && !isCommand(of, args[0]) {
				if page, known := wishHelp(args[0]); known {
					fmt.Fprint(cmd.OutOrStdout(), page)
					return nil
				}
			}
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
