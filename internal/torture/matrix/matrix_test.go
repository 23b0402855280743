package main

import (
	"strings"
	"testing"

	"rewind/internal/torture"
)

// TestFindFaults: a fault is found by the test that is for it; one that its tests do not see, one that the code does not have and tests that are not there
// are errors.
func TestFindFaults(t *testing.T) {
	for _, c := range []struct {
		fault, tests string
		want         string // in the error; empty: none
	}{
		{"dotgit-spelled", "TestT12Promise10DotGit", ""},
		{"dotgit-spelled", "TestSameName", "dotgit-spelled was not found"},
		{"no-such-fault", "TestT12Promise10DotGit", "no-such-fault was not found"},
		{"dotgit-spelled", "TestThatIsNotThere", "dotgit-spelled was not found"},
	} {
		o := options{dir: "../../.."}
		err := o.findFaults([]torture.Fault{{Name: c.fault, Package: "internal/worktreefs", Tests: c.tests}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s by %s: %v, want %q", c.fault, c.tests, err, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		rows, share string
		ok          bool
	}{{"", "100%", true}, {"T1,T6", "10%", true}, {"T1", "0.5", true}, {"T99", "10%", false}, {"", "0%", false}, {"", "101%", false}, {"", "x", false}} {
		var o options
		if err := o.set(c.rows, c.share, 1); (err == nil) != c.ok {
			t.Errorf("%q %q: %v", c.rows, c.share, err)
		}
	}
}
