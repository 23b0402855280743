package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show the project: store, current checkpoint, unsaved changes",
		Example: "  rewind status\n  rewind status --json",
		Args:    takesNone,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a) },
	}
}

func runStatus(ctx context.Context, a *app) error {
	env := agentEnv()
	r, err := call(ctx, a, api.Status, api.StatusRequest{Project: a.project(), Env: &env}, "comparing")
	if err != nil {
		return err
	}
	a.noDaemonCheck(r.Checks)
	if a.json {
		return a.printJSON(r)
	}
	a.notices(r.Notices)
	return a.paged(func(w io.Writer) error {
		a.showStatus(w, r)
		return nil
	})
}

func (a *app) showStatus(w io.Writer, r api.StatusResponse) {
	row := func(name, text string) { fmt.Fprintf(w, "%-11s %s\n", name, text) }
	row("project", term.Quote(string(r.Root)))
	row("store", fmt.Sprintf("%s (%s mode, %s)", term.Quote(string(r.Store)), r.Mode, term.Size(r.DiskBytes)))
	steps := count(r.Checkpoints, "checkpoint")
	if r.Safety > 0 {
		steps += fmt.Sprintf(", %s", count(r.Safety, "safety checkpoint"))
	}
	row("holds", steps)
	if r.Daemon.Running {
		row("daemon", a.daemonText(r.Daemon))
	} else if a.transport.noDaemon != nil {
		row("daemon", a.Styled(term.Warn, "cannot run, each command starts a rewindd of its own: "+term.Sanitize(a.transport.noDaemon.Error())))
	}
	if w := r.Watcher; w != nil && !w.Healthy {
		row("watcher", fmt.Sprintf("every capture looks at every file, since %s: %s", a.Time(w.Since), term.Sanitize(w.Reason)))
	}
	if d := r.Degraded; d != nil {
		row("degraded", a.Styled(term.Warn, fmt.Sprintf("hooks could not do their work, since %s, %s, last: %s", a.Time(d.Since), count(d.Count, "time"), term.Sanitize(string(d.Error)))))
	}
	a.statusChecks(w, r.Checks)
	if r.HalfDone != "" {
		row("half done", a.Styled(term.Warn, fmt.Sprintf("a checkout of %.12s; 'rewind checkout --continue' finishes it, '--abort' takes it back", r.HalfDone)))
	}
	if n := len(r.Stages); n > 0 {
		row("kept bytes", a.Styled(term.Warn, "of files that changed while a restore ran; look at them, then remove them"))
		for _, s := range r.Stages {
			fmt.Fprintf(w, "  %s\n", term.Quote(string(s)))
		}
	}
	a.statusLeaks(w, r.Leaks)
	a.sessionLines(row, r.Sessions, r.Position)
	for i, w := range r.AtWork {
		name := "at work"
		if i > 0 {
			name = ""
		}
		row(name, a.workText(w))
	}
	if act := r.Activity; act != nil {
		text := "busy"
		if act.What != "" {
			text = workOf(*act)
		} else if !act.Since.IsZero() {
			text = fmt.Sprintf("a capture is under way, since %s: %s, %s so far", a.Time(act.Since), count(act.Files, "file"), term.Size(act.Bytes))
		}
		row("at work", text)
	}
	if r.Current == nil {
		if r.Activity == nil {
			row("current", "none yet; 'rewind save' takes the first checkpoint")
		}
		return
	}
	row("current", fmt.Sprintf("%s  %s  %s", a.Styled(term.ID, r.Current.Short), a.Time(r.Current.Time), term.Sanitize(what(*r.Current))))
	if r.Ahead > 0 {
		row("ahead", count(r.Ahead, "step")+"; 'rewind redo' goes forward")
	}
	switch {
	case r.Activity != nil: // not compared
	case len(r.Changes) == 0:
		row("unsaved", "nothing")
	default:
		row("unsaved", count(len(r.Changes), "path"))
		a.changeLines(w, r.Changes, 20)
	}
	if n := len(r.Skips); n > 0 {
		row("skipped", count(n, "path"))
		a.skipLines(w, r.Skips, 5)
	}
}

// shownSessions is how many sessions status names.
const shownSessions = 5

// sessionLines names the agents' sessions, the newest first.
func (a *app) sessionLines(row func(name, text string), list []api.Session, position string) {
	for i, s := range list {
		if i == shownSessions {
			row("", fmt.Sprintf("and %d more", len(list)-i))
			return
		}
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
		text := fmt.Sprintf("%s  turn %d  %s %s", sessionWords(s.Session), s.Turn, event, a.Time(s.Last))
		if s.Session == position {
			text += "  current"
		}
		row(name, text)
		for _, p := range s.Outside {
			row("", "  not captured, outside of the project: "+term.Quote(string(p)))
		}
	}
}
