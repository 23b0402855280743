package gc_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
)

// waits is a context that has something done when somebody begins to wait.
type waits struct {
	context.Context
	then func()
}

func (c waits) Done() <-chan struct{} {
	c.then()
	return c.Context.Done()
}

// garbage is a project of which gc takes much, and a directory of its oldest checkpoint with the file in it.
func garbage(t *testing.T) (p *enginetest.Project, dir, file objstore.ID, raw []byte) {
	t.Helper()
	p = enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("d/old", enginetest.Big("old"))
	cp := p.Save("old")
	file = entryOf(p, cp, "d/old")
	dir = entryOf(p, cp, "d")
	raw, err := p.E.Log.Objs.Get(objstore.Tree, dir)
	p.Must(err)
	p.Remove("d")
	for i := range 12 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	return p, dir, file, raw
}

// TestGCWaitsForTransactions: gc waits for what is being written when it begins and when it ends, and leaves what that
// relies on, with all that it leads to.
func TestGCWaitsForTransactions(t *testing.T) {
	p, _, _, _ := garbage(t)
	tx := p.E.Log.Objs.Begin()
	open := true
	_, err := p.E.Collector.GC(waits{enginetest.Bg, func() { tx.Discard(); open = false }}, gc.Options{Keep: 1})
	if err != nil || open || len(p.Listed()) != 1 {
		t.Errorf("written when it begins: open %v, %d are left, %v", open, len(p.Listed()), err)
	}
	relied := 0
	for n := 1; ; n++ {
		p, dir, file, raw := garbage(t)
		there := func() bool {
			return errors.Join(p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, dir),
				p.E.Log.Objs.Verify(enginetest.Bg, objstore.Blob, file)) == nil
		}
		var tx *objstore.Tx
		waited := false
		end := func() {
			if tx != nil && !waited {
				waited = true
				_, err := tx.Put(objstore.Tree, raw, objstore.ID{})
				p.Must(errors.Join(err, tx.Commit(enginetest.Bg, kv.Written)))
			}
		}
		calls := 0
		_, err := p.E.Collector.GC(waits{enginetest.Bg, end}, gc.Options{Keep: 1, Progress: func(int, int64) {
			if calls++; calls == n {
				tx = p.E.Log.Objs.Begin()
				given := p.E.Log.Objs.Begin() // up: what it has put is nowhere
				_, err := given.Put(objstore.Blob, []byte("given up"), objstore.ID{})
				p.Must(err)
				given.Discard()
			}
		}})
		p.Must(err)
		if tx == nil {
			break
		}
		if !waited { // it was sweeping already
			tx.Discard()
			break
		}
		relied++
		if p.Sound(); !there() {
			t.Fatalf("relied on from call %d on, and gone", n)
		}
		if p.Gc(gc.Options{Keep: 1}); there() {
			t.Errorf("call %d: what nothing leads to stays", n)
		}
	}
	if relied == 0 {
		t.Error("gc waited for nobody")
	}
}

// Who waits for a writer can be stopped.
func TestGCStoppedWhileItWaits(t *testing.T) {
	p, dir, _, _ := garbage(t)
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	ctx, cancel := context.WithCancel(enginetest.Bg)
	defer cancel()
	if _, err := p.E.Collector.GC(waits{ctx, cancel}, gc.Options{Keep: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if err := p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, dir); err != nil || len(p.Listed()) != 13 {
		t.Errorf("%d are left, %v", len(p.Listed()), err)
	}
}

// A collection that somebody else has begun is not waited for.
func TestGCWhileCollected(t *testing.T) {
	p, dir, _, _ := garbage(t)
	c, err := p.E.Log.Objs.Collect()
	p.Must(err)
	defer c.End()
	ctx, cancel := context.WithCancel(enginetest.Bg)
	defer cancel()
	waited := false
	_, err = p.E.Collector.GC(waits{ctx, func() { waited = true; cancel() }}, gc.Options{Keep: 1})
	if err == nil || waited {
		t.Errorf("waited %v, %v", waited, err)
	}
	if err := p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, dir); err != nil || len(p.Listed()) != 13 {
		t.Errorf("%d are left, %v", len(p.Listed()), err)
	}
}

// How far a store has to shrink: the ages are shortened until it fits, and what cannot be is told.
func TestMaxSize(t *testing.T) {
	const steps = 40
	for _, c := range []struct {
		setting string
		o       gc.Options
		fits    bool
		rounds  int
	}{
		{"1", gc.Options{}, false, 7},
		{"1", gc.Options{MaxSize: -1}, true, 0},
		{"1", gc.Options{MaxSize: 1 << 40}, true, 0},
		{"0", gc.Options{}, true, 0},
		{"0", gc.Options{MaxSize: 1}, false, 7},
		{"0", gc.Options{MaxSize: 1, DryRun: true}, false, 7},
	} {
		p := enginetest.NewProject(t)
		p.Set("gc.max_size", c.setting)
		var cps []*model.Checkpoint
		for i := range steps {
			later(p, 5*enginetest.ADay*time.Duration(i-steps))
			p.Write("f", enginetest.Big(fmt.Sprint(i)))
			cps = append(cps, p.Save(fmt.Sprint(i)))
		}
		later(p, 0)
		r := p.Gc(c.o)
		gone := 0
		if c.rounds > 0 {
			gone = steps - 1
		}
		if r.Fits != c.fits || r.Rounds != c.rounds || r.Checkpoints != gone || r.Kept != steps-gone {
			t.Errorf("%s, %+v: %+v", c.setting, c.o, r)
		}
		if (r.Objects > 0) != (gone > 0) || (r.Bytes > 0) != (gone > 0) {
			t.Errorf("%s, %+v: %d objects, %d bytes", c.setting, c.o, r.Objects, r.Bytes)
		}
		if c.o.DryRun {
			if r.DiskAfter != r.DiskBefore-r.Bytes {
				t.Errorf("a dry run: %d bytes of %d, %d go", r.DiskAfter, r.DiskBefore, r.Bytes)
			}
			gone = 0
		}
		if len(p.Listed()) != steps-gone || !p.Has(cps[steps-1]) {
			t.Errorf("%s, %+v: %d are left", c.setting, c.o, len(p.Listed()))
		}
	}
}
