package peers

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The first refusal of a kind is written at once, the others as one line a minute, however many kinds there are.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		r := NewRefusals(slog.New(slog.NewTextHandler(&out, nil)))
		lines := func() []string {
			synctest.Wait()
			defer out.Reset()
			return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		}
		for range 1000 {
			r.Add("a connection", "uid 7", "another user")
		}
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], `msg="refused: a connection" who="uid 7" why="another user" count=1`) {
			t.Errorf("at once: %q", got)
		}
		time.Sleep(refusalsEvery + time.Second)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "count=999") {
			t.Errorf("after a minute: %q", got)
		}
		time.Sleep(3 * refusalsEvery)
		if got := lines(); got[0] != "" || r.timer != nil || len(r.kinds) != 0 {
			t.Errorf("after quiet minutes: %q", got)
		}
		for i := range 1000 {
			r.Add("a connection", fmt.Sprint("uid ", i), "another user")
		}
		if got := lines(); len(got) != maxKinds+1 {
			t.Errorf("%d lines for 1000 kinds", len(got))
		}
		r.End()
		rest := fmt.Sprint("who=others why=\"\" count=", 1000-maxKinds-1)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], rest) {
			t.Errorf("at the end: %q", got)
		}
	})
}
