package main

import (
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// TestOpsWidths: from and to are told whole at every width, prompts as far as there is room for both, and what became
// of a restore.
func TestOpsWidths(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 10, 0, 0, time.UTC)
	turn := func(n uint64, prompt string) *api.Moment {
		return &api.Moment{Turn: n, Event: "stop", Prompt: api.Text(prompt)}
	}
	list := []api.Operation{
		{
			Seq: 149, Time: now, Kind: "undo-restore", From: turn(1, "make a parser for the configuration"), Undoes: 31, Changed: 6, Kept: 1,
			To: turn(15, "日本語のテキストを直して、テストを書いてください、お願いします"),
		},
		{
			Seq: 31, Time: now.Add(-time.Hour), Kind: "checkout", From: turn(15, "rename \x1b[31mwhat\u202e begins with a capital"),
			To: &api.Moment{Event: "init", Short: "3f2a91c"}, Changed: 12, Undone: 149,
		},
	}
	for width, want := range map[int]string{
		40: `
149  undo-restore  turn:1 to 15
 31  checkout      turn:15 to start
`,
		50: `
149  undo-restore  turn:1 to 15      of 31
 31  checkout      turn:15 to start  undone
`,
		80: `
149  14:10  undo-restore  from turn:1 to turn:15  6 paths, took back 31, 1 kept
 31  13:10  checkout      from turn:15 to start   12 paths, undone by 149
`,
		120: `
149  14:10  undo-restore  from turn:1 "make a parser f…" to turn:15 "日本語のテキス…"  6 paths, took back 31, 1 kept
 31  13:10  checkout      from turn:15 "rename \x1b[31m…" to the first checkpoint      12 paths, undone by 149
`,
		0: `
149  2026-11-20T14:10:00Z  undo-restore  from turn:1 "make a parser for the c…" to turn:15 "日本語のテキストを直し…"  6 paths, took back 31, 1 kept
 31  2026-11-20T13:10:00Z  checkout      from turn:15 "rename \x1b[31mwhat\u20…" to the first checkpoint              12 paths, undone by 149
`,
	} {
		s, out, _ := term.Test("", width > 0, "NO_COLOR=1")
		s.Width, s.Now = width, func() time.Time { return now }
		if err := newApp(s).restoreTable(out, list); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := term.Width(strings.TrimSuffix(line, "\n")); width > 0 && n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		if got := "\n" + out.String(); got != want {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}
