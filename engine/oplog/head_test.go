package oplog_test

import (
	"errors"
	"reflect"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

// The head by what was done last: a step moves it, and so does a restore of everything. A restore of some paths is an
// edit like any other, which is unsaved until the next step. The head in memory and the one that the log gives are the
// same.
func TestHead(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "one")
	p.Write("g", "one")
	first := p.Save("first")
	p.Write("f", "two")
	p.Write("g", "two")
	second := p.Save("second")
	wantHead := func(what string, tree objstore.ID, laid ...refs.Kind) {
		t.Helper()
		for _, forget := range []bool{false, true} {
			p.E.Log.Lock()
			if forget {
				p.E.Log.Forget()
			}
			head, err := p.E.Log.Head()
			p.E.Log.Unlock()
			p.Must(err)
			if head.Tree != tree {
				t.Errorf("%s, forgotten %v: the head has tree %s, want %s", what, forget, head.Tree.Short(), tree.Short())
			}
			var kinds []refs.Kind
			for _, seq := range head.Laid {
				op, err := p.E.Log.Refs.Operation(seq)
				p.Must(err)
				kinds = append(kinds, op.Kind)
			}
			enginetest.Equal(t, what+": restores of some paths since", kinds, laid)
		}
	}
	wantHead("saved", second.Tree)
	p.Checkout("@-", restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	wantHead("one path restored", second.Tree, refs.KindCheckout)
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	wantHead("and brought back", second.Tree, refs.KindUndoRestore, refs.KindCheckout)
	p.Checkout(second.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	p.Checkout("@-", restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f", "g"}}})
	some := []refs.Kind{refs.KindCheckout, refs.KindUndoRestore, refs.KindCheckout}
	wantHead("two paths restored", second.Tree, some...)
	p.Write("f", "two")
	p.Write("g", "two")
	p.Checkout(first.ID.String(), restore.Options{})
	wantHead("all restored", first.Tree)
	p.Write("f", "three")
	wantHead("edited", first.Tree)
	// The safety checkpoint of this one is counted from the first.
	p.Checkout(second.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"g"}}})
	wantHead("edited, and one path restored", first.Tree, refs.KindCheckout)
	third := p.Save("third")
	wantHead("saved again", third.Tree)
	if before, err := p.E.Log.Before(third); err != nil || before != first.Tree {
		t.Errorf("the third is counted from %s (%v), want %s", before.Short(), err, first.Tree.Short())
	}
}

// What a checkpoint accounts for: a step for itself, a safety checkpoint for the head before it.
func TestAccounts(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "one")
	step := p.Save("step")
	parents := []objstore.ID{step.ID}
	safety := model.Cause{Event: model.EventSafety}
	tree, base, note := enginetest.TestID("tree"), enginetest.TestID("base"), enginetest.TestID("note")
	for _, c := range []struct {
		what string
		cp   model.Checkpoint
		want oplog.Head
	}{
		{"a step", model.Checkpoint{ID: tree, Tree: tree, Note: note, Base: base}, oplog.Head{Tree: tree, Note: note, Checkpoint: tree}},
		{"safety", model.Checkpoint{Tree: tree, Note: note, Parents: parents, Cause: safety}, oplog.Head{
			Tree: step.Tree, Note: step.Note, Checkpoint: step.ID,
		}},
		{"safety with a base", model.Checkpoint{Tree: tree, Note: note, Base: base, Parents: parents, Cause: safety}, oplog.Head{
			Tree: base, Note: note,
		}},
		{"safety before any step", model.Checkpoint{Tree: tree, Note: note, Cause: safety}, oplog.Head{Note: note}},
	} {
		if got, err := p.E.Log.Accounts(&c.cp); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.what, got, err, c.want)
		}
	}
}

// A head that cannot be read is an error, and is not taken for known.
func TestHeadOfWhatIsGone(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "one")
	one, none := p.Save("one"), enginetest.TestID("none")
	parents, safety := []objstore.ID{none}, model.Cause{Event: model.EventSafety}
	_, err := p.E.Log.Accounts(&model.Checkpoint{Parents: parents, Cause: safety})
	if !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("a safety checkpoint without its parent: %v", err)
	}
	some := refs.Scope{Paths: refs.PathSet{"f"}}
	for _, op := range []refs.Operation{
		{Kind: refs.KindCheckpoint, Checkpoint: none},
		{Kind: refs.KindSafety, Checkpoint: none},
		{Kind: refs.KindAbort, Restore: &refs.Restore{Target: one.ID, Safety: none}},
		{Kind: refs.KindCheckout, Restore: &refs.Restore{Target: one.ID, Safety: none}},
		{Kind: refs.KindCheckout, Restore: &refs.Restore{Target: none, Safety: one.ID}},
		{Kind: refs.KindCheckout, Restore: &refs.Restore{Target: one.ID, Safety: none, Scope: some}},
	} {
		record(p, op)
		forget(p)
		if head, err := p.E.Log.Head(); !errors.Is(err, objstore.ErrNotFound) || knowsHead(p) {
			t.Errorf("%s %+v: %+v, %v", op.Kind, op.Restore, head, err)
		}
	}
}

// The head that the newest operation gives, by its kind. One that says nothing of it leaves that to those before it.
func TestHeadByOperation(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "one")
	one := p.Save("one")
	p.Write("f", "two")
	two := p.Save("two")
	result := enginetest.TestID("result")
	for _, c := range []struct {
		kind    refs.Kind
		restore *refs.Restore
		want    objstore.ID
	}{
		{refs.KindEvent, nil, two.Tree},
		{refs.KindTag, nil, two.Tree},
		{refs.KindAbort, &refs.Restore{Target: two.ID, Safety: one.ID}, one.Tree},
		{refs.KindCheckout, &refs.Restore{Target: two.ID, Safety: one.ID}, two.Tree},
		{refs.KindAbort, nil, two.Tree},
		{refs.KindCheckout, &refs.Restore{Target: two.ID, Safety: one.ID, Scope: refs.Scope{Paths: refs.PathSet{"f"}}}, one.Tree},
		{refs.KindCheckout, &refs.Restore{Target: two.ID, Safety: one.ID, Result: result}, result},
		{refs.KindRepair, nil, result},
		{refs.KindRepair, &refs.Restore{Target: two.ID, Safety: one.ID}, objstore.ID{}},
	} {
		p.Must(p.E.Log.Record(enginetest.Bg, refs.Operation{Kind: c.kind, Restore: c.restore}))
		p.E.Log.Lock()
		p.E.Log.Forget()
		head, err := p.E.Log.Head()
		p.E.Log.Unlock()
		if err != nil || head.Tree != c.want {
			t.Errorf("%s %+v: tree %s, %v; want %s", c.kind, c.restore, head.Tree.Short(), err, c.want.Short())
		}
	}
}
