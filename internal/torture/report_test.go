package torture

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReport: what a report has is not planned again, pieces add up, and whatever is wrong with a row is in the
// verdict.
func TestReport(t *testing.T) {
	save, small := Work{Package: "cmd/rewind", Name: "TestKillSaveT1", Row: "T1"},
		Work{Package: "x", Name: "TestT1Small", Row: "T1"}
	save.Size, _ = sizeOf(save.ID())
	tests := []Work{save, small, {Package: "x", Name: "TestPromise01InNoRow"}}
	file := filepath.Join(t.TempDir(), "report")
	asked := map[string]bool{"T1": true}
	for i, step := range []struct {
		add   Figures
		left  []int // points of the tests that are left to run, -1: none
		wrong string
	}{
		{
			Figures{Row: "T1", Test: save.ID(), Seed: 1, Points: 500, Unit: "kills", Fired: 499},
			[]int{1500, 0},
			"2 of 2 tests did not",
		},
		{
			Figures{Row: "T1", Test: save.ID(), Seed: 2, Points: 1500, Unit: "kills", Fired: 1500},
			[]int{-1, 0},
			"1 of 2 tests did not",
		},
		{Figures{Row: "T1", Test: small.ID(), Seed: 3, Points: 4}, []int{-1, -1}, ""},
		{
			Figures{Row: "T1", Test: save.ID(), Seed: 4, Points: 1, Unit: "kills", Lost: 1},
			[]int{-1, -1},
			"failed: cmd/rewind.TestKillSaveT1",
		},
	} {
		if err := Append(file, step.add); err != nil {
			t.Fatal(err)
		}
		done, err := ReadReports(file)
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
		if err := Verdict(lines, asked); (err == nil) != (step.wrong == "") || err != nil &&
			!strings.Contains(err.Error(), step.wrong) {
			t.Errorf("step %d: %v, want %q", i, err, step.wrong)
		}
		if i == 1 && lines[0].String() != "| T1 | "+Rows[0].What+
			" | 2000 kills | 2000 | 1 of 2 | 1999 | 0 | 0 | 0 | 1, 2 |" {
			t.Error(lines[0])
		}
	}
	if err := Verdict(Sum(tests, nil), map[string]bool{"T8": true}); err == nil ||
		!strings.Contains(err.Error(), "T8: there is no test") {
		t.Error(err)
	}
	if none, err := ReadReports(file + "-not-there"); none != nil || err != nil {
		t.Error(none, err)
	}
}

// TestPlanKinds: each kind of work is in its row with its size, and what a report has of it is not left.
func TestPlanKinds(t *testing.T) {
	works, err := Works(root)
	if err != nil {
		t.Fatal(err)
	}
	of := func(done ...Figures) func(id string) Work {
		return func(id string) Work {
			list := Plan(works, done)
			i := slices.IndexFunc(list, func(w Work) bool { return w.ID() == id })
			if i < 0 {
				t.Fatalf("%s is not planned", id)
			}
			return list[i]
		}
	}
	for id, want := range map[string]struct {
		row   string
		left  int
		alone bool
	}{
		"hooks.FuzzParse":                                    {"T15", 600, false},
		"objstore/object.FuzzDelta":                          {"fuzz", 120, false},
		"cmd/smart-checkpoint.ack-before-write":              {"bugs", 0, true},
		"internal/kv.fsync-ignored":                          {"bugs", 0, false},
		"engine.rest":                                        {"rest", 0, true},
		"cmd/smart-checkpoint.TestT4Promise03DiskFull":       {"T4", 200, true},
		"internal/kv.TestT19Promise16Refused":                {"T19", 0, false},
		"engine.TestT20ModelRestore":                         {"T20", 3600, false},
		"tree/snapshot.TestT14Promise14FileChangesWhileRead": {"T14", 1000, false},
		"cmd/rewind.TestT13Promise13ManyFiles":               {"T13", 1_000_000, true},
		"internal/worktreefs.TestT13OpenNeverWaits":          {"T13", 0, false},
		"cmd/smart-checkpoint.TestT7Promise03StormInTime":    {"T7", 0, true},
	} {
		w := of()(id)
		if w.Row != want.row || w.Left() != want.left || w.Alone() != want.alone || w.Whole() {
			t.Errorf("%s: row %s, %d left, alone %v, whole %v; want %+v", id, w.Row, w.Left(), w.Alone(),
				w.Whole(), want)
		}
		if w := of(Figures{Test: id, Points: int64(max(1, want.left))})(id); !w.Whole() {
			t.Errorf("%s is not whole after it was run", id)
		}
		if w := of(Figures{Test: id, Points: int64(max(1, want.left)), Failed: true})(id); w.Whole() {
			t.Errorf("%s is whole though it failed", id)
		}
	}
	ids := map[string]bool{}
	for _, w := range works {
		if ids[w.ID()] {
			t.Errorf("%s is there twice", w.ID())
		}
		ids[w.ID()] = true
	}
	for _, id := range formats {
		if !ids[id] {
			t.Errorf("%s is a format and is not fuzzed", id)
		}
	}
}

func TestFaultTable(t *testing.T) {
	f := Faults[1]
	got := FaultTable([]Figures{{Row: "bugs", Test: f.Package + "." + f.Name, Points: 1, Note: "TestX", Seconds: 6.6}})
	if want := "| `durable-unsynced` | a durable commit is not fsynced | 1 | `TestX` (internal/kv) | 7 |\n"; !strings.HasSuffix(got, want) {
		t.Error(got)
	}
}
