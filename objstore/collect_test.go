package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
)

// world is a store with roots, each of which names a tree: the ids of one version of every document.
type world struct {
	t    *testing.T
	fs   *kvtest.CrashFS
	db   *kv.DB
	s    *Store
	docs int
	n    atomic.Int64 // writes
	mu   sync.RWMutex // as the engine's: held by who has a transaction, and alone to begin a collection and to condemn
}

func newWorld(t *testing.T, fs *kvtest.CrashFS) *world {
	db, err := kv.Open(context.Background(), "/store", kv.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, fs: fs, db: db, s: New(db), docs: 8}
}

func rootKey(n int) []byte { return fmt.Appendf(nil, "%cr/%d", kv.PrefixRef, n) }

// content is a version of a document: few versions, so that writers come back to what has become garbage, and like each
// other, so that they are deltas.
func content(doc, version int) []byte {
	var b strings.Builder
	for i := range 40 {
		n := i
		if i%13 == version%13 {
			n = i*1000 + version
		}
		fmt.Fprintf(&b, "document %d line %d of something that is written down\n", doc, n)
	}
	return []byte(b.String())
}

// write commits a root with a random version of each document. Half of what it wants it does not put where the store
// says that it is there.
func (w *world) write(r *rand.Rand, prev map[int]ID, prevTree *ID) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	tx := w.s.Begin()
	defer tx.Discard()
	var raw []byte
	for doc := range w.docs {
		data := content(doc, r.IntN(20))
		id := Sum(Blob, data)
		there := false
		if r.IntN(2) == 0 {
			var err error
			if there, err = tx.Has(Blob, id); err != nil {
				return err
			}
		}
		if !there {
			if _, err := tx.Put(Blob, data, prev[doc]); err != nil {
				return err
			}
		}
		prev[doc] = id
		raw = append(raw, id[:]...)
	}
	id := Sum(Tree, raw)
	if there, err := tx.Has(Tree, id); err != nil {
		return err
	} else if !there {
		if _, err := tx.Put(Tree, raw, *prevTree); err != nil {
			return err
		}
	}
	*prevTree = id
	if err := tx.Batch().Set(rootKey(r.IntN(5)), id[:]); err != nil {
		return err
	}
	w.n.Add(1)
	return tx.Commit(context.Background(), kv.Written)
}

// more waits until the writers have gone on.
func (w *world) more(n int64) {
	for until := w.n.Load() + n; w.n.Load() < until && !w.t.Failed(); {
		time.Sleep(50 * time.Microsecond)
	}
}

