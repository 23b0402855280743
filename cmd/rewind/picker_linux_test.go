package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPickerOnATerminal: 'rewind' alone goes back with three keys and tells it on the normal screen; however it ends, the terminal is as
// it was.
func TestPickerOnATerminal(t *testing.T) {
	rewind, err := exec.LookPath("rewind")
	must(t, err)
	for _, c := range []struct {
		name, keys, says, want string
		code                   int
	}{
		{"goes back", "\x1b[B|\r|\r|\r", "undo: rewind undo-restore", "good\n", 0},
		{"leaves", "\x1b", "", "bad\n", 0},
		{"is told to end", "", "", "bad\n", 130},
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
				if s.press(k); i > 0 && i < len(waits) && waits[i] != "" {
					s.await(waits[i])
				}
			}
			if c.keys == "" {
				must(t, s.cmd.Process.Signal(syscall.SIGTERM))
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
