package gc_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/objstore"
)

// later has everything that was done be so long ago.
func later(p *enginetest.Project, d time.Duration) {
	p.E.Log.Now = func() time.Time { return time.Now().Add(d) }
}

func TestPromise05KeepsWhatIsNeeded(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	var cps []*model.Checkpoint
	for i := range 12 {
		p.Write("f", enginetest.Big(fmt.Sprint("version ", i)))
		p.Write(fmt.Sprint("dir/", i), enginetest.Big(fmt.Sprint("file ", i)))
		cps = append(cps, p.Save(fmt.Sprint(i)))
	}
	if _, err := p.E.History.Tag(enginetest.Bg, "works", cps[2].ID.String(), false); err != nil {
		t.Fatal(err)
	}
	p.Checkout(cps[5].ID.String(), restore.Options{})
	before := enginetest.List(t, p.Root)
	dry := p.Gc(gc.Options{Keep: 3, DryRun: true})
	if len(p.Listed()) != 13 { // with the state before the checkout
		t.Fatalf("a dry run left %d", len(p.Listed()))
	}
	r := p.Gc(gc.Options{Keep: 3})
	if dry.Checkpoints != r.Checkpoints || dry.Objects != r.Objects || dry.Bytes != r.Bytes || r.Checkpoints == 0 ||
		r.Objects == 0 {
		t.Errorf("announced %+v, did %+v", dry, r)
	}
	for i, cp := range cps {
		if want := i == 2 || i == 5 || i >= 9; p.Has(cp) != want {
			t.Errorf("%d is there: %v", i, !want)
		}
		if _, err := p.E.History.Resolve(cp.ID.String()); (err == nil) != p.Has(cp) || err != nil &&
			!errors.Is(err, model.ErrNotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if d := enginetest.List(t, p.Root).Diff(before); d != "" {
		t.Errorf("the worktree changed:\n%s", d)
	}
	s, err := p.E.Status(enginetest.Bg, nil)
	if err != nil || s.Checkpoints != 5 || s.Safety != 1 || len(s.Changes) > 0 {
		t.Errorf("status: %+v, %v", s, err)
	}
	// Steps lead from one that is left to the next, and tell of all that lay between.
	shown, err := p.E.History.Show(enginetest.Bg, cps[5].ID.String(), nil)
	if err != nil || len(shown.Parents) != 1 || shown.Parents[0] != cps[2].ID || shown.Merged != 2 ||
		len(shown.Changes) != 4 ||
		shown.Counts.Added != 3 || shown.Counts.Modified != 1 {
		t.Errorf("%+v, %v", shown, err)
	}
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := p.Read("f"); got != enginetest.Big("version 2") {
		t.Errorf("undone to %q", got[:12])
	}
	for range 2 {
		if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Read("f"); got != enginetest.Big("version 11") {
		t.Errorf("both taken back: %q", got[:12])
	}
	if again := p.Gc(gc.Options{Keep: 3}); again.Checkpoints+again.Objects != 0 {
		t.Errorf("a second gc: %+v", again)
	}
	p.Reopen()
	p.Sound()
}

// TestPromise05DefaultPolicy: an agent's steps of a month ago are thinned to the ends of turns, later to days; what was
// saved stays.
func TestPromise05DefaultPolicy(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	first := p.Save("first")
	a := p.Agent("a")
	a.Start()
	var ends, between []*model.Checkpoint
	for turn := range 3 {
		a.Prompt("go on")
		for i := range 4 {
			h := a.Run(fmt.Sprint(turn, i), func() { p.Write("f", enginetest.Big(fmt.Sprint(turn, i))) })
			if i == 3 {
				ends = append(ends, p.Get(h))
			} else {
				between = append(between, p.Get(h))
			}
		}
		a.Stop()
	}
	if r := p.Gc(gc.Options{}); r.Checkpoints != 0 {
		t.Errorf("removed what is young: %+v", r)
	}
	later(p, 5*enginetest.ADay)
	if r := p.Gc(gc.Options{}); r.Checkpoints != len(between) {
		t.Errorf("%+v, %d between", r, len(between))
	}
	for i, cp := range append(ends, first) {
		if !p.Has(cp) {
			t.Errorf("the end of turn %d is gone", i+1)
		}
	}
	for n, end := range ends {
		if cp, err := p.E.History.ResolveIn("claude/a", fmt.Sprint("turn:", n+1)); err != nil || cp.ID != end.ID {
			t.Errorf("turn:%d: %v", n+1, err)
		}
	}
	p.Set("gc.keep_turns", "1d")
	if r := p.Gc(gc.Options{}); r.Checkpoints != 2 || !p.Has(ends[2]) || !p.Has(first) {
		t.Errorf("to days: %+v", r)
	}
	if _, err := p.E.History.ResolveIn("claude/a", "turn:1"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("the state of a turn whose end is gone: %v", err)
	}
	if cp, err := p.E.History.ResolveIn("claude/a", "turn:0"); err != nil || cp.ID != first.ID {
		t.Errorf("turn:0: %v", err)
	}
}

// TestPromise12OverThinnedHistory: what a step of another session changed is still its when the step is gone.
func TestPromise12OverThinnedHistory(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("mine", enginetest.Big("0"))
	p.Write("theirs", enginetest.Big("0"))
	target := p.Save("before")
	if _, err := p.E.History.Tag(enginetest.Bg, "before", target.ID.String(), false); err != nil {
		t.Fatal(err)
	}
	a, b := atWork(p)
	a.Run("1", func() { p.Write("mine", enginetest.Big("1")) })
	gone := p.Get(b.Run("2", func() { p.Write("theirs", enginetest.Big("theirs")) }))
	b.Run("3", func() { p.Write("other", enginetest.Big("theirs, too")) })
	a.Run("4", func() { p.Write("more", enginetest.Big("mine")) })
	p.Gc(gc.Options{Keep: 1})
	if p.Has(gone) {
		t.Fatal("nothing was thinned")
	}
	r, err := p.E.Restorer.Checkout(enginetest.Bg, "before",
		restore.Options{Session: model.SessionChoice{Session: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.Read("theirs") != enginetest.Big("theirs") || p.Read("other") != enginetest.Big("theirs, too") {
		t.Errorf("what another session changed is gone; kept: %v", p.KeptNames(r))
	}
}

// TestPromise12AcrossARestore: steps with a restore between them are not merged: what it brought back and another
// session then changed would be nobody's.
func TestPromise12AcrossARestore(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("x", enginetest.Big("x"))
	p.Save("start")
	a, b := atWork(p)
	tag := func(name string, h *capture.Handled) {
		_, err := p.E.History.Tag(enginetest.Bg, name, p.Get(h).ID.String(), false)
		p.Must(err)
	}
	tag("target", b.Run("1", func() { p.Write("y", enginetest.Big("y")) }))
	tag("removed", b.Run("2", func() { p.Remove("x") }))
	between := p.Get(b.Run("3", func() { p.Write("z", enginetest.Big("z")) }))
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, "target",
		restore.Options{Session: model.SessionChoice{Session: "b"}}); err != nil ||
		p.Read("x") != enginetest.Big("x") {
		t.Fatal(err)
	}
	gone := p.Get(a.Run("4", func() { p.Remove("x") }))
	a.Run("5", func() { p.Write("w", enginetest.Big("w")) })
	b.Run("6", func() { p.Write("v", enginetest.Big("v")) })
	b.Run("7", func() { p.Write("v", enginetest.Big("v2")) })
	a.Run("8", func() { p.Write("w", enginetest.Big("w2")) })
	p.Gc(gc.Options{Keep: 1})
	if p.Has(gone) {
		t.Fatal("nothing was thinned")
	}
	if !p.Has(between) {
		t.Error("the step before the restore was merged across it")
	}
	r, err := p.E.Restorer.Checkout(enginetest.Bg, "target",
		restore.Options{Session: model.SessionChoice{Session: "b"}})
	p.Must(err)
	if _, err := os.Stat(p.Path("x")); err == nil {
		t.Errorf("what another session removed is back; kept: %v", p.KeptNames(r))
	}
}

// TestT9Promise05RefusesInDoubt: a clock that is behind the log, an object that cannot be read, a collection under way:
// nothing goes.
func TestT9Promise05RefusesInDoubt(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for i := range 5 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	for _, d := range []time.Duration{-time.Hour, -365 * enginetest.ADay} {
		later(p, d)
		var clock *gc.ClockError
		if _, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 1}); !errors.Is(err, gc.ErrClock) ||
			!errors.As(err, &clock) {
			t.Errorf("%v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{30*enginetest.ADay + time.Hour, 365 * enginetest.ADay} {
		later(p, d)
		if _, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Older: enginetest.ADay}); !errors.Is(err, gc.ErrClock) {
			t.Errorf("%v ahead: %v", d, err)
		}
	}
	if r := p.Gc(gc.Options{}); r.Checkpoints != 0 { // all were saved
		t.Errorf("a year ahead: %+v", r)
	}
	later(p, 0)
	p.E.Collector.Run.Mu.Lock()
	if _, err := p.E.Collector.GC(enginetest.Bg, gc.Options{}); !errors.Is(err, gc.ErrCollecting) {
		t.Errorf("two at a time: %v", err)
	}
	p.E.Collector.Run.Mu.Unlock()
	ctx, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	if _, err := p.E.Collector.GC(ctx, gc.Options{Keep: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := len(p.Listed()); n != 5 {
		t.Errorf("%d are left", n)
	}
	cp := p.Listed()[2]
	key := cp.Tree.Key()
	b := p.E.Log.DB.NewBatch()
	p.Must(b.Delete(append([]byte{kv.PrefixObject, byte(objstore.Tree)}, key[:]...)))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.E.Log.Objs = objstore.New(p.E.Log.DB)
	if _, err := p.E.Collector.GC(enginetest.Bg, gc.Options{}); err == nil {
		t.Error("a tree is missing, and gc went on")
	}
}

// TestPromise05GCKilled: gc is killed at every write of a small store's collection: the store opens, nothing that is
// needed is missing, and the next gc does the rest.
func TestPromise05GCKilled(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for i := range 30 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Write(fmt.Sprint("d/", i%7), enginetest.Big(fmt.Sprint("x", i)))
		p.Save(fmt.Sprint(i))
	}
	start := p.FS.Clone(100, 1)
	later(p, 0)
	seeds := []int{0, 50, 100}
	for n := 1; ; n++ {
		at := start.Clone(100, 1)
		var killed atomic.Pointer[kvtest.CrashFS]
		var calls atomic.Int64
		ffs := kvtest.NewFaultFS(at)
		ffs.Hook(func(kvtest.Call) { // also from pebble's own goroutines
			if calls.Add(1) == int64(n)*7 {
				killed.Store(at.Clone(seeds[n%len(seeds)], uint64(n)))
			}
		})
		e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: ffs}})
		p.Must(err)
		if _, err := e.Collector.GC(enginetest.Bg, gc.Options{Keep: 3}); err != nil {
			t.Fatal(err)
		}
		p.Must(e.Close())
		then := killed.Load()
		if then == nil {
			if t.Logf("%d points", n-1); n < 10 {
				t.Fatalf("only %d points", n)
			}
			return
		}
		after, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: then}})
		if err != nil {
			t.Fatalf("killed at call %d: %v", n*7, err)
		}
		q := &enginetest.Project{T: t, Root: p.Root, Home: p.Home, E: after}
		q.Sound()
		if r := q.Gc(gc.Options{Keep: 3}); len(q.Listed()) != 3 {
			t.Fatalf("killed at call %d: %d are left, %+v", n*7, len(q.Listed()), r)
		}
		p.Must(after.Close())
	}
}

