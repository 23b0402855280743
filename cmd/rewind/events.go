package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newEvents(a *app) *cobra.Command {
	req, since := api.EventsRequest{}, uint64(0)
	cmd := &cobra.Command{
		Use:   "events [--since <operation>]",
		Short: "Print events as they happen",
		Long: "Prints a line for each event in the project: turns, checkpoints, restores, sessions, forks that " +
			"were found, captures that fail. It ends with Ctrl-C, or with the daemon, which sends the events. " +
			"--json prints an object a line; give its 'since' to another call to continue there.",
		Example: "  rewind events\n  rewind events --since 120 --json",
		Args:    takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Project = a.project()
			if cmd.Flags().Changed("since") {
				req.Since = &since
			}
			return runEvents(cmd.Context(), a, req)
		},
	}
	cmd.Flags().Uint64Var(&since, "since", 0, "begin with what came behind this operation; 0: with all there is, up to 10,000 operations")
	return cmd
}

func runEvents(ctx context.Context, a *app, req api.EventsRequest) error {
	last := uint64(0)
	for ev, err := range api.Events(ctx, a.client, req) {
		if err == nil {
			last = ev.Since
			err = a.tellEvent(ev)
		}
		if err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	a.Say("the daemon ended; 'rewind events --since %d' goes on", last)
	return nil
}

func (a *app) tellEvent(ev api.Event) error {
	if a.json {
		return a.printJSON(ev)
	}
	clock, what, words := "", ev.Session, ev.Event
	switch {
	case ev.Event == api.EventReady:
		a.Say("events are shown as they happen; Ctrl-C ends it")
		return nil
	case ev.Event == api.EventReset:
		what = "some were missed: what is known of the project is to be asked for anew"
	case ev.Fork != nil:
		what += " from " + ev.Fork.Session
	case ev.Degraded != nil:
		what = string(ev.Degraded.Error)
	case ev.Operation != nil && what == "":
		what = opText(*ev.Operation)
	}
	if ev.Operation != nil {
		clock = a.Clock(ev.Operation.Time)
	}
	t := a.Table(term.Column{Right: true}, term.Column{}, term.Column{}, term.Column{Flex: true})
	t.Row(term.Cell{Text: fmt.Sprint(ev.Since), Style: term.ID}, term.Cell{Text: clock, Style: term.Dim},
		term.Cell{Text: words, Style: term.Bold}, term.Cell{Text: render.Words(what)})
	return t.Flush(a.Out)
}
