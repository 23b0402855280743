package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/naming"
	"rewind/internal/render"
	"rewind/internal/term"
	"rewind/internal/value"
)

func newStatus(a *app) *cobra.Command {
	verbose, format := false, ""
	cmd := &cobra.Command{
		Use:   "status [-v]",
		Short: "Show where you stand, what is unsaved, what is wrong",
		Long: "Shows the current checkpoint, what is unsaved, how far redo could go, and the turn. Then it shows only what is wrong " +
			"or needs your attention.\n" +
			"-v adds the rest: store, daemon, sessions, hooks, what is not captured.\n\n" +
			"--format prints a line by a template, for a prompt or a status line. It shows only what is known at once: it compares no\n" +
			"files, waits for no capture and starts no daemon. If no daemon runs, that is an error. " +
			fmt.Sprintf(formatHelp, "current.short"),
		Example: "  rewind status\n  rewind status -v\n  rewind status --json\n" +
			"  rewind status --format '{{.current.short}} turn:{{.current.turn}}'",
		Args: takesNone,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format != "" {
				return a.runGlance(cmd.Context(), format)
			}
			return runStatus(cmd.Context(), a, verbose)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "a line by this `template`, at once; for prompts")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "what is in order, too")
	return cmd
}

// glanceFields are what status knows at once.
var glanceFields = []string{
	"root", "mode", "store", "store_id", "checkpoints", "safety", "current", "position", "ahead", "half_done",
	"last_operation", "daemon",
	"degraded", "activity",
}

// runGlance prints what is known of the project at once.
func (a *app) runGlance(ctx context.Context, text string) error {
	f, err := a.newFormat(text)
	if err != nil {
		return err
	}
	a.transport.only = true
	env := agentEnv()
	r, err := api.Call(ctx, a.client, api.Status, api.StatusRequest{Project: a.project(), Env: &env, Glance: true}, nil)
	if err != nil {
		return err
	}
	return f.write(a.Out, &r, glanceFields)
}

func runStatus(ctx context.Context, a *app, verbose bool) error {
	env := agentEnv()
	r, err := call(ctx, a, api.Status, api.StatusRequest{Project: a.project(), Env: &env}, "comparing")
	if err != nil {
		return err
	}
	a.noDaemonCheck(r.Checks)
	if a.json {
		return a.printJSON(r)
	}
	a.Notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.showStatus(w, r, verbose)
		return nil
	})
}

func (a *app) showStatus(w io.Writer, r api.StatusResponse, verbose bool) {
	row := func(name, text string) { fmt.Fprintf(w, "%-11s %s\n", name, text) }
	a.statusPlace(w, row, r)
	a.statusFindings(w, row, r)
	a.statusChecks(w, r.Checks, verbose)
	for i, s := range r.AtWork {
		name := "at work"
		if i > 0 {
			name = ""
		}
		row(name, a.WorkText(s))
	}
	if act := r.Activity; act != nil {
		text := "busy"
		if act.What != "" {
			text = render.WorkOf(*act)
		} else if !act.Since.IsZero() {
			text = fmt.Sprintf("a capture is under way, since %s: %s, %s so far", a.Time(act.Since),
				render.Count(act.Files, "file"), term.Size(act.Bytes))
		}
		row("at work", text)
	}
	if !verbose {
		if n := len(r.Skips); n > 0 {
			row("skipped", render.Count(n, "path")+"; 'rewind status -v' says which, and why")
		}
		for _, s := range r.Sessions {
			for _, u := range s.NotCaptured {
				name := "edited"
				if u.Reason == value.ReasonOutside {
					name = "outside"
				}
				row(name, "not captured, edited by "+render.SessionWords(s.Session)+": "+render.UncapturedPath(u))
			}
		}
		return
	}
	if n := len(r.Skips); n > 0 {
		row("skipped", render.Count(n, "path"))
		a.SkipLines(w, r.Skips, 5)
	}
	a.sessionLines(row, r)
	row("project", term.Quote(string(r.Root)))
	row("store", fmt.Sprintf("%s (%s mode, %s)", term.Quote(string(r.Store)), r.Mode, term.Size(r.DiskBytes)))
	steps := render.Count(r.Checkpoints, "checkpoint")
	if r.Safety > 0 {
		steps += fmt.Sprintf(", %s", render.Count(r.Safety, "safety checkpoint"))
	}
	row("holds", steps)
	if n := r.SessionCount; n > 0 {
		row("sessions", fmt.Sprintf("%d known, %s; 'rewind sessions' lists them", n, term.Size(r.SessionBytes)))
	}
	if r.Daemon.Running {
		row("daemon", a.daemonText(r.Daemon))
	}
}

