package main

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/confine"
	"rewind/internal/term"
)

// Exit codes by which a command says what it has found, as with git bisect run.
const (
	cannotTell = 125 // this state cannot be told
	mostBad    = 127 // what is over it ends the search
)

// trial is a command that is tried in one state after the other.
type trial struct {
	command []string
	timeout time.Duration // 0: none
	here    string        // where the person stands
	root    string        // of the project
	told    bool          // that the command is not the checkpoint's own
	level   confine.Level // how far it is kept from the project
}

func newBisectRun(a *app) *cobra.Command {
	req := api.BisectStartRequest{}
	var bad, good string
	t := &trial{}
	cmd := &cobra.Command{
		Use:   "run [--bad <checkpoint>] [--good <checkpoint>] [--timeout <time>] [--link <dir>]... [--no-link] -- <command>",
		Short: "Search with a command that fails or passes",
		Long: "Runs a command in one state after the other, and says since which checkpoint it fails. Exit " +
			"codes are as with 'git bisect run': 0 passes, 125 skips, any other up to 127 fails, a higher one " +
			"ends the search. Without --bad the current project is the bad one. Without --good the oldest " +
			"checkpoint is the good one; if the command fails there, a good one is searched backwards in " +
			"doubling steps. Both are tried first. After 'rewind bisect start', without --bad and --good, it " +
			"continues that search.\n\n" +
			"The command runs in the scratch directory, in your current subdirectory, with your environment. " +
			"Standard input is empty; its output goes to standard error. Processes that it leaves running are " +
			"ended. --timeout ends the command and counts as failing; an interrupt ends it, too. Where the " +
			"system allows it (Linux), writes into the project's directory by an absolute path are thrown " +
			"away; otherwise a note says so.",
		Example: "  rewind bisect run -- go test ./parser\n  rewind bisect run --good turn:2 --timeout 30s -- ./check.sh",
		Args:    takesCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose, t.command, t.here = a.project(), a.OutTTY, args, a.dir
			if err := t.check(); err != nil {
				return err
			}
			t.confine(cmd.Context())
			if bad == "" && good == "" {
				if r, ok, err := a.byHand(cmd.Context()); ok || err != nil {
					if err != nil {
						return err
					}
					return a.runTrials(cmd.Context(), r, t, false)
				}
			}
			var err error
			if bad != "" {
				if req.Bad, err = a.checkpointName(bad); err != nil {
					return err
				}
			}
			if good != "" {
				name, err := a.checkpointName(good)
				if err != nil {
					return err
				}
				req.Good = []api.Text{name}
			}
			return a.startTrials(cmd.Context(), req, t)
		},
	}
	cmd.Flags().StringVar(&bad, "bad", "", "a `checkpoint` at which it fails; default: the project as it is now")
	cmd.Flags().StringVar(&good, "good", "", "a `checkpoint` at which it passes; default: the oldest")
	trialFlags(a, cmd, &req, t)
	return cmd
}

func newBisectLastGood(a *app) *cobra.Command {
	req := api.BisectStartRequest{Newer: true}
	t := &trial{}
	cmd := &cobra.Command{
		Use:   "last-good [--timeout <time>] [--link <dir>]... [--no-link] -- <command>",
		Short: "Find the newest checkpoint at which a command passes",
		Long: "Finds the newest checkpoint at which a command passes. It goes back from the current project in " +
			"doubling steps until the command passes, and then searches between that checkpoint and the next " +
			"newer one that was tried. The command runs as with 'rewind bisect run'.",
		Example: "  rewind bisect last-good -- npm test",
		Args:    takesCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose, t.command, t.here = a.project(), a.OutTTY, args, a.dir
			if err := t.check(); err != nil {
				return err
			}
			t.confine(cmd.Context())
			return a.startTrials(cmd.Context(), req, t)
		},
	}
	trialFlags(a, cmd, &req, t)
	return cmd
}

func takesCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s takes a command, after '--'", cmd.Name())
	}
	return nil
}

func trialFlags(a *app, cmd *cobra.Command, req *api.BisectStartRequest, t *trial) {
	cmd.Flags().DurationVar(&t.timeout, "timeout", 0,
		"end the command after this `time`, as 30s or 5m; it then counts as failing")
	cmd.Flags().SetInterspersed(false) // flags behind the command are its own
	linkFlags(cmd, req)
	sessionFlag(a, cmd, &req.Session, "turns and @ are those of this `session`")
}

// check refuses a command that cannot be run anywhere.
func (t *trial) check() error {
	if t.timeout < 0 {
		return usage("--timeout %v: must not be negative", t.timeout)
	}
	if strings.Contains(t.command[0], "/") {
		return nil // which it is depends on the state
	}
	if _, err := exec.LookPath(t.command[0]); err != nil {
		return usage("%s: there is no such command", term.Quote(t.command[0]))
	}
	return nil
}

// byHand is the bisection that a person has begun; false: none.
func (a *app) byHand(ctx context.Context) (r api.BisectResponse, ok bool, err error) {
	r, err = api.Call(ctx, a.client, api.Bisect, api.BisectRequest{Project: a.project()}, nil)
	var told *api.Error
	switch {
	case errors.As(err, &told) && told.Word == api.WordNotFound:
		return r, false, nil
	case err != nil:
		return r, false, err
	case r.Wants != "":
		return r, false, usage("'rewind bisect start' has begun, and has no %s checkpoint yet: name one with 'rewind bisect %s', or "+
			"'rewind bisect reset'", r.Wants, r.Wants)
	}
	a.Say("going on from 'rewind bisect start'; 'rewind bisect reset' ends that")
	return r, true, nil
}

// startTrials leads a bisection of its own to its end, whatever that is.
func (a *app) startTrials(ctx context.Context, req api.BisectStartRequest, t *trial) error {
	req.Mounts = t.mounts()
	r, err := call(ctx, a, api.BisectStart, req, "comparing")
	if err != nil {
		return err
	}
	err = a.runTrials(ctx, r, t, req.Newer)
	reset := api.BisectResetRequest{Project: a.project(), Bisection: r.Bisection}
	_, rerr := api.Call(context.WithoutCancel(ctx), a.client, api.BisectReset, reset, nil)
	return errors.Join(err, rerr)
}

// runTrials tries the command until there is an answer.
func (a *app) runTrials(ctx context.Context, r api.BisectResponse, t *trial, newest bool) error {
	t.root = string(r.Root)
	a.confineNote(t)
	seeks := false
	for told := []api.BisectLink(nil); ; {
		a.Notices(r.Notices)
		if r.Seeks && !seeks {
			a.Say("note: the oldest fails, too: one that passes is looked for, backwards in steps that double")
		}
		seeks = r.Seeks
		if r.Answer != nil {
			return a.tellFound(ctx, r, newest)
		}
		told = a.linkNotes(r, told)
		a.Say("trying %s", a.trying(a.StyledErr, r))
		as, why, err := a.try(ctx, r, t)
		if err != nil {
			return err
		}
		a.Say("%s is %s: %s", r.Test.Short, a.StyledErr(verdictStyles[as], as), why)
		req := api.BisectMarkRequest{
			Project: a.project(), Bisection: r.Bisection, Checkpoint: api.Text(r.Test.ID), As: as, Why: api.Text(why),
		}
		if r, err = call(ctx, a, api.BisectMark, req, ""); err != nil {
			return err
		}
	}
}
