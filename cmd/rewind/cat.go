package main

import (
	"strings"

	"github.com/spf13/cobra"

	"rewind/api"
)

func newCat(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cat <checkpoint>:<path>",
		Short: "Print a file as it was",
		Long:  "Prints a file as a checkpoint holds it. The path is relative to the project's root; with ./ or ../ in front, to the\ncurrent directory.",
		Example: "  rewind cat @~2:src/main.go\n" +
			"  rewind cat 3f2a91c4:./notes.txt > notes.old",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeCheckpoints(a, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cp, path, err := splitCat(args[0])
			if err != nil {
				return err
			}
			return a.client.Cat(cmd.Context(), api.CatRequest{Project: a.project(), Checkpoint: api.Text(cp), Path: api.Text(path)}, a.Out)
		},
	}
}

// splitCat divides at the colon that ends the checkpoint: times in braces and "session:" have colons of their own.
func splitCat(arg string) (cp, path string, err error) {
	from := 0
	if strings.HasPrefix(arg, "session:") {
		from = len("session:")
	}
	if strings.HasPrefix(arg, "@{") {
		from = max(strings.IndexByte(arg, '}'), 0)
	}
	i := strings.IndexByte(arg[from:], ':')
	if i < 0 || from+i == 0 || from+i+1 == len(arg) {
		return "", "", usage("cat %q: want <checkpoint>:<path>", arg)
	}
	return arg[:from+i], arg[from+i+1:], nil
}
