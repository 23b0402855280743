package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rewind/api"
	"rewind/internal/value"
)

// again is how a restore is typed once more. The zero value: it cannot be.
type again struct {
	cmd    *cobra.Command
	args   []string
	paths  []api.Text
	before string // of 'undo --turn': where that went, by name
	counts bool   // it counts from where the project stands, so that what it did must be undone first
}

// merging is the command that goes where the restore r went, and merges; "": there is none.
func (g again) merging(r api.RestoreResponse) string {
	if g.cmd == nil || !r.Mergeable {
		return ""
	}
	words := append([]string{g.cmd.Name()}, g.args...)
	if g.before != "" {
		words = append(words, "--to", g.before)
	}
	words = append(append(words, g.flags()...), "--merge")
	if f := g.cmd.Flag("session"); f != nil && !f.Changed && r.Whose != "" {
		words = append(words, "--session", r.Whose)
	}
	if len(g.paths) > 0 {
		words = append(append(words, "--"), value.Strings(g.paths)...)
	}
	line := commandLine(words)
	if g.counts && r.Operation > 0 {
		line = "rewind undo-restore && " + line
	}
	return line
}

// flags are those that were typed and that have the same meaning beside --merge.
func (g again) flags() (words []string) {
	g.cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case slices.Contains([]string{"merge", "turn", "dry-run", "plan"}, f.Name):
		case f.NoOptDefVal != "":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	for i, w := range words {
		if n := len(w) - len("=true"); n > 0 && w[n:] == "=true" {
			words[i] = w[:n]
		}
	}
	return words
}
