package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// child is the process that the program has started.
func (s *terminal) child() int {
	s.t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.cmd.Process.Pid))
	must(s.t, err)
	for _, name := range threads {
		b, err := os.ReadFile(name)
		must(s.t, err)
		if child, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			return child
		}
	}
	s.t.Fatal("it has started no process")
	return 0
}

// TestPickerOnATerminal: 'rewind' alone goes back with three keys and tells it on the normal screen; however it ends,
// the terminal is as it was.
func TestPickerOnATerminal(t *testing.T) {
	rewind, err := exec.LookPath("rewind")
	must(t, err)
	for _, c := range []struct {
		name, keys, says, want string
		code                   int
		happens                func(s *terminal) // instead of keys
	}{
		{"goes back", "\x1b[B|\r|\r|\r", "undo this: rewind undo-restore", "good\n", 0, nil},
		{"leaves", "\x1b", "", "bad\n", 0, nil},
		{"is told to end", "", "", "bad\n", 130, func(s *terminal) { must(t, s.cmd.Process.Signal(syscall.SIGTERM)) }},
		{"sees what happens", "", "", "worse\n", 0, func(s *terminal) {
			write(t, s.cmd.Dir, map[string]string{"a": "worse\n"})
			mustHere(t, s.cmd.Dir, "save", "while one looks")
			s.await(`(?s)> @.*while one looks`)
			s.press("\x1b")
		}},
		{"is killed", "", "the picker was killed", "bad\n", 1, func(s *terminal) { must(t, syscall.Kill(s.child(), syscall.SIGKILL)) }},
		{"is left alone", "", "", "bad\n", -1, func(s *terminal) { must(t, s.cmd.Process.Kill()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"a": "good\n"})
			mustHere(t, dir, "init", "--agents", "none")
			write(t, dir, map[string]string{"a": "bad\n"})
			mustHere(t, dir, "save", "the damage")
			s := onTerminal(t, dir, 24, 80, nil, rewind)
			s.await(`(?s)> @.*the damage.*M a`)
			waits := []string{"", `would go to`, `went to`, ""}
			for i, k := range strings.Split(c.keys, "|") {
				if s.press(k); c.keys != "" && i > 0 && i < len(waits) && waits[i] != "" {
					s.await(waits[i])
				}
			}
			if c.happens != nil {
				c.happens(s)
			}
			code, text := s.ends()
			_, after, left := strings.Cut(text, "\x1b[?1049l")
			if code != c.code || !left || !strings.Contains(after, c.says) {
				t.Errorf("exit code %d\n%q", code, text)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != c.want {
				t.Errorf("the file is %q, %v", b, err)
			}
		})
	}
}
