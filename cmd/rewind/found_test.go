package main

import (
	"strings"
	"testing"
	"time"

	"rewind/api"
	"rewind/internal/term"
)

// terminalOf is a command on a terminal of so many columns; out is what it prints.
func terminalOf(width int, now time.Time) (a *app, out *strings.Builder) {
	s, _, _ := term.Test("", true, "NO_COLOR=1")
	s.Width, s.Now = width, func() time.Time { return now }
	return newApp(s), &strings.Builder{}
}

// TestBlameWidths: however long the lines are, it is told who brought them; where they are short, for which prompt.
func TestBlameWidths(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 10, 0, 0, time.UTC)
	long := "return fmt.Errorf(\"it stopped in line %d of %s\", n, name)"
	edit := api.Moment{Short: "1111111", Agent: "claude", Turn: 12, Time: now.Add(-time.Hour), Prompt: "read empty files, too"}
	edit.Tool = &api.Tool{Name: "Edit"}
	saved := api.Moment{Short: "2222222", Message: "by hand: 日本語のテキスト", Time: now.Add(-time.Minute)}
	r := api.BlameResponse{
		First: 99, Origins: []api.Origin{{Moment: edit, By: []string{"claude/1"}}, {Moment: saved}},
		Lines: []api.BlamedLine{{Text: api.Text("\t" + long)}, {Text: "}", Origin: 1}},
	}
	for width, want := range map[int]string{
		40: `
1111111  claude turn 12,…   99    retur…
2222222  by hand: 日本語…  100  }
`,
		80: `
1111111  claude turn 12, Edit:…  1h ago   99          return fmt.Errorf("it sto…
2222222  by hand: 日本語のテキ…  1m ago  100  }
`,
		120: `
1111111  claude turn 12, Edit: read empty file…  1h ago   99          return fmt.Errorf("it stopped in line %d of %s",…
2222222  by hand: 日本語のテキスト               1m ago  100  }
`,
		138: `
1111111  claude turn 12, Edit: read empty files, too  1h ago   99          return fmt.Errorf("it stopped in line %d of %s", n, name)
2222222  by hand: 日本語のテキスト                    1m ago  100  }
`,
	} {
		a, out := terminalOf(width, now)
		if err := a.blamed(out, r); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + out.String(); got != want {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}

// TestGrepWidths: since when a line is there is told in whole words, set off from the lines.
func TestGrepWidths(t *testing.T) {
	t.Parallel()
	first := api.Moment{ID: "1", Short: "1111111", Event: "init"}
	last := api.Moment{ID: "2", Short: "2222222", Agent: "claude", Turn: 16}
	gone := api.Moment{ID: "3", Short: "3333333", Agent: "claude", Turn: 16}
	r := api.GrepResponse{Matches: []api.Match{{
		Path: "price/round.go", Line: 4, Text: "func roundHalfEven() {", Spans: []api.FoundSpan{{First: first, Last: last, Gone: &gone}},
	}}}
	for width, want := range map[int]string{
		40: `
price/round.go
4: func roundHalfEven() {
    the first checkpoint to claude
      turn 16 (1111111 to 2222222), gone
      since claude turn 16 (3333333)
`,
		120: `
price/round.go
4: func roundHalfEven() {
    the first checkpoint to claude turn 16 (1111111 to 2222222), gone since claude turn 16 (3333333)
`,
	} {
		a, out := terminalOf(width, time.Time{})
		if err := a.grepped(out, r, grepOptions{numbers: true}); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + out.String(); got != want {
			t.Errorf("at %d columns:\n%s", width, got)
		}
	}
}
