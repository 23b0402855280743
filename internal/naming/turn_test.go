package naming

import "testing"

// TestTurnWords: a turn is told with its session where whose says one, and what is told as a name is one.
func TestTurnWords(t *testing.T) {
	t.Parallel()
	const random, timed = "claude/ecb90d2e-7a44-4c1b-9d55-0a1b2c3d4e5f", "codex/01a20108-90c4-7aaa-8000-000000000001"
	for _, c := range []struct{ session, words, name string }{
		{random, "turn 4 of ecb90d2e", "turn:4@ecb90d2e"},
		{timed, "turn 4 of 01a20108-90c4", "turn:4@01a20108-90c4"},
		{"claude/s", "turn 4 of s", "turn:4@s"},
		{"manual", "turn 4", "turn:4"},
		{"", "turn 4", "turn:4"},
	} {
		whose := Whose(c.session)
		if got := TurnWords(4, whose); got != c.words {
			t.Errorf("%s: %q, want %q", c.session, got, c.words)
		}
		name := TurnName(4, whose)
		n, err := Parse(name)
		if name != c.name || err != nil || n.Turn != 4 || n.Session != whose {
			t.Errorf("%s: %q is %+v, %v; want %q", c.session, name, n, err, c.name)
		}
	}
}
