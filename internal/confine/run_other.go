//go:build !linux

package confine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Main is for systems with supervisors.
func Main() int { return 1 }

// Probe says that a command cannot be kept from a project here.
func Probe(context.Context, string, string) Level { return None }

// Run runs a command and ends its process group. What leaves the group is not found.
func Run(ctx context.Context, c Command) (out Outcome, err error) {
	if fi, err := os.Stat(c.Dir); err != nil || !fi.IsDir() {
		return out, ErrNoDir
	}
	argv, started := c.Argv, Started{}
	if name := argv[0]; strings.Contains(name, "/") && !filepath.IsAbs(name) {
		at := filepath.Join(c.Dir, name)
		if _, err := os.Stat(at); err != nil {
			at, started.Fell = filepath.Join(c.Fallback, name), true
		}
		argv = append([]string{at}, argv[1:]...)
	}
	if c.Started != nil {
		c.Started(started)
	}
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // its whole group is ended, not it alone
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = c.Dir, c.Stdout, c.Stderr, c.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return out, &StartError{innermost(err)}
	}
	ended := make(chan int, 1)
	go func() { ended <- exitCode(cmd.Wait()) }()
	var tooLong <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		tooLong = timer.C
	}
	select {
	case out.Code = <-ended:
		endGroup(cmd.Process.Pid)
		return out, ctx.Err()
	case <-tooLong:
		out.Late = true
	case <-ctx.Done():
	}
	endGroup(cmd.Process.Pid)
	<-ended
	return out, ctx.Err()
}

// innermost is an error without the words of who met it.
func innermost(err error) error {
	for {
		under := errors.Unwrap(err)
		if under == nil {
			return err
		}
		err = under
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

// endGroup ends what is left of a process group: it is told to, and has a time to do so.
func endGroup(id int) {
	gone := func() bool { return errors.Is(syscall.Kill(-id, 0), syscall.ESRCH) }
	for i, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if errors.Is(syscall.Kill(-id, sig), syscall.ESRCH) {
			return
		}
		if i == 0 {
			_ = syscall.Kill(-id, syscall.SIGCONT) // what is stopped hears nothing
		}
		for until := time.Now().Add(grace); time.Now().Before(until) && !gone(); {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// Own is for systems with namespaces.
func (l Level) Own() bool { return false }
