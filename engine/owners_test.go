package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

func (a *agent) edits(call string, do func(), paths ...string) *capture.Handled {
	a.p.t.Helper()
	tool := hooks.Tool{Name: "Write", Call: call, Class: hooks.Editor}
	for _, p := range paths {
		tool.Paths = append(tool.Paths, a.p.path(p))
	}
	a.send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	do()
	return a.send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{})
}

// TestPromise19WhoChangedIt: whose a path is when calls overlap, by what they name.
func TestPromise19WhoChangedIt(t *testing.T) {
	shell := func(name string) capture.OpenCalls { return capture.OpenCalls{name: {{ID: "1"}}} }
	edit := func(name string, paths ...string) capture.OpenCalls {
		return capture.OpenCalls{name: {{ID: "1", Class: hooks.Editor, Paths: paths}}}
	}
	for _, c := range []struct {
		name  string
		calls []capture.OpenCalls
		whose map[string]string
	}{
		{"nobody", nil, map[string]string{"x": ""}},
		{"one that names", []capture.OpenCalls{edit("a", "x")}, map[string]string{"x": "a", "y": "a"}},
		{"one names, one does not", []capture.OpenCalls{edit("a", "d/x"), shell("b")}, map[string]string{"d/x": "a", "d": "a", "d/y": "b", "y": "b"}},
		{"two that name none", []capture.OpenCalls{shell("a"), shell("b")}, map[string]string{"x": "a b"}},
		{"two that name others", []capture.OpenCalls{edit("a", "x"), edit("b", "y")}, map[string]string{"x": "a", "y": "b", "z": "a b"}},
		{"two that name one", []capture.OpenCalls{edit("a", "x"), edit("b", "x", "y")}, map[string]string{"x": "a b", "y": "b"}},
		{"one edits elsewhere", []capture.OpenCalls{edit("a"), edit("b", "y")}, map[string]string{"z": "b"}},
		{"both edit elsewhere", []capture.OpenCalls{edit("a"), edit("b")}, map[string]string{"z": "a b"}},
		{
			"lanes of one",
			[]capture.OpenCalls{{"a": {{ID: "1"}, {ID: "2", Lane: "s", Class: hooks.Editor, Paths: []string{"x"}}}}, shell("b")},
			map[string]string{"x": "a", "y": "a b"},
		},
	} {
		calls := capture.OpenCalls{}
		for _, k := range c.calls {
			for name, list := range k {
				calls[name] = list
			}
		}
		of := calls.Authors()
		for path, want := range c.whose {
			if got := strings.Join(of(path), " "); got != want {
				t.Errorf("%s: %s is %q's, want %q", c.name, path, got, want)
			}
		}
	}
}

// TestPromise19OwnedInTheLog: a checkpoint says whose each path is, and the store says that it does.
func TestPromise19OwnedInTheLog(t *testing.T) {
	p := newProject(t)
	p.write("start", big("0"))
	p.save("start")
	a, b := p.agent("a"), p.agent("b")
	a.prompt("x")
	b.prompt("y")
	b.before("b1")
	cp := p.get(a.edits("a1", func() { p.write("a.txt", big("1")); p.write("b.txt", big("1")); p.write("c.txt", big("1")) }, "a.txt"))
	want := []model.Owned{{By: []string{a.name()}, Paths: []string{"a.txt"}}}
	if fmt.Sprint(cp.By, cp.Owned) != fmt.Sprint([]string{b.name()}, want) {
		t.Fatalf("by %v, owned %v", cp.By, cp.Owned)
	}
	if cp.Session != a.name() || !slices.Equal(cp.Authors(), []string{a.name(), b.name()}) {
		t.Errorf("of %s by %v", cp.Session, cp.Authors())
	}
	// A save while both calls are open says it, too.
	tool := hooks.Tool{Name: "Write", Call: "a2", Class: hooks.Editor, Paths: []string{p.path("a.txt")}}
	a.send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.write("a.txt", big("2"))
	p.write("b.txt", big("2"))
	r, err := p.e.Worktree.Save(bg, "a", "saved", nil)
	p.must(err)
	if of := r.Checkpoint.AuthorsOf(); strings.Join(of("a.txt"), " ") != a.name() || strings.Join(of("b.txt"), " ") != b.name() {
		t.Errorf("saved: by %v, owned %v", r.Checkpoint.By, r.Checkpoint.Owned)
	}
	p.reopen()
	p.sound()
}

// TestPromise19OverThinnedHistory: what gc merged is still told apart by whose it is, so that a session goes back over it.
func TestPromise19OverThinnedHistory(t *testing.T) {
	for _, keeps := range [][]int{{1}, {3, 2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := newProject(t)
			p.set("gc.grace", "0s")
			for _, name := range []string{"mine", "theirs", "same"} {
				p.write(name, big("0"))
			}
			p.save("start")
			a, b := p.agent("a"), p.agent("b")
			a.prompt("go")
			b.prompt("go")
			p.tagged("before", a.run("0", func() { p.write("more", big("0")) }))
			var gone []*model.Checkpoint
			for i := range 5 {
				n := fmt.Sprint(i + 1)
				gone = append(gone, p.get(a.run("a"+n, func() { p.write("mine", big(n)) })))
				b.run("b"+n, func() { p.write("theirs", big(n)) })
				a.run("A"+n, func() { p.write("same", big("a"+n)) })
				b.run("B"+n, func() { p.write("same", big("b"+n)) })
			}
			a.run("last", func() { p.write("more", big("1")) })
			for _, n := range keeps {
				p.gc(gc.Options{Keep: n})
			}
			p.reopen()
			if p.has(gone[2]) {
				t.Fatal("nothing was thinned")
			}
			for steps := 0; ; steps++ {
				_, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: model.SessionChoice{Session: "a"}})
				if errors.Is(err, model.ErrNotFound) {
					break
				}
				p.must(err)
				if steps > 20 {
					t.Fatal("undo does not end")
				}
			}
			for name, want := range map[string]string{"mine": "0", "theirs": "5", "same": "b5"} {
				if got := p.read(name); got != big(want) {
					t.Errorf("%s is %.4q, want %q", name, got, want)
				}
			}
			if _, ok := list(t, p.root)["more"]; ok {
				t.Error("the first step was not reached")
			}
		})
	}
}
