package term

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// Pager returns a writer for long output of Out and a function that ends it,
// which must be called exactly once, after the last write; it waits for the
// reader to leave. Off a terminal, with a PAGER that is empty or "cat" (as in
// git), or when the pager cannot be started, the writer is Out itself. A reader who leaves
// early is no error: what is written afterwards is dropped.
//
// PAGER names the program, "less" where it is not set; LESS is set to FRX unless the
// environment has it, so text that fits the screen is printed and stays. The
// pager has the terminal itself, not Out, and Ctrl-C is the pager's until it
// ends: to leave before it would put the shell's prompt under its hands.
func (s *Streams) Pager() (w io.Writer, end func() error) {
	plain := func() error { return nil }
	command, is := s.lookupEnv("PAGER")
	if !is {
		command = "less"
	}
	command = strings.TrimSpace(command)
	none := s.screen == nil || command == "" || command == "cat"
	if none || s.getenv("TERM") == "dumb" || !isProgram(command) {
		return s.Out, plain
	}
	cmd := exec.Command("/bin/sh", "-c", command) // with arguments as the user wrote them
	cmd.Stdout, cmd.Stderr = s.screen, s.Err
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, is := s.lookupEnv(name); !is {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return s.Out, plain
	}
	if err := cmd.Start(); err != nil {
		in.Close()
		return s.Out, plain
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	return &pagerWriter{in: in}, func() error {
		defer signal.Stop(interrupts)
		in.Close()
		if err := cmd.Wait(); err != nil && !isGone(err) && !wasInterrupted(err) {
			return fmt.Errorf("pager %s: %w", Sanitize(command), err)
		}
		return nil
	}
}

// isProgram tells whether the first word of a command line is a program, as far as that can be told without a shell.
func isProgram(line string) bool {
	word := strings.Fields(line)[0]
	if strings.ContainsAny(word, "=\"'\\$~") {
		return true
	}
	_, err := exec.LookPath(word)
	return err == nil
}

// wasInterrupted tells whether a pager was ended by Ctrl-C, which a shell between reports as an exit code.
func wasInterrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return ok && (ws.Signaled() && ws.Signal() == syscall.SIGINT || ws.ExitStatus() == 128+int(syscall.SIGINT))
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
