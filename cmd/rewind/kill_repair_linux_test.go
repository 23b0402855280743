package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rewind/internal/torture"
)

// TestKillRepairT6 kills a repair before each of its calls that change something. Then every file of the old database
// is there still, whatever is asked is answered or said to be damaged, a second repair ends what was begun, and every
// checkpoint restores to the byte.
func TestKillRepairT6(t *testing.T) {
	t.Parallel()
	want := 14
	if torture.Full() {
		want = 600
	}
	fixture := newPast(t, filepath.Join(memoryDir(t), "p"), 3)
	tables, err := filepath.Glob(filepath.Join(fixture.dir, ".agent/rewind/store/db/*.sst"))
	must(t, err)
	slices.SortFunc(tables, func(a, b string) int {
		fa, err := os.Stat(a)
		must(t, err)
		fb, err := os.Stat(b)
		must(t, err)
		return int(fb.Size() - fa.Size())
	})
	b, err := os.ReadFile(tables[0])
	must(t, err)
	b[len(b)/2] ^= 1 // files that have stayed as they are
	must(t, os.WriteFile(tables[0], b, 0o600))
	mustFail(t, fixture.dir, 16, "verify")
	before := stored(t, filepath.Join(fixture.dir, ".agent/rewind/store/db"), ".sst")

	dir := fixture.dir + "-copy"
	clone(t, fixture.dir, dir)
	_, _, calls := killed(t, dir, 0, "verify", "--repair")
	discard(t, dir)
	var k kills
	for i, n := range points(want, calls) {
		dir := fmt.Sprintf("%s-%d", dir, i)
		clone(t, fixture.dir, dir)
		fired, _, _ := killed(t, dir, n, "verify", "--repair")
		what := fmt.Sprintf("killed at call %d", n)
		after := stored(t, filepath.Join(dir, ".agent/rewind/store"), ".sst")
		for b := range before {
			if !after[b] {
				t.Errorf("%s: a table of the old database is gone", what)
			}
		}
		state := "as it was"
		if code, out, errs := here(dir, "list"); code != 0 && code != 16 {
			t.Errorf("%s: list: exit code %d\n%s%s", what, code, out, errs)
		} else if code, _, _ = here(dir, "verify"); code == 0 {
			state = "repaired"
		}
		mustHere(t, dir, "verify", "--repair")
		if _, err := os.Stat(filepath.Join(dir, ".agent/rewind/store/repair")); err == nil {
			t.Errorf("%s: the unfinished database is left over", what)
		}
		if n := fixture.afterRepair(t, what, dir); n > 0 {
			t.Errorf("%s: %d checkpoints are affected", what, n)
		}
		k.add(fired, state)
		discard(t, dir)
	}
	k.check(t, calls)
}

func mustFail(t *testing.T, dir string, want int, args ...string) {
	t.Helper()
	if code, out, errs := here(dir, args...); code != want {
		t.Fatalf("rewind %v: exit code %d, want %d\n%s%s", args, code, want, out, errs)
	}
}