// statusPlace tells where the project stands.
func (a *app) statusPlace(w io.Writer, row func(name, text string), r api.StatusResponse) {
	if r.Current == nil {
		if r.Activity == nil {
			row("current", "none yet; 'rewind save' takes the first checkpoint")
		}
		return
	}
	c := r.Current
	row("current",
		fmt.Sprintf("%s  %s  %s", a.Styled(term.ID, c.Short), a.Time(c.Time), term.Sanitize(render.What(*c))))
	switch {
	case r.Activity != nil: // not compared
	case len(r.Changes) == 0:
		row("unsaved", "nothing")
	default:
		row("unsaved", render.Count(len(r.Changes), "path"))
		a.ChangeLines(w, r.Changes, 20)
	}
	if r.Ahead > 0 {
		row("ahead", render.Count(r.Ahead, "step")+"; 'rewind redo' goes forward")
	}
	at := r.At
	if at == nil { // no agent's session goes on from here
		at = &api.TurnAt{Session: c.Session, Turn: c.Turn, Prompt: c.Prompt}
	}
	if at.Turn > 0 {
		text := render.SessionTurn(at.Turn, at.Session) + ": " + term.Sanitize(render.Words(string(at.Prompt)))
		if a.OutTTY && a.Width > statusName {
			text = term.Truncate(text, a.Width-statusName)
		}
		row("turn", text)
	}
}

// statusName is how many columns the name of a row of status takes.
const statusName = 12

// statusFindings tells what is wrong, or asks for a look.
func (a *app) statusFindings(w io.Writer, row func(name, text string), r api.StatusResponse) {
	if r.HalfDone != "" {
		row("half done",
			a.Styled(term.Warn,
				fmt.Sprintf("a checkout of %.12s; 'rewind checkout --continue' finishes it, '--abort' takes it back",
					r.HalfDone)))
	}
	if d := r.Degraded; d != nil {
		row("degraded",
			a.Styled(term.Warn, fmt.Sprintf("hooks could not do their work, since %s, %s, last: %s", a.Time(d.Since),
				render.Count(d.Count, "time"), term.Sanitize(string(d.Error)))))
	}
	if !r.Daemon.Running && a.transport.noDaemon != nil {
		row("daemon", a.Styled(term.Warn, "cannot run, each command starts a rewindd of its own: "+
			term.Sanitize(a.transport.noDaemon.Error())))
	}
	if op := r.Pruned; op != nil {
		row("pruned", fmt.Sprintf("%s that nobody used, %s; 'rewind undo-restore %d' brings them back",
			render.Count(len(op.Managed), "fork"), a.Time(op.Time), op.Seq))
	}
	if w := r.Watcher; w != nil && !w.Healthy && !w.Starting {
		row("watcher",
			fmt.Sprintf("every capture looks at every file, since %s: %s", a.Time(w.Since), term.Sanitize(w.Reason)))
	}
	if n := len(r.Stages); n > 0 {
		row("kept bytes",
			a.Styled(term.Warn, "of files that changed while a restore ran; look at them, then remove them"))
		for _, s := range r.Stages {
			fmt.Fprintf(w, "  %s\n", term.Quote(string(s)))
		}
	}
	a.statusLeaks(w, r.Leaks, r.SaidLeaks)
}

// shownSessions is how many sessions status names, besides those with edits outside of the project.
const shownSessions = 5

// sessionLines names the agents' sessions, the newest first.
func (a *app) sessionLines(row func(name, text string), r api.StatusResponse) {
	shown := 0
	for i, s := range r.Sessions {
		if i >= shownSessions && len(s.NotCaptured) == 0 {
			continue
		}
		shown++
		name := "session"
		if i > 0 {
			name = ""
		}
		event := term.Sanitize(s.Event)
		switch {
		case event != "":
		case s.Ended:
			event = "imported, from"
		default: // a fork
			event = "not used yet, made"
		}
		text := fmt.Sprintf("%s  %s  %s %s", render.SessionWords(s.Session), naming.TurnWords(s.Turn, ""),
			event, a.Time(s.Last))
		if s.Session == r.Position {
			text += "  current"
		}
		row(name, text)
		for _, u := range s.NotCaptured {
			row("", "  not captured, edited by it: "+render.UncapturedPath(u))
		}
	}
	if more := r.SessionCount - shown; more > 0 {
		row("", fmt.Sprintf("and %d more", more))
	}
}
