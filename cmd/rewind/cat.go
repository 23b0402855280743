package main

import (
	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
)

func newCat(a *app) *cobra.Command {
	req := api.CatRequest{}
	cmd := &cobra.Command{
		Use:   "cat <checkpoint>:<path> [--session <session>]",
		Short: "Print a file as it was",
		Long: "Prints a file as a checkpoint holds it. The path is relative to the project's root; with ./ or ../ in front, to the\n" +
			"current directory.",
		Example: "  rewind cat @~2:src/main.go\n" +
			"  rewind cat turn:3:README.md\n" +
			"  rewind cat 3f2a91c4:./notes.txt > notes.old\n" +
			"  rewind cat ../try:@:src/main.go",
		Args:              takes(1, 1, "one <checkpoint>:<path>"),
		ValidArgsFunction: completeFiles(a, &req.Session),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, in, there := a.splitPlace(args[0])
			name, path, ok := naming.SplitPath(in)
			if there {
				name = dir + ":" + name
			}
			if !ok {
				err := usage("cat %q: want <checkpoint>:<path>", args[0])
				return a.meantPath(cmd.Context(), err, args[0], "rewind cat @:./%s")
			}
			var err error
			if req.Checkpoint, err = a.checkpointName(name); err != nil {
				return err
			}
			req.Project, req.Path, req.Choose = a.project(), api.Text(path), a.OutTTY
			return a.client.Cat(cmd.Context(), req, a.Out)
		},
	}
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	return cmd
}
