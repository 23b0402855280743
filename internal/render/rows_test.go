package render

import (
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// listedRows are the rows of a day with two sessions: a turn that deleted twenty files in its first step, one of
// another agent's, one that changed nothing and whose prompt is hostile, a save, and what came from outside.
func listedRows(now time.Time) []api.Row {
	const claude, codex = "claude/5f1c0d2e-7a44-4c1b-9d55-0a1b2c3d4e5f", "codex/01a1f866-12ce-7000-8000-000000000000"
	cp := func(short string) api.Checkpoint { return api.Checkpoint{Short: short, Session: "manual"} }
	gone := []api.Change{{Path: "main.go", Status: "modified"}}
	for _, name := range []string{"old/a.go", "old/b.go", "old/c.go"} {
		gone = append(gone, api.Change{Path: api.Text(name), Status: "deleted"})
	}
	saved := cp("4444444")
	saved.Message, saved.Event = "works, before the\x1b[2J login", "save"
	return []api.Row{
		{
			Checkpoint: cp("1111111"), Session: claude, Agent: "claude", Turn: 4,
			Prompt: "clean up what nobody needs any more",
			Time:   now.Add(-time.Minute),
			Steps:  3, Modified: 1, Deleted: 20, Changes: gone, Left: 17, Current: true,
		},
		{
			Checkpoint: cp("2222222"), Session: codex, Agent: "codex", Turn: 12, Prompt: "日本語のテキストを直して、テストを書いてください",
			Time: now.Add(-3 * time.Hour), Steps: 1,
			Added: 1, Changes: []api.Change{{Path: "src/a very long directory/with a file.go", Status: "added"}},
			Aside: true,
		},
		{
			Checkpoint: cp("3333333"), Session: claude, Agent: "claude", Turn: 3,
			Prompt: "what is \x1b[31mthis\u202e\nfor?",
			Time:   now.Add(-30 * time.Hour), Changes: []api.Change{},
		},
		{
			Checkpoint: saved, Session: "manual", Time: now.Add(-50 * time.Hour), Steps: 1, Modified: 2, Outside: true,
			Changes: gone[:1],
			Left:    1,
		},
	}
}

// TestListWidths: columns go as the terminal gets narrow; id, turn and prompt stay, and what was deleted.
func TestListWidths(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 10, 0, 0, time.UTC)
	for width, want := range map[int]string{
		40: `
@  1111111  4   clean up what nobo…  -20
~  2222222  12  日本語のテキストを…
   3333333  3   what is \x1b[31mth…
   4444444      works, before the\…
`,
		80: `
@  1111111  14:09      claude  turn:4   clean up what nobody needs a…  ~1 -20
~  2222222  11:10      codex   turn:12  日本語のテキストを直して、テ…  +1
   3333333  Thu 08:10  claude  turn:3   what is \x1b[31mthis\u202e f…  no change
   4444444  Wed 12:10                   works, before the\x1b[2J log…  ~2
`,
		120: `
@  1111111  14:09      claude 5f1c0d2e      turn:4   clean up what nobody needs any more               ~1 -20
~  2222222  11:10      codex 01a1f866-12ce  turn:12  日本語のテキストを直して、テストを書いてください  +1
   3333333  Thu 08:10  claude 5f1c0d2e      turn:3   what is \x1b[31mthis\u202e for?                   no change
   4444444  Wed 12:10                                works, before the\x1b[2J login                    ~2
`,
		200: `
@  1111111  14:09      claude 5f1c0d2e      turn:4   clean up what nobody needs any more               ~1 -20     main.go, -old/a.go, -old/b.go, -old/c.go, and 17 more
~  2222222  11:10      codex 01a1f866-12ce  turn:12  日本語のテキストを直して、テストを書いてください  +1         +src/a very long directory/with a file.go
   3333333  Thu 08:10  claude 5f1c0d2e      turn:3   what is \x1b[31mthis\u202e for?                   no change
   4444444  Wed 12:10                                works, before the\x1b[2J login                    ~2         main.go, and 1 more
`,
	} {
		s, out, _ := term.Test("", true, "NO_COLOR=1")
		s.Width, s.Now = width, func() time.Time { return now }
		a := &Printer{Streams: s}
		if err := a.ListRows(out, a.RowsOfTurns(listedRows(now), RowOptions{})); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := term.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		if got := "\n" + out.String(); got != want {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}
