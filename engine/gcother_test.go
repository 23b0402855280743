package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/tree"
)

// tagged names the checkpoint that an event made, so that gc keeps it.
func (p *fixture) tagged(name string, h *capture.Handled) {
	p.t.Helper()
	_, err := p.e.History.Tag(bg, name, p.get(h).ID.String(), false)
	p.must(err)
}

// TestPromise12ChangedBack: what another session changed and changed back between two steps that are kept is still its, also when the step it was merged into is merged again.
func TestPromise12ChangedBack(t *testing.T) {
	for _, keeps := range [][]int{{1}, {3, 1}, {4, 3, 2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := newProject(t)
			p.set("gc.grace", "0s")
			p.write("theirs", big("0"))
			p.save("before")
			a, b := p.agent("a"), p.agent("b")
			a.start()
			b.start()
			a.prompt("go")
			b.prompt("go")
			p.tagged("before", b.run("0", func() { p.write("other", big("0")) }))
			p.tagged("mine", a.run("1", func() { p.write("theirs", big("a")) }))
			b.run("2", func() { p.write("theirs", big("b")); p.write("dir/made", big("b")) })
			gone := p.get(b.run("3", func() { p.write("theirs", big("a")); p.remove("dir") }))
			for i := range 4 {
				b.run(fmt.Sprint("b", i), func() { p.write("other", big(fmt.Sprint(i))) })
				a.run(fmt.Sprint("a", i), func() { p.write("more", big(fmt.Sprint(i))) })
			}
			for _, n := range keeps {
				p.gc(gc.Options{Keep: n})
			}
			p.reopen()
			if p.has(gone) {
				t.Fatal("nothing was thinned")
			}
			for _, l := range p.listed() {
				if l.Merged > 0 && slices.Contains(l.By, b.name()) && !slices.Equal(l.Reverted, []string{"dir", "dir/made", "theirs"}) {
					t.Errorf("merged steps changed back %q", l.Reverted)
				}
			}
			r, err := p.e.Restorer.Checkout(bg, "before", restore.Options{Session: model.SessionChoice{Session: "a"}})
			p.must(err)
			if p.read("theirs") != big("a") {
				t.Errorf("what another session set is gone; kept: %v", p.keptNames(r))
			}
		})
	}
}

// TestPromise12OffTheLine: a step on the line that a session began from is its own past, and what steps of other lines changed that were merged into it is not.
func TestPromise12OffTheLine(t *testing.T) {
	for _, keeps := range [][]int{{1}, {2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := newProject(t)
			p.set("gc.grace", "0s")
			p.write("theirs", big("0"))
			p.write("mine", big("0"))
			p.save("before")
			a, b, s := p.agent("a"), p.agent("b"), p.agent("s")
			for _, x := range []*agent{a, b} {
				x.start()
				x.prompt("go")
			}
			p.tagged("before", a.run("0", func() { p.write("more", big("0")) }))
			a.run("1", func() { p.write("mine", big("1")) })
			gone := p.get(b.run("2", func() { p.write("theirs", big("b")) }))
			a.run("3", func() { p.write("more", big("1")) })
			p.tagged("line", a.run("4", func() { p.write("more", big("2")) }))
			b.run("5", func() { p.write("other", big("b")) })
			b.run("6", func() { p.write("other", big("b2")) })
			a.run("7", func() { p.write("mine", big("2")) })
			p.tagged("alone", a.run("8", func() { p.write("own", big("2")) }))
			s.start()
			s.prompt("go")
			s.run("9", func() { p.write("new", big("s")) })
			for _, n := range keeps {
				p.gc(gc.Options{Keep: n})
			}
			if p.has(gone) {
				t.Fatal("nothing was thinned")
			}
			// As long as that one is at work it is a colleague all the same.
			r, err := p.e.Restorer.Checkout(bg, "before", restore.Options{Session: model.SessionChoice{Session: "s"}, DryRun: true})
			p.must(err)
			if !slices.Contains(p.keptNames(r), "session own") {
				t.Errorf("what a session changed that is at work is taken; kept: %v", p.keptNames(r))
			}
			a.stop()
			r, err = p.e.Restorer.Checkout(bg, "before", restore.Options{Session: model.SessionChoice{Session: "s"}})
			p.must(err)
			if p.read("theirs") != big("b") || p.read("other") != big("b2") {
				t.Errorf("what a session of another line changed is gone; kept: %v", p.keptNames(r))
			}
			if _, ok := list(t, p.root)["own"]; ok {
				t.Errorf("what was done on the line that the session began from stays; kept: %v", p.keptNames(r))
			}
		})
	}
}

