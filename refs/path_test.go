package refs

import (
	"strings"
	"testing"
)

func TestPathSet(t *testing.T) {
	for _, c := range []struct {
		set           PathSet
		path          string
		has, hasBelow bool
	}{
		{nil, "a", true, false},
		{PathSet{}, "", true, false},
		{PathSet{""}, "a/b", true, false},
		{PathSet{"a"}, "a", true, false},
		{PathSet{"a"}, "a/b", true, false},
		{PathSet{"a"}, "ab", false, false},
		{PathSet{"a"}, "b/a", false, false},
		{PathSet{"a/b"}, "c/d/e", false, false}, // as long as "a/b", and a slash behind it
		{PathSet{"a/b"}, "a", false, true},
		{PathSet{"a/b"}, "", false, true},
		{PathSet{"ab"}, "a", false, false},
		{PathSet{"a"}, "b", false, false},
		{PathSet{"x", "a/b/c"}, "a", false, true},
		{PathSet{"x", "a"}, "a/b", true, false},
	} {
		if has, below := c.set.Has(c.path), c.set.HasBelow(c.path); has != c.has || below != c.hasBelow {
			t.Errorf("%q: has %q: %v, want %v; below it: %v, want %v", c.set, c.path, has, c.has, below, c.hasBelow)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		path       string
		inside     bool // the project
		ofASession bool
	}{
		{"a", true, true},
		{"a/.b/c..d", true, true},
		{"", false, false},
		{"/a", false, true},
		{"a//b", false, true},
		{".", false, false},
		{"a/./b", false, false},
		{"a/..", false, false},
		{"a\x00", false, false},
		{"a\n", true, false},
		{strings.Repeat("x", maxFilePath), true, true},
		{strings.Repeat("x", maxFilePath+1), true, false},
	} {
		if got := IsPath(c.path); got != c.inside {
			t.Errorf("%.20q is a path of the project: %v", c.path, got)
		}
		if got := isFilePath(c.path); got != c.ofASession {
			t.Errorf("%.20q is a session file's path: %v", c.path, got)
		}
		if got := (PathSet{"a", c.path}).Valid(); got != (c.inside || c.path == "") {
			t.Errorf("a set with %.20q is valid: %v", c.path, got)
		}
	}
}
