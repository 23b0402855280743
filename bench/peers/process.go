package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A sample is what one action took: the times of its processes, added up.
type sample struct {
	Wall time.Duration `json:"wall_ns"` // from the start of a process to its end
	CPU  time.Duration `json:"cpu_ns"`  // user and system
}

func (s *sample) add(t sample) { s.Wall, s.CPU = s.Wall+t.Wall, s.CPU+t.CPU }

// A command runs programs in one place with one environment.
type command struct {
	dir string
	env []string
	out string // file that takes the output
	in  []byte // standard input, through a pipe; nil: none
}

// run runs one program to its end and gives its standard output. Output goes to a file, so that reading it is no part of
// the time.
func (c command) run(ctx context.Context, args ...string) (s sample, out string, err error) {
	f, err := os.OpenFile(c.out, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return s, "", err
	}
	defer f.Close()
	errs, err := os.OpenFile(c.out+".err", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return s, "", err
	}
	defer errs.Close()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, f, errs
	if c.in != nil {
		cmd.Stdin = bytes.NewReader(c.in)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may have files to clean up
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	err = cmd.Run()
	s.Wall = time.Since(start)
	if cmd.ProcessState != nil {
		s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if ctx.Err() != nil {
		return s, "", ctx.Err()
	}
	if err != nil {
		said, _ := readBack(errs)
		return s, "", fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, strings.TrimSpace(said))
	}
	out, err = readBack(f)
	return s, out, err
}

// all runs programs one after the other and gives the output of the last.
func (c command) all(ctx context.Context, programs ...[]string) (sum sample, out string, err error) {
	for _, args := range programs {
		var s sample
		if s, out, err = c.run(ctx, args...); err != nil {
			return sum, out, err
		}
		sum.add(s)
	}
	return sum, out, nil
}

func readBack(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	b, err := io.ReadAll(f)
	return string(b), err
}

// build makes a static program, as rewind is shipped: all that is built has the same version, without which a daemon refuses its clients.
func build(ctx context.Context, to, source string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-X main.release=v0.0.0-bench", "-o", to, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", source, errors.Join(ctx.Err(), err), out)
	}
	return nil
}

// cleanEnv is an environment in which nobody's settings count: home is the home directory, and is made.
func cleanEnv(home string) ([]string, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch up := strings.ToUpper(name); {
		case strings.HasPrefix(up, "GIT_"), strings.HasPrefix(up, "REWIND_"), strings.HasPrefix(up, "XDG_"), strings.HasPrefix(up, "LC_"),
			up == "HOME", up == "USERPROFILE", up == "LANG":
		default:
			env = append(env, v)
		}
	}
	return append(env,
		"HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a",
	), nil
}
