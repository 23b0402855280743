package kv_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
)

var unsynced = []int{0, 25, 50, 100}

// TestT2PowerCut: whatever of the unsynced bytes reaches the disk, the store opens, every Durable commit is there, and
// what is there is whole.
func TestT2PowerCut(t *testing.T) {
	t.Parallel()
	m := torture.Begin(t)
	lost, kept := 0, 0
	for seed := m.Seed - 1; seed < m.Seed-1+uint64(m.Points); seed++ {
		r := rand.New(rand.NewPCG(seed, 2))
		pct := unsynced[seed%4]
		scale := []int{50, 2000, 60000}[r.IntN(3)]
		steps := 10 + r.IntN(40)
		live := kvtest.NewCrashFS()
		o := kv.Options{FS: live, GroupSync: time.Duration(1+r.IntN(20)) * time.Millisecond}
		d := open(t, "/store", o)
		var durable atomic.Uint64
		type cut struct {
			fs  *kvtest.CrashFS
			min uint64
		}
		var cuts []cut
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Add(1)
		go func() { // cuts at any moment, also in the middle of a commit
			defer wg.Done()
			cr := rand.New(rand.NewPCG(seed, 3))
			for len(cuts) < 3 {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(cr.IntN(2000)) * time.Microsecond):
				}
				min := durable.Load()
				cuts = append(cuts, cut{live.Clone(pct, cr.Uint64()), min})
			}
		}()
		n := uint64(0)
		for range steps {
			n++
			du := kv.Durability(r.IntN(4) / 3)
			must(t, step(d, n, scale, du))
			if du == kv.Durable {
				durable.Store(n)
			}
			if r.IntN(20) == 0 {
				must(t, d.Close())
				durable.Store(n)
				d = open(t, "/store", o)
			}
		}
		close(stop)
		wg.Wait()
		cuts = append(cuts, cut{live.Clone(pct, seed), durable.Load()})
		must(t, d.Close())
		cuts = append(cuts, cut{live.Clone(pct, seed+1), n})

		for i, c := range cuts {
			d, err := kv.Open(bg, "/store", kv.Options{FS: c.fs})
			if err != nil {
				t.Fatalf("seed %d, %d%%, cut %d: %v", seed, pct, i, err)
			}
			got, err := checkSteps(d, scale)
			if err != nil {
				t.Fatalf("seed %d, %d%%, cut %d: %v", seed, pct, i, err)
			}
			m.Fired(1)
			m.Acked(int(c.min))
			if got < c.min {
				m.Lost(int(c.min - got))
				t.Fatalf("seed %d, %d%%, cut %d: %d steps, %d were durable", seed, pct, i, got, c.min)
			}
			if got < n {
				lost++
			}
			kept++
			must(t, step(d, got+1, scale, kv.Durable)) // the store goes on
			must(t, d.Close())
		}
		m.Point()
	}
	if lost == 0 {
		t.Error("no cut lost a Written commit: the test does not cut")
	}
	t.Logf("%d cuts, %d of them lost unsynced commits", kept, lost)
}

// TestPromise01WrittenBecomesDurable: a Written commit is safe from a power cut one GroupSync later (promise 1).
func TestPromise01WrittenBecomesDurable(t *testing.T) {
	live := kvtest.NewCrashFS()
	d := open(t, "/store", kv.Options{FS: live, GroupSync: 20 * time.Millisecond})
	must(t, step(d, 1, 100, kv.Written))
	newest := func() uint64 {
		c, err := kv.Open(bg, "/store", kv.Options{FS: live.Clone(0, 1)})
		must(t, err)
		defer func() { must(t, c.Close()) }()
		return c.LastSeq()
	}
	eventually(t, "the group loop syncs", func() bool { return newest() == 1 })
}

// TestT2PowerCutWhileCreating cuts before every call that makes a store: what is left is made into a whole store by the
// next open.
func TestT2PowerCutWhileCreating(t *testing.T) {
	t.Parallel()
	for _, pct := range unsynced {
		live := kvtest.NewCrashFS()
		var mu sync.Mutex
		var cuts []*kvtest.CrashFS
		ffs := kvtest.NewFaultFS(live)
		ffs.Hook(func(c kvtest.Call) {
			if c.Kind == kvtest.Read {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			cuts = append(cuts, live.Clone(pct, uint64(len(cuts))))
		})
		must(t, open(t, "/store", kv.Options{FS: ffs}).Close())
		if len(cuts) < 40 {
			t.Fatalf("only %d cuts", len(cuts))
		}
		for i, c := range cuts {
			if !torture.Today(i) {
				continue
			}
			d, err := kv.Open(bg, "/store", kv.Options{FS: c})
			if err != nil {
				t.Fatalf("%d%%, cut %d: %v", pct, i, err)
			}
			must(t, step(d, 1, 100, kv.Durable))
			must(t, d.Close())
			d, err = kv.Open(bg, "/store", kv.Options{FS: c})
			must(t, err)
			if n, err := checkSteps(d, 100); n != 1 || err != nil {
				t.Fatalf("%d%%, cut %d: %d steps, %v", pct, i, n, err)
			}
			must(t, d.Close())
		}
	}
}
