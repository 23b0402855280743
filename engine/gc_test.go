package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/objstore"
)

// set changes a setting of the project.
func (p *fixture) set(key string, values ...string) {
	p.t.Helper()
	p.must(project.SetConfig(p.home, p.root, key, values))
	var err error
	p.e.Log.Config, err = project.LoadConfig(p.home, p.root)
	p.must(err)
}

// later has everything that was done be so long ago.
func (p *fixture) later(d time.Duration) {
	p.e.Log.Now = func() time.Time { return time.Now().Add(d) }
}

// gc collects, and holds that nothing that is left is broken.
func (p *fixture) gc(o gc.Options) *value.Collected {
	p.t.Helper()
	r := p.collect(o)
	p.sound()
	return r
}

func (p *fixture) collect(o gc.Options) *value.Collected {
	p.t.Helper()
	r, err := p.e.Collector.GC(bg, o)
	if err != nil {
		p.t.Fatalf("gc: %v", err)
	}
	return r
}

// sound holds that all that refs and operations lead to is there, and that lists and single steps can be shown.
func (p *fixture) sound() {
	p.t.Helper()
	if _, err := p.e.Checker.Verify(bg, true, nil, func(err error) { p.t.Fatalf("after gc: %v", err) }); err != nil {
		p.t.Fatalf("after gc: %v", err)
	}
	for _, cp := range p.listed() {
		if _, err := p.e.History.Show(bg, cp.ID.String(), nil); err != nil {
			p.t.Fatalf("after gc: show %s: %v", cp.ID.Short(), err)
		}
	}
}

func (p *fixture) listed() []history.Listed {
	p.t.Helper()
	l, err := p.e.History.List(bg, history.ListOptions{All: true})
	if err != nil {
		p.t.Fatalf("list: %v", err)
	}
	return l.Checkpoints
}

func (p *fixture) has(cp *model.Checkpoint) bool {
	return slices.ContainsFunc(p.listed(), func(l history.Listed) bool { return l.ID == cp.ID })
}

