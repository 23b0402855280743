package naming

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want Name
	}{
		{"3f2a", Name{Base: "3f2a", Text: "3f2a"}},
		{"works~3", Name{Base: "works", Text: "works", Back: 3}},
		{"works^", Name{Base: "works", Text: "works", Back: 1}},
		{"v1@2026", Name{Base: "v1@2026", Text: "v1@2026"}},
		{"@", Name{Kind: Current, Base: "@"}},
		{"@-", Name{Kind: Current, Base: "@", Back: 1}},
		{"@--", Name{Kind: Current, Base: "@", Back: 2}},
		{"@^", Name{Kind: Current, Base: "@", Back: 1}},
		{"@^^", Name{Kind: Current, Base: "@", Back: 2}},
		{"@~", Name{Kind: Current, Base: "@", Back: 1}},
		{"@~0", Name{Kind: Current, Base: "@"}},
		{"@~2^", Name{Kind: Current, Base: "@", Back: 3}},
		{"@-~2", Name{Kind: Current, Base: "@", Back: 3}},
		{"a--", Name{Base: "a--", Text: "a--"}},
		{"@{2026-11-22 16:03:30}", Name{Kind: Time, Base: "@{2026-11-22 16:03:30}", Text: "2026-11-22 16:03:30"}},
		{"@{5m}~1", Name{Kind: Time, Base: "@{5m}", Text: "5m", Back: 1}},
		{"session:claude/1a2b", Name{Kind: Session, Base: "session:claude/1a2b", Text: "claude/1a2b"}},
		{"session:x~2", Name{Kind: Session, Base: "session:x", Text: "x", Back: 2}},
		{"fork:1a2b", Name{Kind: Fork, Base: "fork:1a2b", Text: "1a2b"}},
		{"turn:3", Name{Kind: Turn, Base: "turn:3", Turn: 3}},
		{"turn:0", Name{Kind: Turn, Base: "turn:0"}},
		{"turn:2^", Name{Kind: Turn, Base: "turn:2", Turn: 2, Back: 1}},
		{"turn:2@claude/1a2b~3", Name{Kind: Turn, Base: "turn:2@claude/1a2b", Turn: 2, Session: "claude/1a2b", Back: 3}},
		{"before:1", Name{Kind: Turn, Base: "before:1", Before: true}},
		{"before:3@x", Name{Kind: Turn, Base: "before:3@x", Turn: 2, Before: true, Session: "x"}},
		{"turn", Name{Base: "turn", Text: "turn"}},
		{"~1", Name{Base: "~1", Text: "~1"}},
	} {
		c.want.typed = c.in
		got, err := Parse(c.in)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{
		"", "turn:", "turn:x", "turn:-1", "turn:99999999999", "before:0", "before:", "turn:2@", "session:", "fork:",
		"@{", "@{5m", "@~999999999~999999999",
	} {
		if n, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", in, n)
		}
	}
}

func TestSplitPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, name, path string }{
		{"turn:3:README.md", "turn:3", "README.md"},
		{"turn:2@claude/abc:dir/a:b.txt", "turn:2@claude/abc", "dir/a:b.txt"},
		{"before:3~1:a", "before:3~1", "a"},
		{"session:x:path", "session:x", "path"},
		{"fork:x:a:b", "fork:x", "a:b"},
		{"@{2026-11-22 16:03:30}:path", "@{2026-11-22 16:03:30}", "path"},
		{"@{14:10}~2:p", "@{14:10}~2", "p"},
		{"@:a", "@", "a"},
		{"@~2:./a", "@~2", "./a"},
		{"3f2a:a:b", "3f2a", "a:b"},
		{"turn:README.md", "turn", "README.md"}, // a tag called turn
		{"session::a", "session:", "a"},         // whoever reads the name says what is missing
	} {
		name, path, ok := SplitPath(c.in)
		if !ok || name != c.name || path != c.path {
			t.Errorf("SplitPath(%q) = %q, %q, %v; want %q, %q", c.in, name, path, ok, c.name, c.path)
		}
	}
	for _, in := range []string{"", "a", ":a", "a:", "turn:3", "turn:3:", "session:x", "@{10:00}", "@{10:00", "@{10:00}:"} {
		if name, path, ok := SplitPath(in); ok {
			t.Errorf("SplitPath(%q) = %q, %q; want none", in, name, path)
		}
	}
}

func TestCheckTag(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"works", "v1.2", "größe", "abc", "12", "deadbeat", "2026-11-22", "a@b"} {
		if err := CheckTag(tag); err != nil {
			t.Errorf("CheckTag(%q): %v", tag, err)
		}
	}
	for _, tag := range []string{
		"dead", "BEEF", "9c61215", "20261122", "0000", strings.Repeat("a", 64), strings.Repeat("a", 70), "@", "@-",
		"turn:1", "before:2", "session:x", "fork:x", "a~1", "a^", "@{5m}", "",
	} {
		if CheckTag(tag) == nil {
			t.Errorf("CheckTag(%q) takes it", tag)
		}
	}
}

// FuzzNames holds that reading never panics, that a name that can be read is cut off a path as it was put before it,
// and that a tag is always read as one.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"@", "@~3", "turn:2@a/b", "before:1", "@{5m}~1", "session:x", "fork:y^", "3f2a", "a b", "turn:", "@{",
		"~~~",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err == nil && n.String() != s {
			t.Fatalf("Parse(%q) was typed %q", s, n)
		}
		if CheckTag(s) == nil && (err != nil || n.Kind != Word || n.Text != s) {
			t.Fatalf("tag %q is read as %+v, %v", s, n, err)
		}
		// what no name has: a colon of its own
		if err == nil && (n.Kind != Word && !strings.Contains(n.Text+n.Session, ":") || n.Kind == Time && !strings.Contains(n.Text, "}")) {
			name, path, ok := SplitPath(s + ":d/a:b")
			if !ok || name != s || path != "d/a:b" {
				t.Fatalf("SplitPath(%q) = %q, %q, %v", s+":d/a:b", name, path, ok)
			}
		}
		SplitPath(s)
	})
}

// The number of digits that Forms names are those that the lookups want.
func TestForms(t *testing.T) {
	t.Parallel()
	all := strings.Join(Forms(), "\n")
	for before, digits := range map[string]int{"works": MinDigits, "@": MinCommit} {
		if want := fmt.Sprintf("(%d digits at least)\n%s", digits, before); !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

func TestWhatANameIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                      string
		ofSession, isTurn, digits bool
	}{
		{"@", true, false, false},
		{"@~2", true, false, false},
		{"turn:3", true, true, false},
		{"turn:3~1", true, false, false},
		{"turn:3@x", false, true, false},
		{"session:abc", false, false, false},
		{"@{5m}", false, false, false},
		{"works", false, false, false},
		{"3F2a", false, false, true},
		{"3F2a~1", false, false, true},
	} {
		n, err := Parse(c.name)
		if err != nil || n.OfSession() != c.ofSession || n.IsTurn() != c.isTurn || n.Digits() != c.digits {
			t.Errorf("%s: of a session %v, a turn %v, digits %v, %v; want %+v", c.name, n.OfSession(), n.IsTurn(), n.Digits(), err, c)
		}
	}
}

func TestBeginsWithDir(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"/a": true, "./a": true, "../a:turn:5": true, ".": true, "..": true, ".:@": true, "..:@": true,
		"": false, "a": false, "a/b": false, ".a": false, "..a": false, ":.": false, "turn:5": false,
	} {
		if got := BeginsWithDir(name); got != want {
			t.Errorf("BeginsWithDir(%q) = %v", name, got)
		}
	}
}