// TestPromise05EventsDuringGC: events of agents are taken in while gc is at work, over the same contents that it
// removes.
func TestPromise05EventsDuringGC(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	rounds := 8
	if torture.Full() {
		rounds = 200
	}
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	n := 0
	work := func() {
		n++
		a.Run(fmt.Sprint("c", n), func() {
			p.Write(fmt.Sprint("f", n%5), enginetest.Big(fmt.Sprint(n%3))) // the same few contents come and go
			if n%4 == 0 {
				_ = os.RemoveAll(p.Path(fmt.Sprint("f", (n+2)%5)))
			}
		})
	}
	for range rounds {
		for range 10 {
			work()
		}
		done := make(chan error, 1)
		go func() {
			_, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2})
			done <- err
		}()
		var err error
		for left := 60; ; left-- { // then it has its turn: it stands back for events, and they would never end
			if left == 0 {
				err = <-done
			} else {
				select {
				case err = <-done:
					left = 0
				default:
					work()
				}
			}
			if left == 0 {
				break
			}
		}
		if err != nil && !errors.Is(err, gc.ErrReplan) {
			t.Fatal(err)
		}
		p.Sound()
	}
	if r := p.Gc(gc.Options{Keep: 2}); r.Kept > 4 {
		t.Errorf("%+v", r)
	}
}

