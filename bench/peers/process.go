package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// thrown carries an error out of the middle of a measurement to where that was begun: no half of one is worth anything.
type thrown struct{ error }

// must throws an error.
func must(err error) {
	if err != nil {
		panic(thrown{err})
	}
}

// get throws an error, or gives what came without one.
func get[T any](v T, err error) T {
	must(err)
	return v
}

// want throws what is wrong unless it is right.
func want(right bool, wrong string, a ...any) {
	if !right {
		must(fmt.Errorf(wrong, a...))
	}
}

// caught gives what fn throws.
func caught(fn func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case thrown:
			err = p.error
		default:
			panic(p)
		}
	}()
	fn()
	return nil
}

// A command runs programs in one place with one environment.
type command struct {
	ctx context.Context
	dir string
	env []string
	out string // file that takes the output
	in  []byte // standard input, through a pipe; nil: none

	used *syscall.Rusage // gets what the process and those that it waited for have used
}

// with adds to the environment.
func (c command) with(env ...string) command {
	c.env = append(c.env[:len(c.env):len(c.env)], env...)
	return c
}

// run runs one program to its end and gives the ms that it took and its standard output. Output goes to a file, so that
// reading it is no part of the time.
func (c command) run(args ...string) (took float64, out string) {
	f := get(os.Create(c.out))
	defer f.Close()
	errs := get(os.Create(c.out + ".err"))
	defer errs.Close()
	cmd := exec.CommandContext(c.ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, f, errs
	if c.in != nil {
		cmd.Stdin = bytes.NewReader(c.in)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may have files to clean up
	cmd.WaitDelay = 10 * time.Second
	start := time.Now()
	err := cmd.Run()
	took = ms(time.Since(start))
	if c.used != nil && cmd.ProcessState != nil {
		*c.used = *cmd.ProcessState.SysUsage().(*syscall.Rusage)
	}
	must(c.ctx.Err())
	if err != nil {
		said, _ := os.ReadFile(c.out + ".err")
		must(fmt.Errorf("%s: %w: %.300s", strings.Join(args, " "), err, bytes.TrimSpace(said)))
	}
	return took, string(get(os.ReadFile(c.out)))
}

// all runs programs one after the other.
func (c command) all(programs ...[]string) (sum float64, out string) {
	for _, args := range programs {
		var took float64
		took, out = c.run(args...)
		sum += took
	}
	return sum, out
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// build makes a static program, as rewind is shipped: all that is built has the same version, without which a daemon
// refuses its clients.
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
			up == "HOME", up == "LANG":
		default:
			env = append(env, v)
		}
	}
	return append(env,
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a",
	), nil
}
