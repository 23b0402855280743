package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPartsOnATerminal: the questions of checkout -p are answered on a terminal; an interrupt at any of them leaves
// everything as it is, and an editor has the terminal.
func TestPartsOnATerminal(t *testing.T) {
	rewind, err := exec.LookPath("rewind")
	must(t, err)
	const old, now = "1\n2\n3\n", "one\n2\nthree\n"
	for _, c := range []struct {
		name string
		keys []string // typed one after the other
		last string   // what stands there before the end
		code int
		want string
	}{
		{"some", []string{"s\n", "y\n", "n\n"}, `took parts of `, 0, "1\n2\nthree\n"},
		{"q keeps what was chosen", []string{"s\n", "y\n", "q\n"}, `took parts of `, 0, "1\n2\nthree\n"},
		{"the end", []string{"\x04"}, `nothing was chosen`, 0, now},
		{"Ctrl-C", []string{"s\n", "y\n", "\x03"}, `interrupted`, 130, now},
		{"an editor on the terminal", []string{"e\n", "3\n"}, `took parts of `, 0, "1\n2\n3\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"a\x1b[31m": old})
			mustHere(t, dir, "init", "--agents", "none")
			write(t, dir, map[string]string{"a\x1b[31m": now})
			editor := filepath.Join(t.TempDir(), "editor")
			must(t, os.WriteFile(editor, []byte("#!/bin/sh\necho which; read n\nsed -i s/three/three/ \"$1\"; test \"$n\" = 3\n"), 0o755))
			s := onTerminal(t, dir, 24, 80, []string{"VISUAL=" + editor}, rewind, "checkout", "@", "-p")
			asked := 0
			for _, k := range c.keys {
				if asked++; k == "3\n" {
					s.await("which")
				} else {
					s.await(`(?s)(\[y,n,q,a,d,(s,)?e,\?\]\? .*){` + string(rune('0'+asked)) + `}`)
				}
				s.press(k)
			}
			code, text := s.ends()
			if code != c.code || !strings.Contains(text, c.last) || strings.Contains(text, "a\x1b[31m") {
				t.Errorf("exit code %d\n%q", code, text)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "a\x1b[31m")); err != nil || string(b) != c.want {
				t.Errorf("the file is %q, %v", b, err)
			}
		})
	}
}
