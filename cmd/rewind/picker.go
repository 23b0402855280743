package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"rewind/api"
	"rewind/internal/programs"
	"rewind/internal/term"
)

// picks reports whether 'rewind' alone is the picker: a person is there, and asks for nothing that a program reads.
func (a *app) picks() bool { return a.InTTY && a.OutTTY && !a.json }

// pickerOptions are what the picker is told: its options, whose package a command must not link.
type pickerOptions struct {
	Dir   string       `json:"dir"`
	Env   api.AgentEnv `json:"env"`
	Color string       `json:"color"`
	Plain bool         `json:"plain"`
}

// An exitError is the exit code of a program that has told all there is to be told.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// pickerGrace is how long the picker has to give the terminal back when this is to end.
const pickerGrace = 2 * time.Second

// runPicker has rewindd draw the picker: what that links would make every command slower to start. This process waits,
// and if the other one is killed it gives the terminal back as it was.
func (a *app) runPicker(ctx context.Context, plain bool) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close() // how the picker learns that this has gone
	program := daemonProgram()
	cmd := exec.CommandContext(ctx, program, "picker")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{r}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = pickerGrace
	restore := a.Keep()
	if err = cmd.Start(); err != nil {
		_ = r.Close()
		return &api.Error{
			Word: api.WordFailed, Message: fmt.Sprintf("picker: %s: %v", term.Quote(program), err),
			Hint: "rewind's programs are installed together: " + programs.InstallRemedy,
		}
	}
	_ = r.Close()
	to := json.NewEncoder(w) // what cannot be written is nobody's loss: a picker that has ended says why itself
	_ = to.Encode(pickerOptions{a.dir, agentEnv(), a.color, plain})
	first, end := context.WithCancel(ctx)
	go func() { _ = to.Encode(a.firstRows(first)) }()
	err = cmd.Wait()
	end()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	code := exit.ExitCode()
	if code < 0 {
		restore()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &api.Error{
			Word: api.WordFailed, Message: "the picker was killed", Hint: "'rewind ops' shows what was done before that",
		}
	}
	return &exitError{code}
}

// firstRows asks a daemon that runs for the rows that the picker begins with: the answer is there when the picker's
// process is. Nil: the picker is to ask.
func (a *app) firstRows(ctx context.Context) *api.ListResponse {
	if a.transport.off {
		return nil
	}
	c := &api.Client{Transport: &transport{only: true, own: a.transport.own}}
	r, err := api.Call(ctx, c, api.List, api.LogRows(a.project(), api.FirstRows), nil)
	if err != nil {
		return nil
	}
	return &r
}
