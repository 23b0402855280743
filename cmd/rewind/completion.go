package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// completionOf makes the command that prints a shell's script say which shells it knows.
func completionOf(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage("completion %s: no such shell: want bash, zsh, fish or powershell", args[0])
		}
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
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
