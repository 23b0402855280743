package main

import (
	"slices"
	"strings"
	"testing"

	"rewind/internal/term"
)

// TestOneCommandIsAsAll: a command that is made alone, as its first argument asks, says of itself what it says among
// all, and is the one of its name.
func TestOneCommandIsAsAll(t *testing.T) {
	t.Parallel()
	help := func(args ...string) string {
		s, _, _ := term.Test("", false)
		a := newApp(s)
		a.transport = newTransport("rewind")
		root := newRoot(a, args[:min(len(args), 1)])
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(slices.DeleteFunc(args, func(s string) bool { return s == "" }))
		if err := root.Execute(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		return out.String()
	}
	n := 0
	for _, list := range commands {
		for name := range list {
			n++
			one, all := help(name, "--help"), help("", name, "--help")
			if one != all || !strings.Contains(one, "rewind "+name) {
				t.Errorf("%s alone:\n%s\namong all:\n%s", name, one, all)
			}
		}
	}
	if listed := strings.Count(help("", "--help"), "\n  "); listed < n {
		t.Errorf("help lists %d lines for %d commands", listed, n)
	}
}
