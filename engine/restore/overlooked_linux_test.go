package restore_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rewind/engine/enginetest"
	"rewind/engine/restore"
)

// TestPromise08ChangeWithoutReport: a restore relies on the watcher, but not for what it replaces: a store through a
// mapping, which nothing reports, is in the safety checkpoint and named; a dry run sees it, too.
func TestPromise08ChangeWithoutReport(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("a", "first")
	p.Write("b", "b")
	one := p.Save("one")
	p.Write("a", "other")
	p.Must(p.E.Worktree.Watch())
	time.Sleep(50 * time.Millisecond) // so that the stat cache believes its stamps
	p.Save("two")
	time.Sleep(50 * time.Millisecond)
	p.Save("")

	f, err := os.OpenFile(p.Path("a"), os.O_RDWR, 0)
	p.Must(err)
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 5, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	p.Must(err)
	copy(m, "SWORN")
	p.Must(unix.Munmap(m))
	if w := p.E.Worktree.Watching(); w == nil || !w.Healthy || w.Missed != 0 {
		t.Fatalf("the watcher is %+v", w)
	}

	r := p.Checkout(one.ID.String(), restore.Options{DryRun: true})
	enginetest.Equal(t, "would replace", r.Plan.Replaced, []string{"a"})
	p.Must(f.Close())
	r = p.Checkout(one.ID.String(), restore.Options{})
	enginetest.Equal(t, "replaced", r.Plan.Replaced, []string{"a"})
	if got := p.Cat(r.Safety, "a"); got != "SWORN" || len(r.Conflicts) > 0 {
		t.Errorf("the safety checkpoint has %q; conflicts %v", got, r.Conflicts)
	}
	if w := p.E.Worktree.Watching(); w.Missed == 0 {
		t.Error("the watcher did report it: the test proves nothing")
	}
}
