package jsonscan

import (
	"strings"
	"testing"
)

// A text is cut between characters as a person counts them, in one piece and in several.
func TestFitCutsNoCharacter(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧‍👦"
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 2, "ab"},
		{"a" + family + family, 2 + 2*len(family) - 1, "a" + family + family},
		{"a" + family + family, 2*len(family) - 1, "a" + family},
		{"a" + family, len(family) - 4, "a"},
		{"ab👍🏽", 6, "ab"},
		{"abe\u0301", 4, "ab"},
		{"न\u0940x", 4, ""},
		{"🇩🇪🇫🇷", 12, "🇩🇪"},
		{"🇩🇪🇫🇷", 8, "🇩🇪"},
		{"❤\ufe0f", 5, ""},
		{"x" + strings.Repeat("\u0301", 100), 151, "x" + strings.Repeat("\u0301", 75)}, // no character is so long
		{"修正", 4, "修"},
	} {
		want := c.want
		if want == "" { // all that fits is the beginning of one character
			want = string([]byte(c.text)[:runes([]byte(c.text), c.limit)])
		}
		if got := string(Fit([]byte(c.text), c.limit)); got != want {
			t.Errorf("Fit(%+q, %d) = %+q, want %+q", c.text, c.limit, got, want)
		}
		for at := range c.text {
			to := Text{Limit: c.limit}
			to.Add([]byte(c.text[:at]))
			to.Add([]byte(c.text[at:]))
			if got := to.String(); got != want && (at < c.limit || to.Cut) {
				t.Errorf("%+q in two pieces at %d: %+q, want %+q", c.text, at, got, want)
			}
		}
	}
}
