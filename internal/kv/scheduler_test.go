package kv

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// lateWork is a database that has nothing to compact when it is first asked, and something a moment later, as pebble
// has between two levels of a compaction that was asked for: it asks for itself, once, and counts on the scheduler from
// then on.
type lateWork struct {
	s       *scheduler
	waiting bool
	started int
}

func (d *lateWork) GetAllowedWithoutPermission() int { return 1 }

func (d *lateWork) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	return d.waiting, pebble.WaitingCompaction{}
}

func (d *lateWork) Schedule(pebble.CompactionGrantHandle) bool {
	if d.waiting {
		d.waiting = false
		d.started++
		return true
	}
	if d.started == 0 {
		if ok, _ := d.s.TrySchedule(); ok {
			d.started++
		} else {
			d.waiting = true
		}
	}
	return false
}

// TestRefusedIsGranted: what is refused while the scheduler looks for work is granted by that look: nobody else would.
func TestRefusedIsGranted(t *testing.T) {
	s := newScheduler(func() bool { return false })
	d := &lateWork{s: s}
	s.Register(1, d)
	s.mu.Lock()
	s.opened = true
	s.mu.Unlock()
	s.grant()
	if d.started != 1 || s.running != 1 {
		t.Errorf("%d started, %d running: the compaction waits for ever", d.started, s.running)
	}
}

// TestCompactGivenUp: a compaction whose caller has gone while it waited for its turn has its turn.
func TestCompactGivenUp(t *testing.T) {
	d, err := Open(t.Context(), "/s", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	b := d.NewBatch()
	if err := b.Set([]byte{PrefixObject, 1}, []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(t.Context(), Written); err != nil {
		t.Fatal(err)
	}
	busy := func(n int) {
		d.sched.mu.Lock()
		defer d.sched.mu.Unlock()
		d.sched.running += n
	}
	busy(1) // another one runs
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- d.Compact(ctx) }()
	<-ctx.Done()
	time.Sleep(50 * time.Millisecond)
	busy(-1)
	d.sched.grant()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := d.Compact(ctx); err == nil {
		t.Error("a compaction began for nobody")
	}
}
