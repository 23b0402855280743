package gc_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/internal/value"

	"pgregory.net/rapid"

	"rewind/engine/authorship"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/tree"
)

// TestPromise12ChangedBack: what another session changed and changed back between two steps that are kept is still its,
// also when the step it was merged into is merged again.
func TestPromise12ChangedBack(t *testing.T) {
	for _, keeps := range [][]int{{1}, {3, 1}, {4, 3, 2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Set("gc.grace", "0s")
			p.Write("theirs", enginetest.Big("0"))
			p.Save("before")
			a, b := atWork(p)
			p.Tagged("before", b.Run("0", func() { p.Write("other", enginetest.Big("0")) }))
			p.Tagged("mine", a.Run("1", func() { p.Write("theirs", enginetest.Big("a")) }))
			b.Run("2", func() { p.Write("theirs", enginetest.Big("b")); p.Write("dir/made", enginetest.Big("b")) })
			gone := p.Get(b.Run("3", func() { p.Write("theirs", enginetest.Big("a")); p.Remove("dir") }))
			for i := range 4 {
				b.Run(fmt.Sprint("b", i), func() { p.Write("other", enginetest.Big(fmt.Sprint(i))) })
				a.Run(fmt.Sprint("a", i), func() { p.Write("more", enginetest.Big(fmt.Sprint(i))) })
			}
			for _, n := range keeps {
				p.Gc(gc.Options{Keep: n})
			}
			p.Reopen()
			if p.Has(gone) {
				t.Fatal("nothing was thinned")
			}
			for _, l := range p.Listed() {
				if l.Merged > 0 && slices.Contains(l.By, b.Name()) &&
					!slices.Equal(l.Reverted, []string{"dir", "dir/made", "theirs"}) {
					t.Errorf("merged steps changed back %q", l.Reverted)
				}
			}
			r, err := p.E.Restorer.Checkout(enginetest.Bg, "before",
				restore.Options{Session: model.SessionChoice{Session: "a"}})
			p.Must(err)
			if p.Read("theirs") != enginetest.Big("a") {
				t.Errorf("what another session set is gone; kept: %v", p.KeptNames(r))
			}
		})
	}
}

// TestPromise12OffTheLine: a step on the line that a session began from is its own past, and what steps of other lines
// changed that were merged into it is not.
func TestPromise12OffTheLine(t *testing.T) {
	for _, keeps := range [][]int{{1}, {2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Set("gc.grace", "0s")
			p.Write("theirs", enginetest.Big("0"))
			p.Write("mine", enginetest.Big("0"))
			p.Save("before")
			a, b, s := p.Agent("a"), p.Agent("b"), p.Agent("s")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			p.Tagged("before", a.Run("0", func() { p.Write("more", enginetest.Big("0")) }))
			a.Run("1", func() { p.Write("mine", enginetest.Big("1")) })
			gone := p.Get(b.Run("2", func() { p.Write("theirs", enginetest.Big("b")) }))
			a.Run("3", func() { p.Write("more", enginetest.Big("1")) })
			p.Tagged("line", a.Run("4", func() { p.Write("more", enginetest.Big("2")) }))
			b.Run("5", func() { p.Write("other", enginetest.Big("b")) })
			b.Run("6", func() { p.Write("other", enginetest.Big("b2")) })
			a.Run("7", func() { p.Write("mine", enginetest.Big("2")) })
			p.Tagged("alone", a.Run("8", func() { p.Write("own", enginetest.Big("2")) }))
			s.Start()
			s.Prompt("go")
			s.Run("9", func() { p.Write("new", enginetest.Big("s")) })
			for _, n := range keeps {
				p.Gc(gc.Options{Keep: n})
			}
			if p.Has(gone) {
				t.Fatal("nothing was thinned")
			}
			// As long as that one is at work it is a colleague all the same.
			r, err := p.E.Restorer.Checkout(enginetest.Bg, "before",
				restore.Options{Session: model.SessionChoice{Session: "s"}, DryRun: true})
			p.Must(err)
			if !slices.Contains(p.KeptNames(r), "session own") {
				t.Errorf("what a session changed that is at work is taken; kept: %v", p.KeptNames(r))
			}
			a.Stop()
			r, err = p.E.Restorer.Checkout(enginetest.Bg, "before",
				restore.Options{Session: model.SessionChoice{Session: "s"}})
			p.Must(err)
			if p.Read("theirs") != enginetest.Big("b") || p.Read("other") != enginetest.Big("b2") {
				t.Errorf("what a session of another line changed is gone; kept: %v", p.KeptNames(r))
			}
			if _, ok := enginetest.List(t, p.Root)["own"]; ok {
				t.Errorf("what was done on the line that the session began from stays; kept: %v", p.KeptNames(r))
			}
		})
	}
}

