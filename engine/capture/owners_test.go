package capture_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

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
		{"one that names", []capture.OpenCalls{edit("a", "x")}, map[string]string{"x": "a", "X": "a", "y": ""}},
		{
			"one that writes beside",
			[]capture.OpenCalls{edit("a", "d/x.txt"), shell("b")},
			map[string]string{"d/x.txt.tmp.12.ab": "a", "d/y.txt.tmp.12.ab": "b", "x.txt.tmp.1": "b"},
		},
		{
			"what is called so, and no tool writes",
			[]capture.OpenCalls{edit("a", "d/x.txt"), shell("b")},
			map[string]string{
				"d/x.txt.tmp.d/1": "b", "d/x.txt.tmp.1/y": "b", "d/x.txt.tmp.bak": "b", "d/x.txt.tmp.": "b",
			},
		},
		{
			"one names, one does not",
			[]capture.OpenCalls{edit("a", "d/x"), shell("b")},
			map[string]string{"d/x": "a", "d": "a", "d/y": "b", "y": "b"},
		},
		{"two that name none", []capture.OpenCalls{shell("a"), shell("b")}, map[string]string{"x": "a b"}},
		{
			"two that name others",
			[]capture.OpenCalls{edit("a", "x"), edit("b", "y")},
			map[string]string{"x": "a", "y": "b", "z": ""},
		},
		{
			"two that name one",
			[]capture.OpenCalls{edit("a", "x"), edit("b", "x", "y")},
			map[string]string{"x": "a b", "y": "b"},
		},
		{"one edits elsewhere", []capture.OpenCalls{edit("a"), edit("b", "y")}, map[string]string{"y": "b", "z": ""}},
		{"both edit elsewhere", []capture.OpenCalls{edit("a"), edit("b")}, map[string]string{"z": ""}},
		{"an edit and a shell of one", []capture.OpenCalls{
			{"a": {{ID: "1"}, {ID: "2", Class: hooks.Editor, Paths: []string{"x"}}}},
		}, map[string]string{"x": "a", "y": "a"}},
		{
			"lanes of one",
			[]capture.OpenCalls{
				{"a": {{ID: "1"}, {ID: "2", Lane: "s", Class: hooks.Editor, Paths: []string{"x"}}}},
				shell("b"),
			},
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
	p := enginetest.NewProject(t)
	p.Write("start", enginetest.Big("0"))
	p.Save("start")
	a, b := p.Agent("a"), p.Agent("b")
	a.Prompt("x")
	b.Prompt("y")
	b.Before("b1")
	cp := p.Get(a.Edits("a1", func() {
		p.Write("a.txt", enginetest.Big("1"))
		p.Write("b.txt", enginetest.Big("1"))
		p.Write("c.txt", enginetest.Big("1"))
	}, "a.txt"))
	want := []model.Owned{{By: []string{a.Name()}, Paths: []string{"a.txt"}}}
	if fmt.Sprint(cp.By, cp.Owned) != fmt.Sprint([]string{b.Name()}, want) {
		t.Fatalf("by %v, owned %v", cp.By, cp.Owned)
	}
	if cp.Session != a.Name() || !slices.Equal(cp.Authors(), []string{a.Name(), b.Name()}) {
		t.Errorf("of %s by %v", cp.Session, cp.Authors())
	}
	// A save while both calls are open says it, too.
	tool := hooks.Tool{Name: "Write", Call: "a2", Class: hooks.Editor, Paths: []string{p.Path("a.txt")}}
	a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.Write("a.txt", enginetest.Big("2"))
	p.Write("b.txt", enginetest.Big("2"))
	r, err := p.E.Worktree.Save(enginetest.Bg, "a", "saved", nil)
	p.Must(err)
	if of := r.Checkpoint.AuthorsOf(); strings.Join(of("a.txt"), " ") != a.Name() ||
		strings.Join(of("b.txt"), " ") != b.Name() {
		t.Errorf("saved: by %v, owned %v", r.Checkpoint.By, r.Checkpoint.Owned)
	}
	p.Reopen()
	p.Sound()
}

// TestPromise19OverThinnedHistory: what gc merged is still told apart by whose it is, so that a session goes back over
// it.
func TestPromise19OverThinnedHistory(t *testing.T) {
	for _, keeps := range [][]int{{1}, {3, 2, 1}} {
		t.Run(fmt.Sprint(keeps), func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Set("gc.grace", "0s")
			for _, name := range []string{"mine", "theirs", "same"} {
				p.Write(name, enginetest.Big("0"))
			}
			p.Save("start")
			a, b := p.Agent("a"), p.Agent("b")
			a.Prompt("go")
			b.Prompt("go")
			p.Tagged("before", a.Run("0", func() { p.Write("more", enginetest.Big("0")) }))
			var gone []*model.Checkpoint
			for i := range 5 {
				n := fmt.Sprint(i + 1)
				gone = append(gone, p.Get(a.Run("a"+n, func() { p.Write("mine", enginetest.Big(n)) })))
				b.Run("b"+n, func() { p.Write("theirs", enginetest.Big(n)) })
				a.Run("A"+n, func() { p.Write("same", enginetest.Big("a"+n)) })
				b.Run("B"+n, func() { p.Write("same", enginetest.Big("b"+n)) })
			}
			a.Run("last", func() { p.Write("more", enginetest.Big("1")) })
			for _, n := range keeps {
				p.Gc(gc.Options{Keep: n})
			}
			p.Reopen()
			if p.Has(gone[2]) {
				t.Fatal("nothing was thinned")
			}
			for steps := 0; ; steps++ {
				_, err := p.E.Restorer.Undo(enginetest.Bg, 1,
					restore.Options{Session: model.SessionChoice{Session: "a"}})
				if errors.Is(err, model.ErrNotFound) {
					break
				}
				p.Must(err)
				if steps > 20 {
					t.Fatal("undo does not end")
				}
			}
			for name, want := range map[string]string{"mine": "0", "theirs": "5", "same": "b5"} {
				if got := p.Read(name); got != enginetest.Big(want) {
					t.Errorf("%s is %.4q, want %q", name, got, want)
				}
			}
			if _, ok := enginetest.List(t, p.Root)["more"]; ok {
				t.Error("the first step was not reached")
			}
		})
	}
}
