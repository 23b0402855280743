package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rewind/engine/capture"
	"rewind/internal/kv"
	"rewind/internal/textdiff"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/snapshot"
)

// watched has the tree watched, or skips.
func (p *fixture) watched(t *testing.T) {
	t.Helper()
	if err := p.e.Worktree.Watch(); errors.Is(err, capture.ErrNoWatcher) {
		t.Skip("missing tool: a watcher on this system")
	} else {
		p.must(err)
	}
}

// objects counts what the store holds.
func (p *fixture) objects() int {
	n := 0
	p.must(p.e.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixObject}}, func(_, _ []byte) error { n++; return nil }))
	return n
}

// unsaved is what status finds changed; slow: what a look at every file finds.
func (p *fixture) unsaved() (fast, slow []string) {
	p.t.Helper()
	s, err := p.e.Status(context.Background(), nil)
	p.must(err)
	for _, ch := range s.Changes {
		fast = append(fast, showChange(ch))
	}
	p.e.Log.Mu.Lock()
	defer p.e.Log.Mu.Unlock()
	root, err := p.e.Log.Root()
	p.must(err)
	defer root.Close()
	was, err := p.e.Log.Head()
	p.must(err)
	get := capture.NewOverlay(p.e.Log.Objs, nil)
	src := snapshot.Source{Root: root, Put: get, RuleFiles: capture.RuleFiles}
	r, err := p.e.Worktree.Rules()
	p.must(err)
	src.Rules, src.Tracked, src.Secret, src.SizeLimit, src.SecretKey = r.Dir, r.Tracked, r.Secret, p.e.Log.Config.SizeLimit(), r.Key
	res, err := snapshot.Take(context.Background(), src)
	p.must(err)
	p.must(tree.Diff(get, was.Tree, res.Root, func(ch tree.Change) error {
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

// TestLookEqualsScan: between edits, saves and events, status under a watcher says what a look at every file says, stores nothing, and what is stored
// afterwards is whole.
func TestLookEqualsScan(t *testing.T) {
	p := newProject(t)
	p.write("keep/a", "a\n")
	p.save("")
	p.watched(t)
	a := p.agent("one")
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 150 {
		name := fmt.Sprintf("d%d/e%d/f%d", r.IntN(3), r.IntN(3), r.IntN(4))
		switch r.IntN(8) {
		case 0:
			p.remove(name)
		case 1:
			p.remove(fmt.Sprintf("d%d", r.IntN(3)))
		case 2:
			p.save("")
		case 3:
			a.prompt(fmt.Sprint("prompt ", i))
		default:
			p.write(name, fmt.Sprintf("%d\n", r.IntN(5)))
		}
		for range r.IntN(3) {
			before := p.objects()
			fast, slow := p.unsaved()
			if !slices.Equal(fast, slow) {
				t.Fatalf("step %d:\n got %q\nwant %q", i, fast, slow)
			}
			if n := p.objects(); n != before {
				t.Fatalf("step %d: a status stored %d objects", i, n-before)
			}
		}
	}
	t.Logf("the watcher at the end: %+v", *p.e.Worktree.Watching())
	p.save("")
	p.verify()
	p.reopen()
	if fast, slow := p.unsaved(); len(fast)+len(slow) > 0 {
		t.Errorf("after all: %q, %q", fast, slow)
	}
}

// TestLookKeepsWhatItFound: a second look reads no file again, its diff has the text of what the first one read, and the next checkpoint holds it. Where a
// content is too large to be kept, nothing is relied on.
func TestLookKeepsWhatItFound(t *testing.T) {
	p := newProject(t)
	p.write("d/a", "a\n")
	p.write("d/b", "b\n")
	p.save("")
	p.watched(t)
	ctx := context.Background()
	diff := func() map[string]textdiff.Kind {
		t.Helper()
		got := map[string]textdiff.Kind{}
		_, err := p.e.Diff(ctx, DiffOptions{}, func(d FileDiff) error { got[d.Path] = d.Text.Kind; return nil })
		p.must(err)
		return got
	}
	p.write("d/a", "another\n")
	diff()
	p.write("d/b", "another one\n")
	if got := diff(); len(got) != 2 || got["d/a"] != textdiff.Text {
		t.Fatalf("%v", got)
	}
	if p.e.Worktree.Unsaved == nil {
		t.Error("nothing was kept")
	}
	big := bytes.Repeat([]byte("x"), textdiff.MaxBytes+1)
	p.write("big", string(big))
	if got := diff(); len(got) != 3 || got["big"] != textdiff.TooLarge {
		t.Fatalf("%v", got)
	}
	cp := p.save("")
	if p.e.Worktree.Unsaved != nil {
		t.Error("stored, and still kept")
	}
	for name, want := range map[string]string{"d/a": "another\n", "d/b": "another one\n", "big": string(big)} {
		if p.cat(cp, name) != want {
			t.Errorf("%s is not what it was", name)
		}
	}
	if ok, err := p.e.Log.Objs.Has(objstore.Tree, cp.Tree); err != nil || !ok {
		t.Error(ok, err)
	}
	p.verify()
}