// TestPromise12TooManyToList: where more paths were changed back than a squash record lists, it lists what they lie in,
// and keeps all of that.
func TestPromise12TooManyToList(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	n := model.MaxReverted + 10
	fill := func(content string) {
		for i := range n {
			p.Write(fmt.Sprint("gen/x/", i), content)
		}
	}
	fill("0")
	p.Write("gen/mine", enginetest.Big("0"))
	p.Save("start")
	a, b := atWork(p)
	p.Tagged("before", b.Run("0", func() { p.Write("other", enginetest.Big("0")) }))
	p.Tagged("mine", a.Run("1", func() { p.Write("gen/x/7", "a"); p.Write("gen/mine", enginetest.Big("a")) }))
	b.Run("2", func() { fill("b") })
	b.Run("3", func() { fill("0"); p.Write("gen/x/7", "a") })
	b.Run("4", func() { p.Write("other", enginetest.Big("1")) })
	a.Run("5", func() { p.Write("more", enginetest.Big("1")) })
	p.Gc(gc.Options{Keep: 1})
	if !slices.ContainsFunc(p.Listed(),
		func(l history.Listed) bool { return slices.Equal(l.Reverted, []string{"gen/x/"}) }) {
		t.Error("no squash record tells of the directory")
	}
	r, err := p.E.Restorer.Checkout(enginetest.Bg, "before",
		restore.Options{Session: model.SessionChoice{Session: "a"}})
	p.Must(err)
	if p.Read("gen/x/7") != "a" || p.Read("gen/mine") != enginetest.Big("0") {
		t.Errorf("kept: %v", p.KeptNames(r))
	}
}

// TestPromise12LostTree: steps whose trees are known to be lost can be merged; what they changed is known as far as it
// can be.
func TestPromise12LostTree(t *testing.T) {
	for _, byAgent := range []bool{false, true} {
		lostTree(t, byAgent)
	}
}

func lostTree(t *testing.T, byAgent bool) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("f", enginetest.Big("0"))
	p.Save("start")
	a := p.Agent("a")
	var gone []*model.Checkpoint
	for i := range 4 {
		edit := p.Edits("f", fmt.Sprint("x", i))
		if byAgent {
			gone = append(gone, p.Get(a.Run(fmt.Sprint(i), edit)))
			continue
		}
		edit()
		gone = append(gone, p.Save(fmt.Sprint(i)))
	}
	tx := p.E.Log.Objs.BeginAlone()
	for _, l := range p.Listed() {
		if l.Tree != gone[1].Tree {
			p.Must(tx.Unbase(objstore.Tree, l.Tree.Key()))
		}
	}
	p.Must(tx.Expunge(objstore.Tree, gone[1].Tree.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	want := 4
	if byAgent {
		want = 3 // what was saved first is a session's newest
	}
	if r := p.Collect(gc.Options{Keep: 1}); r.Checkpoints != want {
		t.Errorf("by an agent %v: %+v", byAgent, r)
	}
	p.Sound()
}

// TestPromise12Coarse: whatever the paths are, all of them are covered by as few as asked for, and none is coarser than
// need be where they are few enough.
func TestPromise12Coarse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "c", "ä"})
		path := rapid.Custom(func(t *rapid.T) string {
			p := strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "parts"), "/")
			if rapid.IntRange(0, 9).Draw(t, "below") == 0 {
				p += "/"
			}
			return p
		})
		paths := rapid.SliceOf(path).Draw(t, "paths")
		most := rapid.IntRange(1, 20).Draw(t, "most")
		got := gc.Coarse(slices.Clone(paths), most)
		if len(got) > most || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%q", got)
		}
		whose := authorship.Theirs{}
		for _, p := range got {
			whose[p] = "x"
		}
		for _, p := range paths {
			if whose.Of(strings.TrimSuffix(p, "/")) == "" && !strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/") &&
				whose.Of(tree.Join(p[:len(p)-1], "new")) == "" {
				t.Fatalf("%q is not covered by %q", p, got)
			}
		}
		slices.Sort(paths)
		if few := slices.Compact(paths); len(few) <= most && !slices.Equal(few, got) {
			t.Fatalf("%q became %q", few, got)
		}
	})
}