func TestPromise05KeepsWhatIsNeeded(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	var cps []*model.Checkpoint
	for i := range 12 {
		p.write("f", big(fmt.Sprint("version ", i)))
		p.write(fmt.Sprint("dir/", i), big(fmt.Sprint("file ", i)))
		cps = append(cps, p.save(fmt.Sprint(i)))
	}
	if _, err := p.e.History.Tag(bg, "works", cps[2].ID.String(), false); err != nil {
		t.Fatal(err)
	}
	p.checkout(cps[5].ID.String(), restore.Options{})
	before := list(t, p.root)
	dry := p.gc(gc.Options{Keep: 3, DryRun: true})
	if len(p.listed()) != 13 { // with the state before the checkout
		t.Fatalf("a dry run left %d", len(p.listed()))
	}
	r := p.gc(gc.Options{Keep: 3})
	if dry.Checkpoints != r.Checkpoints || dry.Objects != r.Objects || dry.Bytes != r.Bytes || r.Checkpoints == 0 || r.Objects == 0 {
		t.Errorf("announced %+v, did %+v", dry, r)
	}
	for i, cp := range cps {
		if want := i == 2 || i == 5 || i >= 9; p.has(cp) != want {
			t.Errorf("%d is there: %v", i, !want)
		}
		if _, err := p.e.History.Resolve(cp.ID.String()); (err == nil) != p.has(cp) || err != nil && !errors.Is(err, model.ErrNotFound) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if d := list(t, p.root).diff(before); d != "" {
		t.Errorf("the worktree changed:\n%s", d)
	}
	s, err := p.e.Status(bg, nil)
	if err != nil || s.Checkpoints != 5 || s.Safety != 1 || len(s.Changes) > 0 {
		t.Errorf("status: %+v, %v", s, err)
	}
	// Steps lead from one that is left to the next, and tell of all that lay between.
	shown, err := p.e.History.Show(bg, cps[5].ID.String(), nil)
	if err != nil || len(shown.Parents) != 1 || shown.Parents[0] != cps[2].ID || shown.Merged != 2 || len(shown.Changes) != 4 || shown.Counts.Added != 3 || shown.Counts.Modified != 1 {
		t.Errorf("%+v, %v", shown, err)
	}
	if _, err := p.e.Restorer.Undo(bg, 1, restore.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := p.read("f"); got != big("version 2") {
		t.Errorf("undone to %q", got[:12])
	}
	for range 2 {
		if _, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.read("f"); got != big("version 11") {
		t.Errorf("both taken back: %q", got[:12])
	}
	if again := p.gc(gc.Options{Keep: 3}); again.Checkpoints+again.Objects != 0 {
		t.Errorf("a second gc: %+v", again)
	}
	p.reopen()
	p.sound()
}

// TestPromise05DefaultPolicy: an agent's steps of a month ago are thinned to the ends of turns, later to days; what was saved stays.
func TestPromise05DefaultPolicy(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	first := p.save("first")
	a := p.agent("a")
	a.start()
	var ends, between []*model.Checkpoint
	for turn := range 3 {
		a.prompt("go on")
		for i := range 4 {
			h := a.run(fmt.Sprint(turn, i), func() { p.write("f", big(fmt.Sprint(turn, i))) })
			if i == 3 {
				ends = append(ends, p.get(h))
			} else {
				between = append(between, p.get(h))
			}
		}
		a.stop()
	}
	if r := p.gc(gc.Options{}); r.Checkpoints != 0 {
		t.Errorf("removed what is young: %+v", r)
	}
	p.later(5 * aDay)
	if r := p.gc(gc.Options{}); r.Checkpoints != len(between) {
		t.Errorf("%+v, %d between", r, len(between))
	}
	for i, cp := range append(ends, first) {
		if !p.has(cp) {
			t.Errorf("the end of turn %d is gone", i+1)
		}
	}
	for n, end := range ends {
		if cp, err := p.e.History.ResolveIn("claude/a", fmt.Sprint("turn:", n+1)); err != nil || cp.ID != end.ID {
			t.Errorf("turn:%d: %v", n+1, err)
		}
	}
	p.set("gc.keep_turns", "1d")
	if r := p.gc(gc.Options{}); r.Checkpoints != 2 || !p.has(ends[2]) || !p.has(first) {
		t.Errorf("to days: %+v", r)
	}
	if _, err := p.e.History.ResolveIn("claude/a", "turn:1"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("the state of a turn whose end is gone: %v", err)
	}
	if cp, err := p.e.History.ResolveIn("claude/a", "turn:0"); err != nil || cp.ID != first.ID {
		t.Errorf("turn:0: %v", err)
	}
}

// TestPromise12OverThinnedHistory: what a step of another session changed is still its when the step is gone.
func TestPromise12OverThinnedHistory(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	p.write("mine", big("0"))
	p.write("theirs", big("0"))
	target := p.save("before")
	if _, err := p.e.History.Tag(bg, "before", target.ID.String(), false); err != nil {
		t.Fatal(err)
	}
	a, b := p.agent("a"), p.agent("b")
	a.start()
	b.start()
	a.prompt("go")
	b.prompt("go")
	a.run("1", func() { p.write("mine", big("1")) })
	gone := p.get(b.run("2", func() { p.write("theirs", big("theirs")) }))
	b.run("3", func() { p.write("other", big("theirs, too")) })
	a.run("4", func() { p.write("more", big("mine")) })
	p.gc(gc.Options{Keep: 1})
	if p.has(gone) {
		t.Fatal("nothing was thinned")
	}
	r, err := p.e.Restorer.Checkout(bg, "before", restore.Options{Session: model.SessionChoice{Session: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.read("theirs") != big("theirs") || p.read("other") != big("theirs, too") {
		t.Errorf("what another session changed is gone; kept: %v", p.keptNames(r))
	}
}

// TestPromise12AcrossARestore: steps with a restore between them are not merged: what it brought back and another session then changed would be nobody's.
func TestPromise12AcrossARestore(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	p.write("x", big("x"))
	p.save("start")
	a, b := p.agent("a"), p.agent("b")
	tag := func(name string, h *capture.Handled) {
		_, err := p.e.History.Tag(bg, name, p.get(h).ID.String(), false)
		p.must(err)
	}
	a.start()
	b.start()
	a.prompt("go")
	b.prompt("go")
	tag("target", b.run("1", func() { p.write("y", big("y")) }))
	tag("removed", b.run("2", func() { p.remove("x") }))
	between := p.get(b.run("3", func() { p.write("z", big("z")) }))
	if _, err := p.e.Restorer.Checkout(bg, "target", restore.Options{Session: model.SessionChoice{Session: "b"}}); err != nil || p.read("x") != big("x") {
		t.Fatal(err)
	}
	gone := p.get(a.run("4", func() { p.remove("x") }))
	a.run("5", func() { p.write("w", big("w")) })
	b.run("6", func() { p.write("v", big("v")) })
	b.run("7", func() { p.write("v", big("v2")) })
	a.run("8", func() { p.write("w", big("w2")) })
	p.gc(gc.Options{Keep: 1})
	if p.has(gone) {
		t.Fatal("nothing was thinned")
	}
	if !p.has(between) {
		t.Error("the step before the restore was merged across it")
	}
	r, err := p.e.Restorer.Checkout(bg, "target", restore.Options{Session: model.SessionChoice{Session: "b"}})
	p.must(err)
	if _, err := os.Stat(p.path("x")); err == nil {
		t.Errorf("what another session removed is back; kept: %v", p.keptNames(r))
	}
}

// TestT9Promise05RefusesInDoubt: a clock that is behind the log, an object that cannot be read, a collection under way: nothing goes.
func TestT9Promise05RefusesInDoubt(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	for i := range 5 {
		p.write("f", big(fmt.Sprint(i)))
		p.save(fmt.Sprint(i))
	}
	for _, d := range []time.Duration{-time.Hour, -365 * aDay} {
		p.later(d)
		var clock *gc.ClockError
		if _, err := p.e.Collector.GC(bg, gc.Options{Keep: 1}); !errors.Is(err, gc.ErrClock) || !errors.As(err, &clock) {
			t.Errorf("%v: %v", d, err)
		}
	}
	p.later(365 * aDay)
	if _, err := p.e.Collector.GC(bg, gc.Options{Older: aDay}); !errors.Is(err, gc.ErrClock) {
		t.Errorf("a year ahead: %v", err)
	}
	if r := p.gc(gc.Options{}); r.Checkpoints != 0 { // all were saved
		t.Errorf("a year ahead: %+v", r)
	}
	p.later(0)
	p.e.Collector.Run.Mu.Lock()
	if _, err := p.e.Collector.GC(bg, gc.Options{}); !errors.Is(err, gc.ErrCollecting) {
		t.Errorf("two at a time: %v", err)
	}
	p.e.Collector.Run.Mu.Unlock()
	ctx, cancel := context.WithCancel(bg)
	cancel()
	if _, err := p.e.Collector.GC(ctx, gc.Options{Keep: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := len(p.listed()); n != 5 {
		t.Errorf("%d are left", n)
	}
	cp := p.listed()[2]
	key := cp.Tree.Key()
	b := p.e.Log.DB.NewBatch()
	p.must(b.Delete(append([]byte{kv.PrefixObject, byte(objstore.Tree)}, key[:]...)))
	p.must(b.Commit(bg, kv.Written))
	p.e.Log.Objs = objstore.New(p.e.Log.DB)
	if _, err := p.e.Collector.GC(bg, gc.Options{}); err == nil {
		t.Error("a tree is missing, and gc went on")
	}
}

// TestPromise05GCKilled: gc is killed at every write of a small store's collection: the store opens, nothing that is needed is missing, and the next gc does the rest.
func TestPromise05GCKilled(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	for i := range 30 {
		p.write("f", big(fmt.Sprint(i)))
		p.write(fmt.Sprint("d/", i%7), big(fmt.Sprint("x", i)))
		p.save(fmt.Sprint(i))
	}
	start := p.fs.Clone(100, 1)
	p.later(0)
	seeds := []int{0, 50, 100}
	for n := 1; ; n++ {
		at := start.Clone(100, 1)
		var killed *kvtest.CrashFS
		calls := 0
		ffs := kvtest.NewFaultFS(at)
		ffs.Hook(func(c kvtest.Call) {
			if calls++; calls == n*7 {
				killed = at.Clone(seeds[n%len(seeds)], uint64(n))
			}
		})
		e, err := Open(bg, p.home, p.root, project.Options{KV: kv.Options{FS: ffs}})
		p.must(err)
		if _, err := e.Collector.GC(bg, gc.Options{Keep: 3}); err != nil {
			t.Fatal(err)
		}
		p.must(e.Close())
		if killed == nil {
			if t.Logf("%d points", n-1); n < 10 {
				t.Fatalf("only %d points", n)
			}
			return
		}
		after, err := Open(bg, p.home, p.root, project.Options{KV: kv.Options{FS: killed}})
		if err != nil {
			t.Fatalf("killed at call %d: %v", n*7, err)
		}
		q := &fixture{t: t, root: p.root, home: p.home, e: after}
		q.sound()
		if r := q.gc(gc.Options{Keep: 3}); len(q.listed()) != 3 {
			t.Fatalf("killed at call %d: %d are left, %+v", n*7, len(q.listed()), r)
		}
		p.must(after.Close())
	}
}

// TestPromise05EventsDuringGC: events of agents are taken in while gc is at work, over the same contents that it removes.
func TestPromise05EventsDuringGC(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	rounds := 8
	if torture.Full() {
		rounds = 200
	}
	a := p.agent("a")
	a.start()
	a.prompt("go")
	n := 0
	work := func() {
		n++
		a.run(fmt.Sprint("c", n), func() {
			p.write(fmt.Sprint("f", n%5), big(fmt.Sprint(n%3))) // the same few contents come and go
			if n%4 == 0 {
				_ = os.RemoveAll(p.path(fmt.Sprint("f", (n+2)%5)))
			}
		})
	}
	for range rounds {
		for range 10 {
			work()
		}
		done := make(chan error, 1)
		go func() {
			_, err := p.e.Collector.GC(bg, gc.Options{Keep: 2})
			done <- err
		}()
		for waiting := true; waiting; {
			select {
			case err := <-done:
				if err != nil && !errors.Is(err, gc.ErrReplan) {
					t.Fatal(err)
				}
				waiting = false
			default:
				work()
			}
		}
		p.sound()
	}
	if r := p.gc(gc.Options{Keep: 2}); r.Kept > 4 {
		t.Errorf("%+v", r)
	}
}

// A person who waits is told how far it has come.
func TestGCProgress(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	for i := range 40 {
		p.write("f", big(fmt.Sprint(i)))
		p.save(fmt.Sprint(i))
	}
	var told []int
	r := p.collect(gc.Options{Keep: 3, Progress: func(n int, _ int64) { told = append(told, n) }})
	if len(told) == 0 || !slices.IsSorted(told) || told[len(told)-1] < r.Objects {
		t.Errorf("%+v, told %v", r, told)
	}
}

// The bytes on disk, docs/format.md#squash-record.
func TestSquashCodec(t *testing.T) {
	id := objstore.Sum(objstore.Tree, []byte("x"))
	for _, g := range []*model.Squash{{}, {Parent: id, Base: id, By: []string{"a/b", "c/d"}, Merged: 7, Counts: model.Counts{Added: 1, Modified: 2, Deleted: 3}, Reverted: []string{"/"}, Aside: []string{"c/d"}, Owned: []model.Owned{{By: []string{"a/b"}, Paths: []string{"x", "y"}}}}} {
		got, err := model.DecodeSquash(g.Encode())
		if err != nil || !slices.Equal(got.Encode(), g.Encode()) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	g := &model.Squash{By: []string{"a/b", "c/d"}, Merged: 1, Counts: model.Counts{Modified: 1}, Reverted: []string{"d/", "f"}, Aside: []string{"c/d"}}
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
	f.Add((&model.Squash{By: []string{"a", "b"}, Merged: 1, Reverted: []string{"d/", "f"}, Aside: []string{"b"}, Owned: []model.Owned{{By: []string{"b"}, Paths: []string{"f"}}}}).Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if g, err := model.DecodeSquash(raw); err == nil && !slices.Equal(g.Encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, g.Encode())
		}
	})
}
