package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newTag(a *app) *cobra.Command {
	req := api.TagRequest{}
	cmd := &cobra.Command{
		Use:     "tag [<name> [checkpoint]] [--session <session>] [--force] [--delete]",
		Short:   "Name a checkpoint, or list the names",
		Long:    "Gives a checkpoint a name; a tagged checkpoint is kept. Without a name it lists the tags.",
		Example: "  rewind tag works\n  rewind tag before-refactoring @~3\n  rewind tag --delete works",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 2 || req.Delete && len(args) != 1:
				return usage("tag takes a name and a checkpoint; --delete takes a name")
			case req.Delete && req.Force:
				return usage("--delete and --force exclude each other")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, s string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completePlaces(a, 2, &req.Session)(cmd, args, s)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return runTags(cmd.Context(), a)
			}
			req.Project, req.Tag, req.Choose = a.project(), api.Text(args[0]), a.OutTTY
			if len(args) > 1 {
				var err error
				if req.Checkpoint, err = a.checkpointName(args[1]); err != nil {
					return err
				}
			}
			return runTag(cmd.Context(), a, req)
		},
	}
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
	cmd.Flags().BoolVarP(&req.Force, "force", "f", false, "move a tag that exists")
	cmd.Flags().BoolVarP(&req.Delete, "delete", "d", false, "delete the tag; the checkpoint stays")
	return cmd
}

func runTag(ctx context.Context, a *app, req api.TagRequest) error {
	r, said, err := ask(ctx, a, api.Tag, req, "tagging")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if r.Checkpoint == nil {
		fmt.Fprintf(a.Out, "deleted tag %s\n", r.Tag)
		return nil
	}
	fmt.Fprintf(a.Out, "%s names %s  %s\n", r.Tag, a.Styled(term.ID, r.Checkpoint.Short), term.Sanitize(render.What(*r.Checkpoint)))
	return nil
}

func runTags(ctx context.Context, a *app) error {
	r, said, err := ask(ctx, a, api.Tags, api.TagsRequest{Project: a.project()}, "listing")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	if len(r.Tags) == 0 {
		a.Say("no tags yet; 'rewind tag <name>' names the current checkpoint")
		return nil
	}
	return a.paged(func(w io.Writer) error {
		t := a.Table(term.Column{}, term.Column{}, term.Column{}, term.Column{Flex: true})
		for _, tag := range r.Tags {
			t.Row(term.Cell{Text: tag.Tag, Style: term.Bold}, term.Cell{Text: tag.Checkpoint.Short, Style: term.ID},
				term.Cell{Text: a.Time(tag.Checkpoint.Time), Style: term.Dim}, term.Cell{Text: render.What(*tag.Checkpoint)})
		}
		return t.Flush(w)
	})
}
