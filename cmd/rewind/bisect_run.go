package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rewind/api"
	"rewind/internal/term"
)

// Exit codes by which a command says what it has found, as with git bisect run.
const (
	cannotTell = 125 // this state cannot be told
	mostBad    = 127 // what is over it ends the search
)

// termGrace is how long a command has to end by itself when it was told to.
const termGrace = 2 * time.Second

// trial is a command that is tried in one state after the other.
type trial struct {
	command []string
	timeout time.Duration // 0: none
	here    string        // where the person stands
	told    bool          // that the command is not the checkpoint's own
}

func newBisectRun(a *app) *cobra.Command {
	req := api.BisectStartRequest{}
	var bad, good string
	t := &trial{}
	cmd := &cobra.Command{
		Use:   "run [--bad <checkpoint>] [--good <checkpoint>] [--timeout <time>] [--link <dir>]... [--no-link] -- <command>",
		Short: "Find it with a command that fails or passes",
		Long: "Runs a command in one state after the other and says since which checkpoint it fails. Exit codes are as with\n" +
			"'git bisect run': 0 passes, 125 cannot be told, any other up to 127 fails, what is over that ends the search.\n" +
			"Without --bad the project as it is now, which is saved, is the bad one; without --good the oldest checkpoint is the\n" +
			"good one. Both are tried first. After 'rewind bisect start', without --bad and --good, it goes on from there.\n\n" +
			"The command runs in the scratch directory, in the same place below it as you stand below the project, with your\n" +
			"environment, nothing on standard input, and its output on standard error. What it leaves running is ended, and so is\n" +
			"the command after --timeout, which counts as failing, and when you interrupt.",
		Example: "  rewind bisect run -- go test ./parser\n  rewind bisect run --good turn:2 --timeout 30s -- ./check.sh",
		Args:    takesCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose, t.command, t.here = a.project(), a.OutTTY, args, a.dir
			if err := t.check(); err != nil {
				return err
			}
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
		Long: "Goes back from the project as it is now, in steps that double, to a checkpoint at which a command passes, and between\n" +
			"that and the next newer one that was tried to the newest. The command runs as with 'rewind bisect run'.",
		Example: "  rewind bisect last-good -- npm test",
		Args:    takesCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			req.Project, req.Choose, t.command, t.here = a.project(), a.OutTTY, args, a.dir
			if err := t.check(); err != nil {
				return err
			}
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
	cmd.Flags().DurationVar(&t.timeout, "timeout", 0, "end the command after this `time`, as 30s or 5m; it then counts as failing")
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
	a.linkNotes(r)
	for {
		a.Notices(r.Notices)
		if r.Answer != nil {
			return a.tellFound(ctx, r, newest)
		}
		a.Say("trying %s", a.trying(a.StyledErr, r))
		as, why, err := a.try(ctx, r, t)
		if err != nil {
			return err
		}
		a.Say("%s is %s: %s", r.Test.Short, a.StyledErr(verdictStyles[as], as), why)
		req := api.BisectMarkRequest{
			Project: a.project(), Bisection: r.Bisection, Checkpoint: api.Text(r.Test.ID), As: as, Why: api.Text(why),
		}
		links := r.Links
		if r, err = call(ctx, a, api.BisectMark, req, ""); err != nil {
			return err
		}
		r.Links = links
	}
}

// try runs the command once and says what that means; an error ends the search.
func (a *app) try(ctx context.Context, r api.BisectResponse, t *trial) (as, why string, err error) {
	dir := string(r.Dir)
	if rel := t.below(string(r.Root)); rel != "" {
		dir = filepath.Join(dir, rel)
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return "skip", "it has no directory " + term.Quote(filepath.ToSlash(rel)), nil
		}
	}
	code, late, err := t.run(ctx, a, dir, r.Test.ID)
	switch {
	case err != nil:
		return "", "", err
	case late:
		return "bad", fmt.Sprintf("it did not end in %v", t.timeout), nil
	case code == 0:
		return "good", "it exits with 0", nil
	case code == cannotTell:
		return "skip", "it exits with 125", nil
	case code <= mostBad:
		return "bad", fmt.Sprintf("it exits with %d", code), nil
	}
	return "", "", &api.Error{
		Word: api.WordFailed, Message: fmt.Sprintf("the command exited with %d at %s, which ends the search", code, r.Test.Short),
		Hint: "0 is for good, 125 for what cannot be told, 1 to 127 for bad; a signal counts as 128 and its number",
	}
}

// below is where the person stands below the project's root; "": in it.
func (t *trial) below(root string) string {
	here, err := filepath.EvalSymlinks(t.here)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, here)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return ""
	}
	return rel
}

// run runs the command in a directory, in a process group of its own, of which nothing is left behind. late: it had to be ended.
func (t *trial) run(ctx context.Context, a *app, dir, checkpoint string) (code int, late bool, err error) {
	argv := t.command
	if name := argv[0]; strings.Contains(name, "/") && !filepath.IsAbs(name) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			name = filepath.Join(t.here, name)
			if !t.told {
				t.told = true
				a.Say("note: where a checkpoint has no %s, that of the project is run", term.Quote(argv[0]))
			}
		} else {
			name = filepath.Join(dir, name)
		}
		argv = append([]string{name}, argv[1:]...)
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // its whole group is ended, not it alone
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, a.Err, a.Err
	cmd.Env = append(cmd.Environ(), "REWIND_BISECT="+checkpoint)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, false, usage("%s: %v", term.Quote(t.command[0]), innermost(err))
	}
	ended := make(chan int, 1)
	go func() { ended <- exitCode(cmd.Wait()) }()
	var tooLong <-chan time.Time
	if t.timeout > 0 {
		timer := time.NewTimer(t.timeout)
		defer timer.Stop()
		tooLong = timer.C
	}
	select {
	case code = <-ended:
		endGroup(cmd.Process.Pid)
		return code, false, ctx.Err()
	case <-tooLong:
		late = true
	case <-ctx.Done():
	}
	endGroup(cmd.Process.Pid)
	<-ended
	return 0, late, ctx.Err()
}

// innermost is an error without the words of who met it.
func innermost(err error) error {
	for {
		below := errors.Unwrap(err)
		if below == nil {
			return err
		}
		err = below
	}
}

// exitCode is that of a command as a shell tells it.
func exitCode(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// endGroup ends what is left of a process group: it is told to, and has termGrace to do so. What has left the group is not found.
func endGroup(id int) {
	gone := func() bool { return errors.Is(syscall.Kill(-id, 0), syscall.ESRCH) }
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if errors.Is(syscall.Kill(-id, sig), syscall.ESRCH) {
			return
		}
		if i == 0 {
			_ = syscall.Kill(-id, syscall.SIGCONT) // what is stopped hears nothing
		}
		for until := time.Now().Add(termGrace); time.Now().Before(until) && !gone(); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}
