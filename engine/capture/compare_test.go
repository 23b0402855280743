package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rewind/engine"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/project"
	"rewind/internal/kv"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// watched has the tree watched, or skips.
func watch(p *enginetest.Project, t *testing.T) {
	t.Helper()
	if err := p.E.Worktree.Watch(); errors.Is(err, capture.ErrNoWatcher) {
		t.Skip("missing tool: a watcher on this system")
	} else {
		p.Must(err)
	}
}

// objects counts what the store holds.
func objects(p *enginetest.Project) int {
	n := 0
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixObject}}, func(_, _ []byte) error { n++; return nil }))
	return n
}

// unsaved is what status finds changed; slow: what a look at every file finds.
func unsaved(p *enginetest.Project) (fast, slow []string) {
	p.T.Helper()
	s, err := p.E.Status(context.Background(), nil)
	p.Must(err)
	for _, ch := range s.Changes {
		fast = append(fast, showChange(ch))
	}
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	root, err := p.E.Log.Root()
	p.Must(err)
	defer root.Close()
	was, err := p.E.Log.Head()
	p.Must(err)
	get := capture.NewOverlay(p.E.Log.Objs, nil)
	src := snapshot.Source{Root: root, Put: get, RuleFiles: project.RuleFiles}
	r, err := p.E.Worktree.Rules()
	p.Must(err)
	src.Rules, src.Tracked, src.Secret, src.SizeLimit, src.SecretKey = r.Dir, r.Tracked, r.Secret, p.E.Log.Config.SizeLimit(), r.Key
	res, err := snapshot.Take(context.Background(), src)
	p.Must(err)
	p.Must(tree.Diff(get, was.Tree, res.Root, func(ch tree.Change) error {
		slow = append(slow, showChange(ch))
		return nil
	}))
	return fast, slow
}

func showChange(ch tree.Change) string {
	id := func(e *tree.Entry) string {
		if e == nil {
			return "-"
		}
		return fmt.Sprintf("%v %o %s", e.Type, e.Perm, e.ID.Short())
	}
	return ch.Path + ": " + id(ch.Old) + " to " + id(ch.New)
}

// TestLookEqualsScan: between edits, saves and events, status under a watcher says what a look at every file says,
// stores nothing, and what is stored afterwards is whole.
func TestLookEqualsScan(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("keep/a", "a\n")
	p.Save("")
	watch(p, t)
	a := p.Agent("one")
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 150 {
		name := fmt.Sprintf("d%d/e%d/f%d", r.IntN(3), r.IntN(3), r.IntN(4))
		switch r.IntN(8) {
		case 0:
			p.Remove(name)
		case 1:
			p.Remove(fmt.Sprintf("d%d", r.IntN(3)))
		case 2:
			p.Save("")
		case 3:
			a.Prompt(fmt.Sprint("prompt ", i))
		default:
			p.Write(name, fmt.Sprintf("%d\n", r.IntN(5)))
		}
		for range r.IntN(3) {
			before := objects(p)
			fast, slow := unsaved(p)
			if !slices.Equal(fast, slow) {
				t.Fatalf("step %d:\n got %q\nwant %q", i, fast, slow)
			}
			if n := objects(p); n != before {
				t.Fatalf("step %d: a status stored %d objects", i, n-before)
			}
		}
	}
	t.Logf("the watcher at the end: %+v", *p.E.Worktree.Watching())
	p.Save("")
	p.Verify()
	p.Reopen()
	if fast, slow := unsaved(p); len(fast)+len(slow) > 0 {
		t.Errorf("after all: %q, %q", fast, slow)
	}
}

// TestLookKeepsWhatItFound: a second look reads no file again, its diff has the text of what the first one read, and
// the next checkpoint holds it. Where a content is too large to be kept, nothing is relied on.
func TestLookKeepsWhatItFound(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("d/a", "a\n")
	p.Write("d/b", "b\n")
	p.Save("")
	watch(p, t)
	ctx := context.Background()
	diff := func() map[string]textdiff.Kind {
		t.Helper()
		got := map[string]textdiff.Kind{}
		_, err := p.E.Diff(ctx, engine.DiffOptions{}, func(d engine.FileDiff) error { got[d.Path] = d.Text.Kind; return nil })
		p.Must(err)
		return got
	}
	p.Write("d/a", "another\n")
	diff()
	p.Write("d/b", "another one\n")
	if got := diff(); len(got) != 2 || got["d/a"] != textdiff.Text {
		t.Fatalf("%v", got)
	}
	if p.E.Worktree.Unsaved == nil {
		t.Error("nothing was kept")
	}
	big := bytes.Repeat([]byte("x"), textdiff.MaxBytes+1)
	p.Write("big", string(big))
	if got := diff(); len(got) != 3 || got["big"] != textdiff.TooLarge {
		t.Fatalf("%v", got)
	}
	cp := p.Save("")
	if p.E.Worktree.Unsaved != nil {
		t.Error("stored, and still kept")
	}
	for name, want := range map[string]string{"d/a": "another\n", "d/b": "another one\n", "big": string(big)} {
		if p.Cat(cp, name) != want {
			t.Errorf("%s is not what it was", name)
		}
	}
	if ok, err := p.E.Log.Objs.Has(objstore.Tree, cp.Tree); err != nil || !ok {
		t.Error(ok, err)
	}
	p.Verify()
}
