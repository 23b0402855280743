package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"rewind/internal/term"
)

// TestHelpFits: every page of help fits 80 columns, says in one line how its command is called, and has examples before
// flags.
func TestHelpFits(t *testing.T) {
	s, _, _ := term.Test("", false)
	a := newApp(s)
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		page := helpPage(cmd)
		for line := range strings.SplitSeq(page, "\n") {
			if n := term.Width(line); n > helpWidth {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		usage, _, _ := strings.Cut(page, "\n")
		if cmd.Runnable() && cmd.HasParent() && !strings.HasPrefix(usage, "Usage: "+cmd.CommandPath()) {
			t.Errorf("%s begins with %q", cmd.CommandPath(), usage)
		}
		at, flags := strings.Index(page, "Examples:"), strings.Index(page, "Flags:")
		if cmd.Example != "" && at > flags {
			t.Errorf("%s: examples behind flags", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each(newRoot(a, nil))
}

// TestUsageLine: of what a command takes the usage line has the arguments, and of two ways to call it the first.
func TestUsageLine(t *testing.T) {
	for use, want := range map[string]string{
		"undo [n] [--turn | --to turn:<n>] [--session <session>]":    "undo [n] [flags]",
		"co {<name> [-- <path>...] | --abort} [--code-only]\n  more": "co <name> [-- <path>...] [flags]",
		"switch {<session> | -} [--code-only]":                       "switch <session> | - [flags]",
		"run [--bad <checkpoint>] -- <command>":                      "run -- <command> [flags]",
	} {
		cmd := &cobra.Command{Use: use, Run: func(*cobra.Command, []string) {}}
		cmd.Flags().Bool("x", false, "")
		if got := usageLine(cmd); got != want {
			t.Errorf("%s: %q, want %q", use, got, want)
		}
	}
}

// TestWishes: every command that is proposed for a word that is none is there.
func TestWishes(t *testing.T) {
	s, _, _ := term.Test("", false)
	a := newApp(s)
	root := newRoot(a, nil)
	for word, list := range wishes {
		if isCommand(root, word) {
			t.Errorf("%s is a command", word)
		}
		page, _ := wishHelp(word)
		for line := range strings.SplitSeq(page, "\n") {
			if n := term.Width(line); n > helpWidth {
				t.Errorf("%s: %d columns: %s", word, n, line)
			}
		}
		for _, w := range list {
			cmd, args, err := root.Find(strings.Fields(w.line))
			if err != nil || cmd == root {
				t.Errorf("%s: rewind %s: %v", word, w.line, err)
				continue
			}
			for _, arg := range args {
				name, long := strings.CutPrefix(arg, "--")
				if long && name != "" && cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s: rewind %s: no flag %s", word, w.line, arg)
				}
			}
		}
	}
}
