package oplog_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

// The head by what was done last: a step moves it, and so does a restore of everything. A restore of some paths is an edit like any other,
// which is unsaved until the next step. The head in memory and the one that the log gives are the same.
func TestHead(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "one")
	p.Write("g", "one")
	first := p.Save("first")
	p.Write("f", "two")
	p.Write("g", "two")
	second := p.Save("second")
	wantHead := func(what string, tree objstore.ID) {
		t.Helper()
		for _, forget := range []bool{false, true} {
			p.E.Log.Mu.Lock()
			if forget {
				p.E.Log.Forget()
			}
			head, err := p.E.Log.Head()
			p.E.Log.Mu.Unlock()
			p.Must(err)
			if head.Tree != tree {
				t.Errorf("%s, forgotten %v: the head has tree %s, want %s", what, forget, head.Tree.Short(), tree.Short())
			}
		}
	}
	wantHead("saved", second.Tree)
	p.Checkout("@-", restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	wantHead("one path restored", second.Tree)
	p.Checkout(second.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	p.Checkout("@-", restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f", "g"}}})
	wantHead("two paths restored", second.Tree)
	p.Write("f", "two")
	p.Write("g", "two")
	p.Checkout(first.ID.String(), restore.Options{})
	wantHead("all restored", first.Tree)
	p.Write("f", "three")
	wantHead("edited", first.Tree)
	// The safety checkpoint of this one is counted from the first.
	p.Checkout(second.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"g"}}})
	wantHead("edited, and one path restored", first.Tree)
	third := p.Save("third")
	wantHead("saved again", third.Tree)
	if before, err := p.E.Log.Before(third); err != nil || before != first.Tree {
		t.Errorf("the third is counted from %s (%v), want %s", before.Short(), err, first.Tree.Short())
	}
}
