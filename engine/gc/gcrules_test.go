package gc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// TestPromise05NeededMeanwhile: what gets a name while gc is at work stays, wherever gc has come to.
func TestPromise05NeededMeanwhile(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	named := 0
	for n := 1; ; n++ {
		for i := range 5 {
			p.Write("f", enginetest.Big(fmt.Sprint(n, i)))
			p.Save("")
		}
		old := p.Listed()[3]
		calls, kept := 0, false
		_, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, Progress: func(int, int64) {
			if calls++; calls != n || !p.E.Log.TryLock() {
				return
			}
			p.E.Log.Unlock()
			_, err := p.E.History.Tag(enginetest.Bg, fmt.Sprint("t", n), old.ID.String(), false)
			if kept = err == nil; err != nil && !errors.Is(err, model.ErrNotFound) {
				t.Error(err)
			}
		}})
		p.Must(err)
		if p.Sound(); kept {
			named++
			cp, err := p.E.History.Resolve(old.ID.String())
			if err != nil || p.Cat(cp, "f") != enginetest.Big(fmt.Sprint(n, 1)) {
				t.Fatalf("named at call %d, and gone: %v", n, err)
			}
		}
		if calls < n {
			break
		}
	}
	if named < 3 {
		t.Errorf("%d were named", named)
	}
}

// What only the grace keeps is counted for a person who asks for more to go than the settings say.
func TestYoung(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 5 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		p.Save(fmt.Sprint(i))
	}
	for _, c := range []struct {
		o     gc.Options
		young int
	}{{gc.Options{}, 0}, {gc.Options{Keep: 2}, 3}, {gc.Options{Older: time.Nanosecond}, 4}} {
		if r := p.Gc(c.o); r.Young != c.young || r.Checkpoints != 0 {
			t.Errorf("%+v: %+v", c.o, r)
		}
	}
}

// A log that says that a tag was taken away does not keep what it named, nor names it when it is gone. What was read of
// the log before is read again.
func TestUntaggedGoes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	var cps []*model.Checkpoint
	for i := range 4 {
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		cps = append(cps, p.Save(fmt.Sprint(i)))
	}
	_, err := p.E.History.Tag(enginetest.Bg, "x", cps[1].ID.String(), false)
	p.Must(err)
	p.Gc(gc.Options{Keep: 1})
	if !p.Has(cps[1]) {
		t.Fatal("a tag keeps nothing")
	}
	p.Must(p.E.History.Untag(enginetest.Bg, "x"))
	p.Write("f", enginetest.Big("newest"))
	p.Save("newest")
	p.Set("gc.keep_safety", "1d")
	later(p, 2*enginetest.ADay)
	before := p.E.Log.Rewrites()
	p.Gc(gc.Options{Keep: 1})
	if p.Has(cps[1]) || p.E.Log.Rewrites() == before {
		t.Errorf("there: %v, rewritten %d times", p.Has(cps[1]), p.E.Log.Rewrites()-before)
	}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if len(op.Changes) > 0 {
			t.Errorf("operation %d names it: %v", op.Seq, op.Changes)
		}
		return nil
	}))
}

// The first checkpoint of the log ends a turn, too: that of before a prompt.
func TestFirstCheckpointEndsATurn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	a := p.Agent("a")
	first := p.Get(a.Start())
	for turn := range 2 {
		a.Prompt("go on")
		for i := range 3 {
			a.Run(fmt.Sprint(turn, i), func() { p.Write("f", enginetest.Big(fmt.Sprint(turn, i))) })
		}
		a.Stop()
	}
	later(p, 5*enginetest.ADay)
	if r := p.Gc(gc.Options{}); r.Checkpoints != 4 || !p.Has(first) {
		t.Errorf("%+v; the first is there: %v", r, p.Has(first))
	}
	if cp, err := p.E.History.ResolveIn("claude/a", "turn:0"); err != nil || cp.ID != first.ID {
		t.Errorf("turn:0: %v", err)
	}
}

// What a restore replaced in a session file stays as long as the restore can be taken back.
func TestReplacedConversationStays(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Set("gc.grace", "0s")
	k.Ask("three")
	k.Say("that changed no file")
	k.Stop()
	p.Settle()
	before := p.Slurp(k.File)
	p.Back("turn:1@"+k.Name(), restore.Options{InPlace: true})
	if p.Slurp(k.File) == before {
		t.Fatal("nothing was cut")
	}
	p.Gc(gc.Options{Keep: 50})
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Slurp(k.File) != before {
		t.Errorf("back is %q", p.Slurp(k.File))
	}
}

// The state that a merge made is named by the restore alone once that was taken back, and stays as long as it.
func TestMergedStateStays(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	text := func(first, last string) string { return first + enginetest.Big("between") + last + "\n" }
	p.Write("f", text("1", "1"))
	p.Save("before")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	target := p.Get(a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	a.Run("2", func() { p.Write("f", text("a's", "1")) })
	b.Run("3", func() { p.Write("f", text("a's", "b's")) })
	p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	if p.Read("f") != text("1", "b's") {
		t.Fatalf("merged is %q", p.Read("f"))
	}
	back, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.Gc(gc.Options{Keep: 50})
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{})
	p.Must(err)
	if p.Read("f") != text("1", "b's") {
		t.Errorf("redone is %q", p.Read("f"))
	}
}

// Of too many paths, those deepest down become their directory, and no others.
func TestCoarseByExample(t *testing.T) {
	for _, c := range []struct {
		paths []string
		most  int
		want  []string
	}{
		{[]string{"x", "a/b/d", "a/b/c"}, 3, []string{"a/b/c", "a/b/d", "x"}},
		{[]string{"x", "a/b/d", "a/b/c"}, 2, []string{"a/b/", "x"}},
		{[]string{"x", "a/b/d", "a/b/c", "a/c"}, 2, []string{"a/", "x"}},
		{[]string{"x", "a/b"}, 1, []string{"/"}},
		{[]string{"a/b/", "a/b/c/d", "a/b/c/e"}, 2, []string{"a/b/", "a/b/c/"}},
	} {
		if got := gc.Coarse(c.paths, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%q as %d: %q, want %q", c.paths, c.most, got, c.want)
		}
	}
}

// A path is listed as of those who changed it, if those are not all; one that stands for all below it is everybody's,
// and one that nobody is known to have changed.
func TestOwned(t *testing.T) {
	by := map[string][]string{"f": {"a"}, "d/": {"b"}, "d/g": {"a"}, "both": {"a", "b"}}
	paths := []string{"f", "d/", "d/g", "d/h", "both", "unknown"}
	got := fmt.Sprint(gc.Own(by, paths, []string{"a", "b"}))
	if got != "[{[a] [f]} {[b] [d/h]}]" {
		t.Error(got)
	}
	if got := gc.Own(by, paths, []string{"a"}); len(got) > 0 {
		t.Errorf("of one session alone: %v", got)
	}
}
