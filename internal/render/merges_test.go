package render

import (
	"bytes"
	"strings"
	"testing"

	"rewind/api"
	"rewind/internal/term"
	"rewind/internal/value"
)

// Each path of a merge is named once, whatever became of it.
func TestMergesAreNamedOnce(t *testing.T) {
	t.Parallel()
	list := []api.Merge{
		{Path: "m1", Was: "w1", Verdict: value.MergeMerged},
		{Path: "m2", Verdict: value.MergeMerged},
		{Path: "m3", Was: "w3", Verdict: value.MergeSettled},
		{Path: "m4", Was: "w4", Verdict: value.MergeConflict, Reason: value.ReasonText},
	}
	for _, kind := range []string{"checkout", "pick"} {
		var out bytes.Buffer
		pr := &Printer{Streams: &term.Streams{Out: &out, Err: &out}}
		pr.TellMerges(api.RestoreResponse{Kind: kind, Merges: list})
		for _, m := range list {
			want := 1
			if kind == "pick" && m.Path == "m2" {
				want = 0 // it is in the list of what changed
			}
			if n := strings.Count(out.String(), string(m.Path)); n != want {
				t.Errorf("%s: %q is named %d times, want %d:\n%s", kind, m.Path, n, want, &out)
			}
		}
	}
}

// A dry run tells what would be, what was done is told as done.
func TestMergesOfADryRun(t *testing.T) {
	t.Parallel()
	list := []api.Merge{
		{Path: "a", Was: "b", Verdict: value.MergeMerged},
		{Path: "c", Verdict: value.MergeApplied, By: "claude/01234567-89ab"},
		{Path: "yours", Verdict: value.MergeMerged, By: value.Person},
		{Path: "d", Verdict: value.MergeConflict, Reason: value.ReasonText, Places: 1},
	}
	const conflict = "in conflict:\n  d: both changed the same lines, 1 place "
	for kind, want := range map[string][2]string{
		"checkout": {
			conflict + "marked\nmerged, followed to where the file is now:\n  a (was b)\n" +
				"merged, what claude/01234567 changed there stays:\n  c\n" +
				"merged, what you changed there stays:\n  yours\n",
			conflict + "would be marked\nwould be merged, followed to where the file is now:\n  a (was b)\n" +
				"would be merged, what claude/01234567 changed there stays:\n  c\n" +
				"would be merged, what you changed there stays:\n  yours\n",
		},
		"revert": {
			conflict + "marked\nfollowed to where the file is now:\n  a (was b)\n",
			conflict + "would be marked\nwould be followed to where the file is now:\n  a (was b)\n",
		},
	} {
		for i, dry := range []bool{false, true} {
			s, out, _ := term.Test("", false)
			pr := &Printer{Streams: s}
			pr.TellMerges(api.RestoreResponse{Kind: kind, Merges: list, DryRun: dry})
			if out.String() != want[i] {
				t.Errorf("%s, dry run %v:\n%swant\n%s", kind, dry, out, want[i])
			}
		}
	}
}
