package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// takes is the check of a command with least to most arguments; what says in words which they are.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("%s takes %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), what)
		}
		return nil
	}
}

// takesNone is the check of a command without arguments.
func takesNone(cmd *cobra.Command, args []string) error {
	return takes(0, 0, "no arguments")(cmd, args)
}
