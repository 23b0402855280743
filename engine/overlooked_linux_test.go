package engine

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rewind/engine/restore"
)

// TestPromise08ChangeWithoutReport: a restore relies on the watcher, but not for what it replaces: a store through a mapping, which nothing reports,
// is in the safety checkpoint and named; a dry run sees it, too.
func TestPromise08ChangeWithoutReport(t *testing.T) {
	p := newProject(t)
	p.write("a", "first")
	p.write("b", "b")
	one := p.save("one")
	p.write("a", "other")
	p.must(p.e.Worktree.Watch())
	time.Sleep(50 * time.Millisecond) // so that the stat cache believes its stamps
	p.save("two")
	time.Sleep(50 * time.Millisecond)
	p.save("")

	f, err := os.OpenFile(p.path("a"), os.O_RDWR, 0)
	p.must(err)
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 5, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	p.must(err)
	copy(m, "SWORN")
	p.must(unix.Munmap(m))
	if w := p.e.Worktree.Watching(); w == nil || !w.Healthy || w.Missed != 0 {
		t.Fatalf("the watcher is %+v", w)
	}

	r := p.checkout(one.ID.String(), restore.Options{DryRun: true})
	equal(t, "would replace", r.Plan.Replaced, []string{"a"})
	p.must(f.Close())
	r = p.checkout(one.ID.String(), restore.Options{})
	equal(t, "replaced", r.Plan.Replaced, []string{"a"})
	if got := p.cat(r.Safety, "a"); got != "SWORN" || len(r.Conflicts) > 0 {
		t.Errorf("the safety checkpoint has %q; conflicts %v", got, r.Conflicts)
	}
	if w := p.e.Worktree.Watching(); w.Missed == 0 {
		t.Error("the watcher did report it: the test proves nothing")
	}
}