// TestPromise12TooManyToList: where more paths were changed back than a squash record lists, it lists what they lie in, and keeps all of that.
func TestPromise12TooManyToList(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	n := model.MaxReverted + 10
	fill := func(content string) {
		for i := range n {
			p.write(fmt.Sprint("gen/x/", i), content)
		}
	}
	fill("0")
	p.write("gen/mine", big("0"))
	p.save("start")
	a, b := p.agent("a"), p.agent("b")
	a.start()
	b.start()
	a.prompt("go")
	b.prompt("go")
	p.tagged("before", b.run("0", func() { p.write("other", big("0")) }))
	p.tagged("mine", a.run("1", func() { p.write("gen/x/7", "a"); p.write("gen/mine", big("a")) }))
	b.run("2", func() { fill("b") })
	b.run("3", func() { fill("0"); p.write("gen/x/7", "a") })
	b.run("4", func() { p.write("other", big("1")) })
	a.run("5", func() { p.write("more", big("1")) })
	p.gc(gc.Options{Keep: 1})
	if !slices.ContainsFunc(p.listed(), func(l history.Listed) bool { return slices.Equal(l.Reverted, []string{"gen/x/"}) }) {
		t.Error("no squash record tells of the directory")
	}
	r, err := p.e.Restorer.Checkout(bg, "before", restore.Options{Session: model.SessionChoice{Session: "a"}})
	p.must(err)
	if p.read("gen/x/7") != "a" || p.read("gen/mine") != big("0") {
		t.Errorf("kept: %v", p.keptNames(r))
	}
}

// TestPromise12LostTree: steps whose trees are known to be lost can be merged; what they changed is known as far as it can be.
func TestPromise12LostTree(t *testing.T) {
	p := newProject(t)
	p.set("gc.grace", "0s")
	p.write("f", big("0"))
	p.save("start")
	var gone []*model.Checkpoint
	for i := range 4 {
		p.write("f", big(fmt.Sprint("x", i)))
		gone = append(gone, p.save(fmt.Sprint(i)))
	}
	tx := p.e.Log.Objs.BeginAlone()
	for _, l := range p.listed() {
		if l.Tree != gone[1].Tree {
			p.must(tx.Unbase(objstore.Tree, l.Tree.Key()))
		}
	}
	p.must(tx.Expunge(objstore.Tree, gone[1].Tree.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.must(tx.Commit(bg, kv.Durable))
	if r := p.collect(gc.Options{Keep: 1}); r.Checkpoints != 4 {
		t.Errorf("%+v", r)
	}
	p.sound()
}

// TestPromise12Coarse: whatever the paths are, all of them are covered by as few as asked for, and none is coarser than need be where they are few enough.
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
			if whose.Of(strings.TrimSuffix(p, "/")) == "" && !strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/") && whose.Of(tree.Join(p[:len(p)-1], "new")) == "" {
				t.Fatalf("%q is not covered by %q", p, got)
			}
		}
		slices.Sort(paths)
		if few := slices.Compact(paths); len(few) <= most && !slices.Equal(few, got) {
			t.Fatalf("%q became %q", few, got)
		}
	})
}
