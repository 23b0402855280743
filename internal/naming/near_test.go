package naming

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"before-refactor", "release", "claude/00000001-0000", "00000001-0000", "make it two", "abc"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"relaese", []string{"release"}},
		{"relaees", nil}, // two slips
		{"relese", []string{"release"}},
		{"RELEASE", []string{"release"}},
		{"rel", []string{"release"}},
		{"refactor", []string{"before-refactor"}},
		{"before-refactoring", []string{"before-refactor"}},
		{"befor-refctor", []string{"before-refactor"}},
		{"0000001", []string{"00000001-0000", "claude/00000001-0000"}},
		{"00010001", []string{"00000001-0000"}},
		{"it two", []string{"make it two"}},
		{"abd", []string{"abc"}},
		{"abcdef", nil}, // it begins with a name, but one that is too short to tell
		{"x", nil},
		{"", nil},
		{"\xff\xfe", nil},
	} {
		if got := Nearest(c.name, names, 5); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Nearest("x", []string{"y"}, 5); got != nil { // nothing of it is the same
		t.Errorf("%q for x", got)
	}
	long := strings.Repeat("a", maxNear)
	if got := Nearest(long, []string{long[1:] + "b"}, 5); len(got) != 1 {
		t.Errorf("%d bytes: none", maxNear)
	}
	if got := Nearest(long+"a", []string{long + "b"}, 5); got != nil {
		t.Errorf("%d bytes: %q", maxNear+1, got)
	}
	if got := Nearest("a", names, 1); len(got) != 1 {
		t.Errorf("%q, want one", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"abc", "acb", 1}, {"flaw", "lawn", 2}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != got {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
