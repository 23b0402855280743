package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// echo is the program that does nothing in the daemon's place (bench/floor/echo), as it runs: a process of its own, so that the floor has the
// same way to go and the same threads to wake.
type echo struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startEcho starts it for clients of a home, and waits until it listens.
func startEcho(ctx context.Context, program, home string) (*echo, error) {
	cmd := exec.CommandContext(ctx, program, home)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, time.Second // it has something to clear away
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("echo: %w", err)
	}
	e := &echo{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if _, err := e.said(); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

// calls is how many came to it whole.
func (e *echo) calls() (int, error) {
	if _, err := fmt.Fprintln(e.in); err != nil {
		return 0, fmt.Errorf("echo: %w", err)
	}
	return e.said()
}

func (e *echo) said() (n int, err error) {
	if _, err = fmt.Fscanln(e.out, &n); err != nil {
		err = fmt.Errorf("echo: what it says: %w", err)
	}
	return n, err
}

func (e *echo) stop() error { return errors.Join(e.in.Close(), e.cmd.Wait()) }
