package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rewind/internal/ptytest"
)

// terminal is a program on a terminal of its own.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File // what is written here is typed

	mu   sync.Mutex
	text bytes.Buffer // all that was printed
	read chan struct{}
}

// onTerminal starts a program on a new terminal of so many rows and columns. env is added to the environment.
func onTerminal(
	t *testing.T, dir string, rows, columns uint16, env []string, program string, args ...string,
) *terminal {
	t.Helper()
	cmd := exec.Command(program, args...)
	mine := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LESS=") || strings.HasPrefix(v, "PAGER=") })
	cmd.Dir, cmd.Env = dir, append(mine, append([]string{"TERM=xterm", "NO_COLOR=1"}, env...)...)
	keys, err := ptytest.Start(cmd, rows, columns)
	must(t, err)
	t.Cleanup(func() { keys.Close() })
	term := &terminal{t: t, cmd: cmd, keys: keys, read: make(chan struct{})}
	go func() {
		defer close(term.read)
		_, _ = io.Copy(writerFunc(func(b []byte) (int, error) {
			term.mu.Lock()
			defer term.mu.Unlock()
			return term.text.Write(b)
		}), keys) // until the last who has the terminal is gone
	}()
	return term
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (s *terminal) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// patience is how long a program may take on a machine that has much to do.
const patience = 30 * time.Second

// await waits until what was printed matches.
func (s *terminal) await(re string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !regexp.MustCompile(re).MatchString(s.printed()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%q was not printed:\n%q", re, s.printed())
		}
	}
}

func (s *terminal) press(keys string) {
	s.t.Helper()
	_, err := s.keys.WriteString(keys)
	must(s.t, err)
}

// ends waits for the end of the program and returns its exit code and all that was printed.
func (s *terminal) ends() (code int, text string) {
	s.t.Helper()
	kill := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	_ = s.cmd.Wait()
	select {
	case <-s.read:
	case <-time.After(patience):
		s.t.Error("somebody keeps the terminal when the program has ended")
	}
	return s.cmd.ProcessState.ExitCode(), s.printed()
}

// manyLines is a project with a change that no screen has room for, and the program.
func manyLines(t *testing.T) (dir, rewind string) {
	t.Helper()
	rewind, err := exec.LookPath("rewind")
	must(t, err)
	dir = t.TempDir()
	write(t, dir, map[string]string{"a": "old\n"})
	mustHere(t, dir, "init", "--agents", "none")
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	write(t, dir, map[string]string{"a": b.String()})
	return dir, rewind
}

// TestPagerOnATerminal: long output waits for its reader, whatever the reader does.
func TestPagerOnATerminal(t *testing.T) {
	if _, err := exec.LookPath("less"); err != nil {
		t.Skip("missing tool: less")
	}
	dir, rewind := manyLines(t)
	last := "line 299"
	for _, c := range []struct {
		name  string
		env   []string
		await string
		keys  []string // typed one after the other
		whole bool     // the end is printed
	}{
		{"q leaves", nil, `line 10\b`, []string{"q"}, false},
		{"Ctrl-C stays, q leaves", nil, `line 10\b`, []string{"\x03", "\x03", "q"}, false},
		{"the end can be reached", nil, `line 10\b`, []string{"G", "q"}, true},
		{"with arguments", []string{"PAGER=less -N"}, ` 12 .*line`, []string{"q"}, false},
		{"LESS is the user's", []string{"LESS=-N"}, ` 12 .*line`, []string{"q"}, false},
		{"Ctrl-C ends one that it may end", []string{"LESS=-K"}, `line 10\b`, []string{"\x03"}, false},
		{"none", []string{"PAGER=cat"}, last, nil, true},
		{"not there", []string{"PAGER=no-such-pager -x"}, last, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onTerminal(t, dir, 24, 80, c.env, rewind, "diff")
			s.await(c.await)
			for _, k := range c.keys {
				time.Sleep(300 * time.Millisecond) // further ones would be echoes
				if !c.whole && strings.Contains(s.printed(), last) {
					t.Fatal("all was printed at once")
				}
				s.press(k)
			}
			code, text := s.ends()
			if code != 0 && !strings.Contains(c.name, "may end") {
				t.Errorf("exit code %d\n%q", code, text)
			}
			if got := strings.Contains(text, last); got != c.whole {
				t.Errorf("the end was printed: %v, want %v", got, c.whole)
			}
		})
	}
	// What fits the screen is printed, and stays.
	code, text := onTerminal(t, dir, 24, 80, nil, rewind, "diff", "--stat").ends()
	if code != 0 || !strings.Contains(text, "300") || strings.Contains(text, "\x1b[?1049h") {
		t.Errorf("exit code %d\n%q", code, text)
	}
}
