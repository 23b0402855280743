package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/internal/torture"
)

// TestKillSaveT1 kills save before each of its calls that change something. What must hold afterwards: the store
// opens, no acknowledged checkpoint is lost and each of them gives its files back, verify finds nothing, and a new save
// works.
func TestKillSaveT1(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	want := m.Points
	small := func(dir string) {
		write(t, dir, map[string]string{"a.txt": "a\n", "d/b.txt": strings.Repeat("b\n", 2000), "d/c.bin": noise(1, 20<<10)})
		mustHere(t, dir, "save", "two")
		write(t, dir, map[string]string{"a.txt": "a\nmore\n", "d/b.txt": strings.Repeat("b\n", 2000) + "c\n", "e/f/new": "new"})
	}
	files := func(n, size int) func(dir string) {
		return func(dir string) {
			for i := range n {
				write(t, dir, map[string]string{fmt.Sprintf("n/%d", i): noise(int64(i), size)})
			}
		}
	}
	for _, c := range []struct {
		name    string
		want    int
		prepare func(dir string)
	}{
		{"small", want - want*4/20 - want/20, small},
		{"memtable", want * 4 / 20, files(6, 800<<10)}, // more than one memtable of the store holds
		{"ingest", want / 20, files(5, 7<<20)},         // so much that objects go in as a table before the commit
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fixture := filepath.Join(memoryDir(t), "p")
			write(t, fixture, map[string]string{"a.txt": "one\n"})
			mustHere(t, fixture, "init", "--mode", "project")
			c.prepare(fixture)
			before := checkpoints(t, fixture)

			// What the store does in the background is done before the program ends, or not: the fewest count.
			dir, calls := fixture+"-copy", math.MaxInt
			for range 3 {
				clone(t, fixture, dir)
				_, _, n := killed(t, dir, 0, "save", "three")
				calls = min(calls, n)
				discard(t, dir)
			}

			var k kills
			for i, n := range torture.Spread(c.want, calls, m.Seed) {
				dir := fmt.Sprintf("%s-%d", dir, i)
				clone(t, fixture, dir)
				fired, out, _ := killed(t, dir, n, "save", "three")
				state, lost := afterSave(t, dir, n, before, out)
				k.add(fired, state)
				m.Point()
				if fired {
					m.Fired(1)
				}
				m.Acked(len(before) + min(len(out), 1))
				m.Lost(lost)
				discard(t, dir)
			}
			k.check(t, calls)
		})
	}
}

// afterSave checks a project whose save was killed and says how it was found, and how many acknowledged checkpoints are
// lost.
func afterSave(t *testing.T, dir string, n int, before []string, out string) (state string, lost int) {
	t.Helper()
	state = "nothing saved"
	after := checkpoints(t, dir)
	for _, id := range before {
		if !slices.Contains(after, id) {
			lost++
			t.Errorf("killed at call %d: checkpoint %s is lost", n, id)
		}
	}
	switch len(after) - len(before) {
	case 0:
		if out != "" {
			lost++
			t.Errorf("killed at call %d: a checkpoint was acknowledged and is lost: %s", n, out)
		}
	case 1:
		state = "saved"
	default:
		t.Errorf("killed at call %d: %d checkpoints, there were %d", n, len(after), len(before))
	}
	mustHere(t, dir, "verify")
	mustHere(t, dir, "save", "again")
	if s := mustHere(t, dir, "diff", "--name-only"); s != "" {
		t.Errorf("killed at call %d: a new save left changes out:\n%s", n, s)
	}
	now := checkpoints(t, dir)
	if len(now) != len(before)+1 {
		t.Errorf("killed at call %d: %d checkpoints after a new save, want %d", n, len(now), len(before)+1)
	}
	mustHere(t, dir, "verify")
	return state, lost
}
