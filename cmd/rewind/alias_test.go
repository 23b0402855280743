package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/guard"
	"rewind/internal/term"
)

// TestSplitWords: words are those that a shell makes of the same text.
func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"checkout before:1":         {"checkout", "before:1"},
		"  list\t-n 3\n":            {"list", "-n", "3"},
		`list --grep 'a  b' -- ""`:  {"list", "--grep", "a  b", "--", ""},
		`save "it's \"done\" \n"`:   {"save", `it's "done" \n`},
		`save it\'s\ done a"b"'c'd`: {"save", "it's done", "abcd"},
		"list $(id) ; id > x * ~":   {"list", "$(id)", ";", "id", ">", "x", "*", "~"},
	} {
		got, err := splitWords(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q (%v), want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "  ", "list 'a", `list "a`, `list \`} {
		if got, err := splitWords(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("missing tool: sh")
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b ", " ", `"`, "'", `\`, "\t", "-n"}), 1, 9).Draw(t, "text"), "")
		got, err := splitWords(text)
		out, failed := exec.Command(sh, "-c", `printf '<%s>' `+text).Output() //nolint:gosec // of these few characters
		if err != nil || failed != nil {
			return // a shell takes a backslash at the end for itself
		}
		if made := "<" + strings.Join(got, "><") + ">"; made != string(out) {
			t.Fatalf("%q: %s, a shell has %s", text, made, out)
		}
	})
}

// TestGuardKnowsCommands: what is no command may be an alias of the user's, so the guard lets through words that it
// knows alone; each command is one of them, or goes back or removes.
func TestGuardKnowsCommands(t *testing.T) {
	t.Parallel()
	s, _, _ := term.Test("", false)
	back := []string{"checkout", "switch", "forward", "undo", "redo", "undo-restore", "pick", "revert", "gc", "purge"}
	back = append(back, "uninstall", "ui") // whose address is a key to all of these
	words := []string{"mine"}
	for _, c := range newRoot(newApp(s), nil).Commands() {
		words = append(append(words, c.Name()), c.Aliases...)
		if slices.Contains(back, c.Name()) {
			back = append(back, c.Aliases...)
		}
	}
	for _, word := range words {
		why := guard.Check([]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rewind `+word+` x"}}`),
			guard.Context{})
		if refused := slices.Contains(back, word) || word == "mine"; (why != "") != refused {
			t.Errorf("rewind %s: %q", word, why)
		}
	}
}
