package snapshot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/internal/torture"
	"rewind/internal/worktreefs/faultfs"
)

// taken counts the directories that b has of the baseline before, the same in memory.
func (b *baseline) taken(before *baseline) int {
	if b == nil {
		return 0
	}
	was, n := map[*baseDir]bool{}, 0
	before.root.each(func(d *baseDir) { was[d] = true })
	b.root.each(func(d *baseDir) {
		if was[d] {
			n++
		}
	})
	return n
}

func (b *baseDir) each(fn func(*baseDir)) {
	fn(b)
	for _, sub := range b.subs {
		sub.each(fn)
	}
}

func stamps(t *testing.T, root string) {
	t.Helper()
	if d := openRoot(t, root); !d.StampsNames() {
		t.Skip("missing tool: a file system that stamps directories")
	}
}

// A snapshot without a watcher that takes over what is as it was is the snapshot that a scan from nothing gives,
// whatever happened before it, and whatever became of the snapshots before. An editor works between them, and alongside
// of some.
func TestStillEqualsFullScan(t *testing.T) {
	torture.OnDisk(t)
	stamps(t, t.TempDir())
	snapshots, taken, checks := 0, 0, 1
	if torture.Full() {
		checks = 20
	}
	property := func(rt *rapid.T) {
		v := unwatched(rt)
		d := vandal{v.root, v.outside, func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") }}
		for range rapid.IntRange(0, 15).Draw(rt, "begin") {
			d.act()
		}
		for range rapid.IntRange(1, 8).Draw(rt, "rounds") {
			v.round(rt, d)
			if rapid.Bool().Draw(rt, "settle") {
				age()
				v.commit(v.same(nil))
			}
		}
		snapshots, taken = snapshots+v.snapshots, taken+v.incremental
	}
	for range checks {
		rapid.Check(t, property)
	}
	t.Logf("%d of %d snapshots took something over", taken, snapshots)
	if taken < snapshots/6 {
		t.Error("hardly anything was taken over")
	}
}

// The same with one editor that works all the time, and larger trees.
func TestStillEqualsFullScanAlongside(t *testing.T) {
	torture.OnDisk(t)
	stamps(t, t.TempDir())
	seed, rounds := uint64(11), 40
	if torture.Full() {
		seed, rounds = torture.Seed()+11, 1000
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	v := unwatched(t)
	d := vandal{v.root, v.outside, r.IntN}
	for range 300 {
		d.act()
	}
	for i := range rounds {
		v.race(r.Uint64())
		if i%4 == 0 { // on a fast machine hardly anything is old enough in a race
			age()
			v.commit(v.same(nil))
			v.commit(v.same(nil))
		}
	}
	t.Logf("%d of %d snapshots took something over", v.incremental, v.snapshots)
	if v.incremental < rounds/4 {
		t.Error("hardly anything was taken over")
	}
}

// What an unchanged tree costs: a directory is opened and described, a file described; none is listed, opened or read.
// After an edit, only its directory is listed; after a name came, the same.
func TestStillCalls(t *testing.T) {
	torture.OnDisk(t)
	stamps(t, t.TempDir())
	v := unwatched(t)
	const dirs, files = 7, 11
	for i := range dirs {
		for k := range files {
			write(t, fmt.Sprintf("%s/d%d/sub/f%d", v.root, i, k), "content")
		}
		write(t, fmt.Sprintf("%s/d%d/.gitignore", v.root, i), "*.log\n")
		write(t, fmt.Sprintf("%s/d%d/x.log", v.root, i), "ignored")
	}
	calls := func() map[string]int {
		t.Helper()
		script := &faultfs.Script{Reads: true}
		v.commit(v.same(func(s *Source) { s.Root = faultfs.Wrap(s.Root, script) }))
		n := map[string]int{}
		for line := range strings.Lines(script.Log()) {
			n[strings.Fields(line)[0]]++
		}
		return n
	}
	want := func(what string, n map[string]int, op string, want int) {
		t.Helper()
		if n[op] != want {
			t.Errorf("%s: %d calls of %s, want %d (%v)", what, n[op], op, want, n)
		}
	}
	age()
	want("first", calls(), "readdir", 1+2*dirs)
	before := v.cache.base
	n := calls()
	want("unchanged", map[string]int{"taken over": v.cache.base.taken(before)}, "taken over", 1+2*dirs)
	for op, w := range map[string]int{
		"readdir": 0, "open": 0, "read": 0, "opendir": 2 * dirs, "stat": 1 + 2*dirs,
		"lstat": dirs*files + 2*dirs, // an ignore file twice: as a rule, and as a file
	} {
		want("unchanged", n, op, w)
	}
	write(t, v.root+"/d3/sub/f4", "another content")
	age()
	n = calls()
	want("one edit", n, "readdir", 1)
	want("one edit", n, "open", 1)
	write(t, v.root+"/d3/sub/new", "content")
	age()
	n = calls()
	want("one name more", n, "readdir", 1)
	want("one name more", n, "open", 1)
	want("after it", calls(), "readdir", 0)
}
