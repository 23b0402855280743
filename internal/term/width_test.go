package term

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"hello", 5, "hello"},
		{"hello!", 5, "hell…"},
		{"hello", 1, "…"},
		{"hello", 0, ""},
		{"hello", -1, ""},
		{"漢字漢字", 8, "漢字漢字"},
		{"漢字漢字", 7, "漢字漢…"},
		{"漢字漢字", 6, "漢字…"},
		{"漢", 1, "…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👨‍👩‍👧 family", 4, "👨‍👩‍👧…"},
		{"a word and more", 7, "a word…"},
		{"a b c", 3, "a…"},
	} {
		if got := Truncate(c.in, c.width); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestTruncatedFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Sanitize(hostile().Draw(t, "in"))
		width := rapid.IntRange(0, 40).Draw(t, "width")
		got := Truncate(in, width)
		if w := Width(got); w > width {
			t.Fatalf("Truncate(%q, %d) = %q, %d columns", in, width, got, w)
		}
		if Width(in) <= width && width > 0 && got != in {
			t.Fatalf("Truncate(%q, %d) = %q though it fits", in, width, got)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("Truncate(%q, %d) = %q is not UTF-8", in, width, got)
		}
	})
}
