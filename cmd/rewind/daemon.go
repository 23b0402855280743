package main

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/render"
	"rewind/internal/term"
)

func newDaemon(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Serve this user's stores; started when it is needed",
		Long: "The daemon has the stores open and answers commands and hooks on a socket in ~/.rewind/run, for " +
			"this user only. Commands start it when they need it, and it ends after 30 minutes without work. " +
			"Run by hand it stays in the foreground; if one runs already, there is nothing to do. With " +
			"REWIND_DAEMON=off there is no daemon: each command starts a rewindd of its own.",
		Example: "  rewind daemon status\n  rewind daemon stop",
		Args:    takesNone,
		RunE: func(*cobra.Command, []string) error {
			args := []string{a.transport.own.Path, "daemon"}
			if a.json {
				args = append(args, "--json")
			}
			return become(args)
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "status", Short: "Say whether a daemon runs", Example: "  rewind daemon status", Args: takesNone,
			RunE: func(cmd *cobra.Command, _ []string) error { return runDaemonStatus(cmd.Context(), a) },
		},
		&cobra.Command{
			Use: "stop", Short: "End the daemon when it has done what it has begun", Example: "  rewind daemon stop", Args: takesNone,
			RunE: func(cmd *cobra.Command, _ []string) error { return runDaemonStop(cmd.Context(), a) },
		},
	)
	return cmd
}

// daemonJSON has the daemon's version apart from that of the object.
type daemonJSON struct {
	Daemon api.Daemon `json:"daemon"`
}

func runDaemonStatus(ctx context.Context, a *app) error {
	r, err := call(ctx, a, api.DaemonStatus, api.DaemonRequest{}, "")
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(daemonJSON{r})
	}
	_, err = fmt.Fprintln(a.Out, a.daemonText(r))
	return err
}

func (a *app) daemonText(d api.Daemon) string {
	if !d.Running {
		return "not running"
	}
	return fmt.Sprintf("process %d, version %s, since %s, %s open", d.PID, term.Sanitize(d.Version), a.Time(*d.Started),
		render.Count(d.Stores, "store"))
}

func runDaemonStop(ctx context.Context, a *app) error {
	if letGoOn() {
		a.Say("note: the daemon was stopped by a signal; it goes on, to end")
	}
	r, err := call(ctx, a, api.DaemonStop, api.DaemonRequest{}, "")
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(daemonJSON{r})
	case r.Running:
		a.Say("the daemon has ended")
	default:
		a.Say("no daemon runs")
	}
	return nil
}

// become makes this process another program; it returns only where that cannot be started.
func become(args []string) error {
	return &api.StartError{Path: args[0], Err: syscall.Exec(args[0], args, os.Environ())}
}