// TestForkPointsStay: however old it is, gc leaves the code where a fork branched off, whoever made it, as long as the
// fork is there.
func TestForkPointsStay(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Set("gc.grace", "0s")
	f, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()})
	p.Must(err)
	point, err := p.E.History.Resolve(f.From.Checkpoint)
	p.Must(err)
	for i := range 3 {
		p.Opened(f.Fork).Take(fmt.Sprint("own ", i), p.Edits("g", fmt.Sprint(i)))
		k.Take(fmt.Sprint("on ", i), p.Edits("f", fmt.Sprint("on ", i)))
	}
	p.Gc(gc.Options{Keep: 1})
	if !p.Has(point) {
		t.Error("the code of the fork point is gone")
	}
	if cp, err := p.E.History.Resolve("fork:" + f.Session); err != nil || cp.ID != point.ID {
		t.Errorf("fork:x is %v, %v", cp, err)
	}
	if r := p.Gc(gc.Options{Keep: 1}); r.Checkpoints != 0 {
		t.Errorf("a second gc takes %d more", r.Checkpoints)
	}
	p.Must(os.Remove(f.Path))
	s := *p.E.Log.Session(f.Session)
	s.Standing = value.Deleted
	p.E.Log.Remember(&s)
	for _, key := range []string{"gc.keep_all", "gc.keep_turns", "gc.keep_daily"} {
		p.Set(key, "0s")
	}
	if p.Gc(gc.Options{}); !p.Has(point) {
		t.Error("the operation that made the fork names nothing")
	}
	p.Gc(gc.Options{Keep: 1})
	if p.Has(point) {
		t.Error("a fork that is gone keeps its fork point")
	}
}

// TestBranchesWithinStay: however old it is, gc leaves the code where a branch within a session parted and where it
// ended: it can be gone to.
func TestBranchesWithinStay(t *testing.T) {
	p, k := enginetest.Begun(t)
	p.Set("gc.grace", "0s")
	k.Take("one", p.Edits("f", "one"))
	at := k.Parent
	k.Take("two", p.Edits("f", "two"))
	k.Take("three", p.Edits("f", "three"))
	k.Parent = at // the person goes back behind two turns, and on in another way
	for i := range 3 {
		k.Take(fmt.Sprint("otherwise ", i), p.Edits("f", fmt.Sprint(i)))
	}
	var ends, others []*model.Checkpoint
	for turn, to := range map[string]*[]*model.Checkpoint{
		"turn:1": &ends, "turn:3": &ends, "turn:2": &others,
		"turn:4": &others,
	} {
		cp, err := p.E.History.Resolve(turn)
		p.Must(err)
		*to = append(*to, cp)
	}
	way := "turn:3@" + k.Name()
	found := func() error { _, err := p.E.History.Way(enginetest.Bg, way); return err }
	for until := time.Now().Add(time.Second); found() != nil && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond) // a file that was written just now is not known yet
	}
	p.Must(found())
	p.Gc(gc.Options{Keep: 1})
	for _, cp := range ends {
		if !p.Has(cp) {
			t.Errorf("the code of turn %d is gone, where a branch within the session parts or ends", cp.Cause.Turn)
		}
	}
	for _, cp := range others {
		if p.Has(cp) {
			t.Errorf("turn %d stays", cp.Cause.Turn)
		}
	}
	p.Must(found())
}

// TestMergedStateKeepsItsOwn: a state that a restore made of a checkpoint, with what others did in it, names that one:
// gc leaves it as long as the restore can be told.
func TestMergedStateKeepsItsOwn(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	p.Write("f", text("1", "1"))
	p.Save("before")
	a, b := atWork(p)
	a.Run("0", func() { p.Write("own", enginetest.Big("0")) })
	target := p.Get(a.Run("1", func() { p.Write("own", enginetest.Big("1")) }))
	p.Gc(gc.Options{Keep: 1})
	p.Write("f", text("by hand", "1"))
	b.Run("2", func() { p.Write("f", text("by hand", "b's")) })
	r := p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	if p.Read("f") != text("1", "b's") || r.Operation == nil || len(r.Operation.Changes) > 0 {
		t.Fatalf("%q, %+v", p.Read("f"), r.Operation)
	}
	for i := range 3 {
		a.Run(fmt.Sprint("a", i), func() { p.Write("own", enginetest.Big(fmt.Sprint("again ", i))) })
	}
	p.Gc(gc.Options{Keep: 1})
	p.Gc(gc.Options{Keep: 1})
}