func (w *world) roots() (ids []ID) {
	err := w.db.Scan(kv.Range{Prefix: []byte{kv.PrefixRef}}, func(_, v []byte) error {
		ids = append(ids, ID(v))
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
	return ids
}

// check reads all that the roots lead to, and whatever else is there.
func (w *world) check(when string) {
	w.t.Helper()
	for _, root := range w.roots() {
		raw, err := w.s.Get(Tree, root)
		if err != nil {
			w.t.Fatalf("%s: %v", when, err)
		}
		for ; len(raw) > 0; raw = raw[len(ID{}):] {
			if err := w.s.Verify(context.Background(), Blob, ID(raw[:len(ID{})])); err != nil {
				w.t.Fatalf("%s: root %s: %v", when, root.Short(), err)
			}
		}
	}
	err := w.s.Walk(context.Background(), func(k Kind, key Key, _ Info) error {
		_, err := w.s.IDOf(k, key)
		return err
	})
	if err != nil {
		w.t.Fatalf("%s: what is left: %v", when, err)
	}
}

func (w *world) mark(c *Collection, id ID, lenient bool) {
	first, err := c.Mark(Tree, id)
	if err == nil && first {
		var raw []byte
		if raw, err = w.s.Get(Tree, id); err == nil {
			for ; len(raw) > 0 && err == nil; raw = raw[len(ID{}):] {
				if _, err = c.Mark(Blob, ID(raw[:len(ID{})])); lenient && errors.Is(err, ErrNotFound) {
					err = nil
				}
			}
		}
	}
	if err != nil {
		w.t.Errorf("mark %s: %v", id.Short(), err)
	}
}

func (w *world) relied(c *Collection) {
	for _, o := range c.TakeBarrier() {
		id, err := w.s.IDOf(o.Kind, o.Key)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			w.t.Error(err)
		case o.Kind == Tree:
			w.mark(c, id, true)
		default:
			if _, err := c.Mark(o.Kind, id); err != nil {
				w.t.Error(err)
			}
		}
	}
}

// collect runs one collection; step is called between its pieces, and may end it.
func (w *world) collect(batch int, step func() error) (swept Swept, dead Swept, err error) {
	var c *Collection
	for c == nil {
		w.mu.Lock()
		c, err = w.s.Collect()
		w.mu.Unlock()
		if err != nil && !errors.Is(err, ErrOpenTx) {
			return swept, dead, err
		}
	}
	defer c.End()
	c.batch = batch
	pause := func(context.Context) error { return step() }
	if err := c.List(context.Background(), pause); err != nil {
		return swept, dead, err
	}
	for _, id := range w.roots() {
		w.mark(c, id, false)
		if err := step(); err != nil {
			return swept, dead, err
		}
	}
	for {
		w.relied(c)
		w.mu.Lock()
		err = c.StartSweep()
		w.mu.Unlock()
		if err == nil {
			break
		}
		if !errors.Is(err, ErrOpenTx) && !errors.Is(err, ErrBarrier) {
			return swept, dead, err
		}
	}
	dead, _ = c.Dead()
	swept, err = c.Sweep(context.Background(), pause)
	return swept, dead, err
}

var errKilled = errors.New("killed")

// TestT8Promise05SweepBesideWriters: writers come back to what is garbage while it is collected, and the collector is
// killed anywhere: nothing that a root leads to is ever missing, what is left can be read, and the garbage goes.
func TestT8Promise05SweepBesideWriters(t *testing.T) {
	m := torture.Begin(t)
	var killed, reclaimed, garbage int64
	for run := range m.Points {
		seed := m.Seed<<32 + uint64(run)
		w := newWorld(t, kvtest.NewCrashFS())
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for n := range 3 {
			writers.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				prev, prevTree := map[int]ID{}, ID{}
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := w.write(r, prev, &prevTree); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		r := rand.New(rand.NewPCG(seed, 99))
		for range 4 {
			w.more(15)
			left, kill := 1+r.IntN(600), r.IntN(3) > 0
			var clone *kvtest.CrashFS
			_, _, err := w.collect(1+r.IntN(8), func() error {
				if r.IntN(25) == 0 {
					w.more(1)
				}
				if left--; left == 0 && kill {
					clone = w.fs.Clone(100, seed)
					return errKilled
				}
				return nil
			})
			if err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if clone != nil {
				killed++
				m.Fired(1)
				after := newWorld(t, clone)
				after.check(fmt.Sprintf("run %d, killed", run))
				if err := after.db.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
		close(stop)
		writers.Wait()
		w.check(fmt.Sprintf("run %d", run))
		swept, dead, err := w.collect(sweepBatch, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		reclaimed, garbage = reclaimed+swept.Bytes, garbage+dead.Bytes
		w.check(fmt.Sprintf("run %d, collected", run))
		if left, _, err := w.collect(sweepBatch, func() error { return nil }); err != nil || left.Objects != 0 {
			t.Fatalf("run %d: a second collection removes %d, %v", run, left.Objects, err)
		}
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
		m.Point()
	}
	if killed == 0 || garbage == 0 || reclaimed*100 < garbage*95 {
		t.Errorf("%d kills; %d of %d bytes reclaimed", killed, reclaimed, garbage)
	}
	t.Logf("%d kills; %d of %d bytes reclaimed", killed, reclaimed, garbage)
}

// TestPromise05CondemnedIsWrittenAgain: what was condemned is not there for anybody, and to put it brings it back,
// whole, so that it outlives the sweep.
func TestPromise05CondemnedIsWrittenAgain(t *testing.T) {
	w := newWorld(t, kvtest.NewCrashFS())
	defer func() { _ = w.db.Close() }()
	put := func(data []byte, prev ID) ID {
		tx := w.s.Begin()
		id, err := tx.Put(Blob, data, prev)
		if err == nil {
			err = tx.Commit(t.Context(), kv.Written)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a := put(content(1, 1), Zero)
	b := put(content(1, 2), a) // a delta on a
	c, err := w.s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	none := func(context.Context) error { return nil }
	if err := c.List(t.Context(), none); err != nil {
		t.Fatal(err)
	}
	if _, err := w.s.Collect(); !errors.Is(err, errCollecting) {
		t.Errorf("two collections: %v", err)
	}
	held := w.s.Begin()
	if err := c.StartSweep(); !errors.Is(err, ErrOpenTx) {
		t.Errorf("condemned beside a transaction: %v", err)
	}
	if ok, _ := held.Has(Blob, b); !ok {
		t.Error("not there while it is being marked")
	}
	held.Discard()
	if err := c.StartSweep(); !errors.Is(err, ErrBarrier) {
		t.Errorf("condemned what is relied on: %v", err)
	}
	c.TakeBarrier() // and not marked: it was a discarded transaction's
	if err := c.StartSweep(); err != nil {
		t.Fatal(err)
	}
	if ok, _ := w.s.Has(Blob, a); ok {
		t.Error("condemned, and there")
	}
	if got := put(content(1, 1), b); got != a { // b is condemned: nothing may be built on it
		t.Fatal(got)
	}
	if info, err := w.s.Stat(Blob, a); err != nil || info.Index != 0 {
		t.Errorf("written again at %d, %v", info.Index, err)
	}
	swept, err := c.Sweep(t.Context(), none)
	if err != nil || swept.Objects != 1 {
		t.Errorf("%+v, %v", swept, err)
	}
	c.End()
	if raw, err := w.s.Get(Blob, a); err != nil || !bytes.Equal(raw, content(1, 1)) {
		t.Errorf("put again and gone: %v", err)
	}
	if ok, _ := w.s.Has(Blob, b); ok {
		t.Error("b is there")
	}
}

// TestSweepOrder: wherever a sweep is stopped, what is left has its chunks and what it is built on.
func TestSweepOrder(t *testing.T) {
	s := newStore(t)
	s.cut = smallCut
	var prev ID
	all := map[ID]bool{}
	for i := range 12 {
		raw := append(noise(uint64(i/4), 9000), byte(i))
		if i%2 == 1 {
			raw = raw[:3000]
		}
		prev = put(t, s, Blob, raw, prev)
		all[prev] = true
	}
	c, err := s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	on := func(ctx context.Context) error { return ctx.Err() }
	if err := errors.Join(c.List(t.Context(), on), c.StartSweep()); err != nil {
		t.Fatal(err)
	}
	c.batch = 1
	pauses := 0
	swept, err := c.Sweep(t.Context(), func(context.Context) error {
		pauses++
		for id := range all {
			if ok, err := s.HasKey(Blob, id.Key()); err != nil || !ok {
				continue
			}
			deps, err := s.Deps(Blob, id.Key())
			if err != nil {
				return err
			}
			for _, dep := range deps {
				if ok, err := s.HasKey(Blob, dep); err != nil || !ok {
					t.Errorf("after %d: %s lacks %s: %v", pauses, id.Short(), dep.Short(), err)
				}
			}
		}
		return nil
	})
	if err != nil || swept.Objects != pauses || pauses <= len(all) {
		t.Errorf("%+v in %d batches: %v", swept, pauses, err)
	}
}

// TestBarrierOfASweep: once a sweep has begun what is live is there for everybody, and what is dead for nobody.
func TestBarrierOfASweep(t *testing.T) {
	s := newStore(t)
	kept, gone := put(t, s, Blob, []byte("kept"), Zero), put(t, s, Blob, []byte("gone"), Zero)
	c, err := s.Collect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	on := func(ctx context.Context) error { return ctx.Err() }
	if err := c.List(t.Context(), on); err != nil {
		t.Fatal(err)
	}
	if _, err := c.mark(int32(c.find(Object{Blob, kept.Key()}))); err != nil {
		t.Fatal(err)
	}
	if err := c.StartSweep(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[ID]bool{kept: true, gone: false, Sum(Blob, []byte("new")): false} {
		if there, err := s.Has(Blob, id); err != nil || there != want {
			t.Errorf("%s is there: %v, %v", id.Short(), there, err)
		}
	}
	again := put(t, s, Blob, []byte("gone"), Zero) // somebody writes it again meanwhile
	if _, err := c.Sweep(t.Context(), on); err != nil {
		t.Fatal(err)
	}
	for _, id := range []ID{kept, again} {
		if there, err := s.Has(Blob, id); err != nil || !there {
			t.Errorf("behind the sweep %s is there: %v, %v", id.Short(), there, err)
		}
	}
}
