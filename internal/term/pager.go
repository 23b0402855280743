package term

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Pager returns a writer for long output of Out and a function that ends it,
// which must be called exactly once, after the last write; it waits for the
// reader to leave. Off a terminal, with PAGER empty of commands ("cat"), or when
// the pager cannot be started, the writer is Out itself. A reader who leaves
// early is no error: what is written afterwards is dropped.
//
// PAGER names the program, "less" by default; LESS is set to FRX unless the
// environment has it, so text that fits the screen is printed and stays.
func (s *Streams) Pager() (w io.Writer, end func() error) {
	plain := func() error { return nil }
	command := strings.TrimSpace(s.getenv("PAGER"))
	if command == "" {
		command = "less"
	}
	if !s.OutTTY || command == "cat" || s.getenv("TERM") == "dumb" {
		return s.Out, plain
	}
	cmd := shellCommand(command)
	cmd.Stdout, cmd.Stderr = s.Out, s.Err
	cmd.Env = os.Environ()
	if s.getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	if s.getenv("LV") == "" {
		cmd.Env = append(cmd.Env, "LV=-c")
	}
	if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
		return s.Out, plain
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return s.Out, plain
	}
	if err := cmd.Start(); err != nil {
		in.Close()
		return s.Out, plain
	}
	return &pagerWriter{in: in}, func() error {
		in.Close()
		if err := cmd.Wait(); err != nil && !isGone(err) {
			return fmt.Errorf("term: pager %s: %w", Sanitize(command), err)
		}
		return nil
	}
}

// shellCommand runs a command line with arguments as the user wrote it.
func shellCommand(line string) *exec.Cmd {
	return exec.Command("/bin/sh", "-c", line)
}

// pagerWriter hides that the reader has left.
type pagerWriter struct{ in io.Writer }

func (w *pagerWriter) Write(p []byte) (int, error) {
	n, err := w.in.Write(p)
	if err != nil && isGone(err) {
		return len(p), nil
	}
	return n, err
}

func isGone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}
