package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newSave(a *app) *cobra.Command {
	message, session := "", ""
	cmd := &cobra.Command{
		Use:   "save [message]",
		Short: "Take a checkpoint of the project as it is now",
		Long: "Takes a checkpoint of the project as it is now. If nothing has changed since the current one, " +
			"the message is added to that one.",
		Example: "  rewind save\n  rewind save 'parser works'",
		Args:    takes(0, 1, "one message: put it in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := api.SaveRequest{Project: a.project(), Session: session}
			switch {
			case len(args) > 0 && message != "":
				return usage("save: give the message once")
			case len(args) > 0:
				message = args[0]
			}
			req.Message = api.Text(message)
			return runSave(cmd.Context(), a, req)
		},
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "the message, as git has it")
	sessionFlag(a, cmd, &session, "put it on the branch of this `session`")
	return cmd
}

func runSave(ctx context.Context, a *app, req api.SaveRequest) error {
	r, said, err := ask(ctx, a, api.Save, req, "saving")
	if err != nil || said {
		return err
	}
	a.Notices(r.Notices)
	cp := r.Checkpoint
	if r.Unchanged {
		text := ""
		switch {
		case r.Noted:
			text = "; noted on it: " + term.Sanitize(string(req.Message))
		case req.Message != "":
			text = "; it has that message already"
		}
		fmt.Fprintf(a.Out, "%s  nothing changed since %s%s\n", a.Styled(term.ID, cp.Short), a.Time(cp.Time), text)
		return nil
	}
	line := a.Styled(term.ID, cp.Short) + "  " + render.Tally(cp)
	if cp.Message != "" {
		line += "  " + term.Sanitize(string(cp.Message))
	}
	fmt.Fprintln(a.Out, line)
	for _, s := range r.Uncaptured {
		a.Say("note: %s is still there, but no longer captured: %s", term.Quote(string(s.Path)), s.Reason)
	}
	for _, s := range r.Skips {
		if s.Reason == "torn" {
			a.Say("warning: %s changed while it was read; save again for a clean copy", term.Quote(string(s.Path)))
		}
	}
	return nil
}
