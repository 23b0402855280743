package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/torture"
)

// TestKillCollectT1 kills gc before each of its calls that change something. What must hold afterwards: the store
// opens, whatever gc was to keep is there and gives its files back, verify finds nothing, and the next gc does the
// rest.
func TestKillCollectT1(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	want := m.Points
	fixture := filepath.Join(memoryDir(t), "p")
	write(t, fixture, map[string]string{"a.txt": "0\n"})
	mustHere(t, fixture, "init", "--mode", "project")
	mustHere(t, fixture, "config", "gc.grace", "0s")
	for i := range 8 {
		write(t, fixture, map[string]string{
			"a.txt": fmt.Sprintf("%d\n", i), "d/b.txt": strings.Repeat(fmt.Sprintf("b%d\n", i), 2000),
			"d/c.bin": noise(int64(i), 200<<10),
		})
		mustHere(t, fixture, "save", fmt.Sprint("step ", i))
		if i == 1 {
			mustHere(t, fixture, "tag", "works")
		}
	}
	gc := []string{"gc", "--keep", "3", "--yes"}
	dir := fixture + "-copy"
	clone(t, fixture, dir)
	_, _, calls := killed(t, dir, 0, gc...)
	left := checkpoints(t, dir)
	discard(t, dir)
	if len(left) != 4 {
		t.Fatalf("gc left %d checkpoints", len(left))
	}
	var k kills
	for i, n := range points(want, calls) {
		dir := fmt.Sprintf("%s-%d", dir, i)
		clone(t, fixture, dir)
		fired, _, _ := killed(t, dir, n, gc...)
		mustHere(t, dir, "verify")
		state := "nothing removed"
		if now := checkpoints(t, dir); len(now) < 9 {
			state = fmt.Sprintf("%d left", len(now))
		}
		k.add(fired, state)
		m.Point()
		if fired {
			m.Fired(1)
		}
		mustHere(t, dir, gc...)
		mustHere(t, dir, "verify")
		if now := checkpoints(t, dir); strings.Join(now, " ") != strings.Join(left, " ") {
			t.Errorf("killed at call %d: %d checkpoints are left, want %d", n, len(now), len(left))
		}
		mustHere(t, dir, "checkout", "works")
		if got := mustHere(t, dir, "cat", "works:a.txt"); got != "1\n" {
			t.Errorf("killed at call %d: %q", n, got)
		}
		discard(t, dir)
	}
	k.check(t, calls)
}
