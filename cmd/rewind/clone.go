package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newClone(a *app) *cobra.Command {
	req := api.CloneRequest{}
	cmd := &cobra.Command{
		Use:   "clone [session] [--session <session>] [--title <title>]",
		Short: "Copy a whole session as a new one",
		Long: "Makes a new session with the whole conversation of another, by default the current one, and " +
			"prints the command that opens it. From then on the two are independent.",
		Example:           "  rewind clone\n  rewind clone 1a2b3c4d --title 'second attempt'",
		Args:              takes(0, 1, "one session"),
		ValidArgsFunction: completeSessions(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Env, req.Choose = a.project(), agentEnv(), a.OutTTY
			if err := sessionArgument(cmd, args, &req.Session); err != nil {
				return err
			}
			return runClone(cmd.Context(), a, req)
		},
	}
	cmd.Flags().StringVar((*string)(&req.Title), "title", "", "the new session's `title`; default: that of the old one behind \"[Copy] \"")
	sessionFlag(a, cmd, &req.Session, "copy this `session`, as the argument")
	return cmd
}

func runClone(ctx context.Context, a *app, req api.CloneRequest) error {
	r, said, err := ask(ctx, a, api.MakeClone, req, "copying")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	fmt.Fprintf(a.Out, "cloned %s: %s (%s)\n", term.Sanitize(render.ShortSession(r.From.Session)), term.Sanitize(string(r.Title)),
		render.Count(r.Messages, "message"))
	a.WhereForked(r.Fork)
	a.TellForkNotes(r.Fork)
	return nil
}
