package project

import (
	"strings"
	"testing"
)

// TestPromise17OnTheWay holds which paths of an index can have brought something into the marker.
func TestPromise17OnTheWay(t *testing.T) {
	for path, want := range map[string]bool{
		".agent/rewind/id":              true,
		".agent/rewind/store/db/x":      true,
		".agent/rewind":                 true, // a link, a file, a submodule
		".agent":                        true,
		".agent/":                       true, // what a sparse index holds as a whole
		".Agent/Rewind/id":              true, // one name where case is folded
		".agent/rewind./id":             true,
		".agent\u200c/rewind/id":        true,
		".agent/notes":                  false,
		".agent/rewinder/id":            false,
		"a/.agent/rewind/id":            false,
		".agents/rewind/id":             false,
		"sub/dir/.agent/rewind/id":      false,
		strings.Repeat("x/", 100) + "y": false,
	} {
		if got := onTheWay([]byte(path), []string{".agent", "rewind"}); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	if !onTheWay([]byte("sub/.agent/rewind/id"), []string{"sub", ".agent", "rewind"}) {
		t.Error("a project below the top of its repository")
	}
}

// TestPromise17MarkerIDs holds what is read from a marker of anything.
func TestPromise17MarkerIDs(t *testing.T) {
	a, b := strings.Repeat("0a", 16), strings.Repeat("1b", 16)
	got := markerIDs([]byte("garbage\n" + a + "\r\n\n" + strings.ToUpper(a) + "\n../../x\n" + b + "\n" + a))
	if len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("%q", got)
	}
}
