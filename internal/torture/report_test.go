package torture

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReport: what a report has is not planned again, pieces add up, and whatever is wrong with a row is in the verdict.
func TestReport(t *testing.T) {
	save, small := Test{Package: "cmd/rewind", Name: "TestKillSaveT1", Row: "T1"}, Test{Package: "x", Name: "TestT1Small", Row: "T1"}
	tests := []Test{save, small, {Package: "x", Name: "TestPromise01InNoRow"}}
	file := filepath.Join(t.TempDir(), "report")
	asked := map[string]bool{"T1": true}
	for i, step := range []struct {
		add   Figures
		left  []int // points of the tests that are left to run, -1: none
		wrong string
	}{
		{Figures{Row: "T1", Test: save.ID(), Seed: 1, Points: 500, Unit: "kills", Fired: 499}, []int{1500, 0}, "2 of 2 tests did not"},
		{Figures{Row: "T1", Test: save.ID(), Seed: 2, Points: 1500, Unit: "kills", Fired: 1500}, []int{-1, 0}, "1 of 2 tests did not"},
		{Figures{Row: "T1", Test: small.ID(), Seed: 3, Points: 4}, []int{-1, -1}, ""},
		{Figures{Row: "T1", Test: save.ID(), Seed: 4, Points: 1, Unit: "kills", Lost: 1}, []int{-1, -1}, "failed: cmd/rewind.TestKillSaveT1"},
	} {
		if err := Append(file, step.add); err != nil {
			t.Fatal(err)
		}
		done, err := ReadReport(file)
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range Plan(tests, done) {
			want := step.left[k]
			if w.Whole() != (want < 0) || want > 0 && w.Left() != want {
				t.Errorf("step %d, %s: whole %v, %d left, want %d", i, w.ID(), w.Whole(), w.Left(), want)
			}
		}
		lines := Sum(tests, done)
		if err := Verdict(lines, asked); (err == nil) != (step.wrong == "") || err != nil && !strings.Contains(err.Error(), step.wrong) {
			t.Errorf("step %d: %v, want %q", i, err, step.wrong)
		}
		if i == 1 && lines[0].String() != "| T1 | "+Rows[0].What+" | 2000 kills | 2000 | 1 of 2 | 1999 | 0 | 0 | 0 | 1, 2 |" {
			t.Error(lines[0])
		}
	}
	if err := Verdict(Sum(tests, nil), map[string]bool{"T8": true}); err == nil || !strings.Contains(err.Error(), "T8: there is no test") {
		t.Error(err)
	}
	if none, err := ReadReport(file + "-not-there"); none != nil || err != nil {
		t.Error(none, err)
	}
}
