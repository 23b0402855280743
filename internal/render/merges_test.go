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
