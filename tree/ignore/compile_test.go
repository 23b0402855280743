package ignore

import (
	"slices"
	"strings"
	"testing"
)

// What a line becomes: how it is compared, and what is known of every match before it is.
func TestCompile(t *testing.T) {
	for _, c := range []struct {
		line           string
		fold           bool
		kind           kind
		lit, prefix    string
		slashes, least int
		tail           byte
	}{
		{"a", false, kindName, "a", "", 0, 0, 'a'},
		{"!ab/", false, kindName, "ab", "", 0, 0, 'b'},
		{"*.o", false, kindSuffix, ".o", "", 0, 0, 'o'},
		{"*", false, kindSuffix, "", "", 0, 0, 0},
		{"**", false, kindGlob, "", "", 0, 0, 0},
		{"*a*", false, kindGlob, "", "", 0, 1, 0},
		{"a*b", false, kindGlob, "", "", 0, 2, 'b'},
		{"a?", false, kindGlob, "", "", 0, 2, 0},
		{"a[bc]", false, kindGlob, "", "", 0, 2, 0},
		{"[bc]a", false, kindGlob, "", "", 0, 2, 'a'},
		{"\\ab", false, kindName, "ab", "", 0, 2, 'b'},
		{"\\ab", true, kindGlob, "", "", 0, 2, 'b'},
		{"/a", false, kindPath, "a", "a", 0, 0, 'a'},
		{"a/b", false, kindPath, "a/b", "a/b", 1, 0, 'b'},
		{"/a/b/c", true, kindPath, "a/b/c", "a/b/c", 2, 0, 'c'},
		{"a/\\b", false, kindPath, "a/b", "a/b", 1, 3, 'b'},
		{"a/\\b", true, kindPathGlob, "", "a/", 1, 3, 'b'},
		{"a/*", false, kindPathGlob, "", "a/", 1, 2, 0},
		{"/a*/b/c", false, kindPathGlob, "", "a", 2, 5, 'c'},
		{"a/**", false, kindPathGlob, "", "a/", anyDepth, 2, 0},
		{"a/**/b", false, kindPathGlob, "", "a/", anyDepth, 3, 'b'},
		{"a/b**/c", false, kindPathGlob, "", "a/b", 2, 5, 'c'},
		{"**\\/b", false, kindPathGlob, "", "", anyDepth, 1, 'b'},
	} {
		r := compile(c.line, c.fold)
		if r == nil {
			t.Errorf("%q: no rule", c.line)
			continue
		}
		if r.kind != c.kind || r.lit != c.lit || r.prefix != c.prefix || r.slashes != c.slashes {
			t.Errorf("%q: kind %d, literal %q, prefix %q, %d slashes", c.line, r.kind, r.lit, r.prefix, r.slashes)
		}
		if r.glob.least != c.least || r.tail() != c.tail {
			t.Errorf("%q: at least %d bytes, the last is %q", c.line, r.glob.least, r.tail())
		}
	}
}

// A line that can match no name gives no rule.
func TestCompileNothing(t *testing.T) {
	for _, line := range []string{
		"", "!", "/", "!/", "//", "a[", "a\\", "[[:x:]]",
		"/a[", "/a\\", "b/[[:x:]]", "[]", "b/[!]", "a[b-", "[-", "[!-",
		"a/[b-",
	} {
		for _, fold := range []bool{false, true} {
			if r := compile(line, fold); r != nil {
				t.Errorf("%q: %+v", line, r)
			}
		}
	}
}

// What a path is compared with may be shorter than the directory that it is in, or end within it.
func TestMatchPaths(t *testing.T) {
	for _, c := range []struct {
		line, path string
		want       bool
	}{
		{"/a/b", "a/b", true},
		{"/a/b", "abcd/x", false},
		{"/a/b", "abc/b", false},
		{"/a/b", "a/bc", false},
		{"/ab/c", "a/bc", false},
		{"/a/b*", "abcd/x", false},
		{"/a/b*", "a/bc", true},
		{"/a/b*", "a/c", false},
		{"/a/**/b", "ab/b", false},
		{"[[:]", ":", true},
		{"[[:]", "[", true},
		{"[[:]", "]", false},
		{"x[[:]y", "x:y", true},
	} {
		if got, _ := New(Options{}, File{"f", []byte(c.line)}).matchPath(c.path, false); got != c.want {
			t.Errorf("%s matches %s: %v", c.line, c.path, got)
		}
	}
}

// A directory keeps of the rules above it those that can match something in it or below; the lists above stay as they
// are, and are shared where nothing goes.
func TestChildKeeps(t *testing.T) {
	const lines = "n\n/a\n/s/b\n/s/t/c\n/x/**/d\n/s/**\n*.o\n/S/e\n"
	all := strings.Fields(lines)
	for _, fold := range []bool{false, true} {
		for path, want := range map[string]string{
			"s": "n /s/b /s/t/c /s/** *.o", "s/t": "n /s/t/c /s/** *.o", "s/t/u": "n /s/** *.o", "x": "n /x/**/d *.o",
			"y": "n *.o", "x/y": "n /x/**/d *.o",
		} {
			root := New(Options{FoldCase: fold}, File{"base", []byte("z\n")})
			root = root.WithFiles(File{"f", []byte(lines)}, File{})
			d := root
			for name := range strings.SplitSeq(path, "/") {
				d = d.Child(name)
			}
			if fold && path == "s" {
				want += " /S/e"
			}
			if got := patterns(d.git[1]); !slices.Equal(got, strings.Fields(want)) {
				t.Errorf("%s, fold %v: %q, want %q", path, fold, got, want)
			}
			if got := patterns(root.git[1]); !slices.Equal(got, all) || len(root.git[1].tails) != len(all) {
				t.Errorf("%s, fold %v: above are %q", path, fold, got)
			}
			for i, r := range d.git[1].rules {
				if tail := r.tail(); !fold && d.git[1].tails[i] != tail || fold && d.git[1].tails[i] != 0 {
					t.Errorf("%s, fold %v: %s ends with %q", path, fold, r.Pattern, d.git[1].tails[i])
				}
			}
			if below := d.Child("deeper"); len(below.own) != 0 || len(below.git) != 2 {
				t.Errorf("%s: %d lists", path, len(below.git))
			}
		}
	}
	root := New(Options{}, File{"base", []byte("z\n*.o\n")})
	if d := root.Child("s"); &d.git[0] != &root.git[0] {
		t.Error("a list from which nothing goes is copied")
	}
	deep := New(Options{}).Child("d").WithFiles(File{"d/f", []byte("/e/a\n/e/f/b\n/g/c\n")}, File{})
	if got := patterns(deep.Child("e").git[0]); !slices.Equal(got, []string{"/e/a", "/e/f/b"}) {
		t.Errorf("of a file below the root: %q", got)
	}
	if got := patterns(deep.Child("e").Child("f").git[0]); !slices.Equal(got, []string{"/e/f/b"}) {
		t.Errorf("two below: %q", got)
	}
}

func patterns(l list) (out []string) {
	for _, r := range l.rules {
		out = append(out, r.Pattern)
	}
	return out
}