// A person who waits is told how far it has come.
func TestGCProgress(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	for i := range 40 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	var told []int
	r := p.Collect(gc.Options{Keep: 3, Progress: func(n int, bytes int64) {
		if told = append(told, n); bytes != 0 { // it counts no bytes
			t.Errorf("%d bytes are told of", bytes)
		}
	}})
	if len(told) == 0 || !slices.IsSorted(told) || told[len(told)-1] < r.Objects {
		t.Errorf("%+v, told %v", r, told)
	}
}

// The bytes on disk, docs/format.md#squash-record.
func TestSquashCodec(t *testing.T) {
	id := objstore.Sum(objstore.Tree, []byte("x"))
	for _, g := range []*model.Squash{
		{},
		{Parent: id, Base: id, By: []string{"a/b", "c/d"}, Merged: 7, Counts: model.Counts{
			Added:    1,
			Modified: 2, Deleted: 3,
		}, Reverted: []string{"/"}, Aside: []string{"c/d"}, Owned: []model.Owned{{
			By:    []string{"a/b"},
			Paths: []string{"x", "y"},
		}}},
	} {
		got, err := model.DecodeSquash(g.Encode())
		if err != nil || !slices.Equal(got.Encode(), g.Encode()) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	g := &model.Squash{
		By: []string{"a/b", "c/d"}, Merged: 1, Counts: model.Counts{Modified: 1}, Reverted: []string{"d/", "f"},
		Aside: []string{"c/d"},
	}
	if got := fmt.Sprintf("%x", g.Encode()); got != "030803612f6203632f64"+"040101"+"060101"+"080502642f0166"+"090403632f64" {
		t.Error(got)
	}
	for _, bad := range []string{"0804016601" + "66", "080401660165", "080100", "090401660165", "0a0101"} {
		raw, err := hex.DecodeString(bad)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := model.DecodeSquash(raw); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzSquash(f *testing.F) {
	id := objstore.Sum(objstore.Tree, []byte("x"))
	f.Add((&model.Squash{Parent: id, Base: id, By: []string{"a"}, Merged: 1}).Encode())
	f.Add((&model.Squash{
		By: []string{"a", "b"}, Merged: 1, Reverted: []string{"d/", "f"}, Aside: []string{"b"},
		Owned: []model.Owned{{By: []string{"b"}, Paths: []string{"f"}}},
	}).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if g, err := model.DecodeSquash(raw); err == nil && !slices.Equal(g.Encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, g.Encode())
		}
	})
}
