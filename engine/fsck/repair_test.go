package fsck_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/fsck"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// hurt changes the store behind the engine's back, and opens it again.
func damage(p *enginetest.Project, fn func(b *kv.Batch) error) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(fn(b))
	p.Must(b.Commit(enginetest.Bg, kv.Durable))
	p.Reopen()
}

// drop takes objects out of the store.
func drop(p *enginetest.Project, of ...model.Object) {
	p.T.Helper()
	damage(p, func(b *kv.Batch) error {
		for _, o := range of {
			key := o.Id.Key()
			p.Must(b.Delete(append([]byte{kv.PrefixObject, byte(o.Kind)}, key[:]...)))
		}
		return nil
	})
}

func repair(p *enginetest.Project) *fsck.RepairResult {
	p.T.Helper()
	r, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
	p.Must(err)
	if len(r.Left.Faults) > 0 {
		p.T.Fatalf("left by the repair: %v", r.Left.Faults)
	}
	again, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
	p.Must(err)
	if again.Operation != nil {
		p.T.Fatalf("a second repair did: %v", again.Done)
	}
	return r
}

// blobOf is the blob of a file in a checkpoint.
func blobOf(p *enginetest.Project, cp *model.Checkpoint, path string) model.Object {
	p.T.Helper()
	ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, path)
	p.Must(err)
	return model.Object{Kind: objstore.Blob, Id: ent.ID}
}

// found counts the faults that a check finds.
func found(p *enginetest.Project, full bool) int {
	p.T.Helper()
	f, err := p.E.Checker.Verify(enginetest.Bg, full, nil, nil)
	p.Must(err)
	return len(f.Faults)
}

// TestPromise06RepairWithoutDamage: nothing is put right where nothing is wrong, also not by what the log says of
// names, which is what they say.
func TestPromise06RepairWithoutDamage(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Write("f", "more")
	two := p.Save("two")
	p.Checkout("@-", restore.Options{})
	p.Write("g", "1")
	p.Save("three")
	_, err := p.E.History.Tag(enginetest.Bg, "t", two.ID.String(), false)
	p.Must(err)
	p.Fork("turn:1", restore.Options{})
	k.Take("three", p.Edits("f", "3"))
	for _, files := range []*kv.Repaired{nil, {Rebuilt: true}} {
		r, err := p.E.Checker.Repair(enginetest.Bg, files, nil)
		p.Must(err)
		if len(r.Done) > 0 || (r.Operation != nil) != (files != nil) {
			t.Errorf("files %v: %v, %+v", files != nil, r.Done, r.Operation)
		}
	}
}

// TestPromise06RepairNames: a ref that is lost, cannot be read, or names what is lost, is where the log says; else the
// newest checkpoint that can be read.
func TestPromise06RepairNames(t *testing.T) {
	for name, hurt := range map[string]func(b *kv.Batch, old objstore.ID) error{
		"gone": func(b *kv.Batch, _ objstore.ID) error {
			return refs.Repoint(b, refs.Session(model.Manual), objstore.ID{}, 0)
		},
		"both gone": func(b *kv.Batch, _ objstore.ID) error {
			return errors.Join(refs.Repoint(b, refs.Session(model.Manual), objstore.ID{}, 0),
				refs.Repoint(b, refs.Cursor(model.Manual), objstore.ID{}, 0))
		},
		"damaged": func(b *kv.Batch, _ objstore.ID) error { return b.Set([]byte("rcursor/manual"), []byte("x")) },
		"elsewhere": func(b *kv.Batch, _ objstore.ID) error {
			return refs.Repoint(b, refs.Cursor(model.Manual), enginetest.TestID("none"), 99)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write("f", "1")
			p.Save("one")
			p.Write("f", "2")
			two := p.Save("two")
			damage(p, func(b *kv.Batch) error { return hurt(b, two.ID) })
			r := repair(p)
			for _, n := range []refs.Name{refs.Session(model.Manual), refs.Cursor(model.Manual)} {
				if id, err := p.E.Log.Refs.ID(n); err != nil || id != two.ID {
					t.Errorf("%s is at %s, %v; done: %v", n, id.Short(), err, r.Done)
				}
			}
			p.Write("f", "3")
			p.Save("three")
			p.Verify()
		})
	}
}

// TestPromise06RepairOperations: an operation that cannot be read is made again of its checkpoint, and lost only
// without it.
func TestPromise06RepairOperations(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	two := p.Save("two")
	damage(p, func(b *kv.Batch) error {
		return errors.Join(b.Set(kv.OperationKey(one.Seq), []byte("x")), b.Set(kv.OperationKey(two.Seq), nil))
	})
	if n := found(p, false); n != 2 {
		t.Errorf("quick finds %d faults of 2", n)
	}
	repair(p)
	l, err := p.E.History.List(enginetest.Bg, history.ListOptions{})
	p.Must(err)
	if len(l.Checkpoints) < 2 || l.Checkpoints[0].ID != two.ID || l.Checkpoints[1].ID != one.ID {
		t.Errorf("listed: %v", l.Checkpoints)
	}
	drop(p, model.Object{Kind: objstore.Checkpoint, Id: two.ID})
	r := repair(p)
	if len(r.Left.Affected) != 1 || !r.Left.Affected[0].Whole || r.Left.Affected[0].Checkpoint != two.ID.String() {
		t.Errorf("affected: %+v", r.Left.Affected)
	}
	p.Write("f", "3")
	three := p.Save("three")
	after, err := p.E.Log.Checkpoint(three.Parents[0]) // by the repair
	p.Must(err)
	if len(after.Parents) != 1 || after.Parents[0] != one.ID {
		t.Errorf("the step of the repair goes on from %v", after.Parents)
	}
	p.Checkout(one.ID.String(), restore.Options{})
	wantFile(p, "f", "1")
}

func wantFile(p *enginetest.Project, name, want string) {
	p.T.Helper()
	if b, err := os.ReadFile(p.Path(name)); err != nil || string(b) != want {
		p.T.Fatalf("%s: %q, %v", name, b, err)
	}
}

// TestPromise06RepairContent: what the working tree holds is stored again, wherever it lies; an ignored file at the
// path where it is named; what is lost is named with every checkpoint it is in, restores of these are refused, and of
// what is whole in them not. It heals when it comes back.
func TestPromise06RepairContent(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("moved", noise(1))
	p.Write("same", noise(2))
	p.Write("ignored", noise(3))
	p.Write("lost", noise(4))
	p.Write("dir/lost", noise(5))
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	two := p.Save("two")
	var all []model.Object
	for _, name := range []string{"moved", "same", "ignored", "lost", "dir/lost"} {
		all = append(all, blobOf(p, one, name))
	}
	dir, err := tree.Lookup(p.E.Log.Objs, one.Tree, "dir")
	p.Must(err)
	all = append(all, model.Object{Kind: objstore.Tree, Id: dir.ID})
	p.Must(os.Rename(p.Path("moved"), p.Path("elsewhere")))
	p.Write(".gitignore", "ignored\n")
	p.Remove("lost", "dir/lost")
	drop(p, all...)
	if n := found(p, false); n != len(all)-1 { // below a tree that is gone nothing is known to be
		t.Errorf("quick finds %d faults of %d", n, len(all)-1)
	}
	r := repair(p)
	var lost []string
	for _, a := range r.Left.Affected {
		lost = append(lost, a.Checkpoint[:len(two.ID.Short())]+" "+strings.Join(value.Strings(a.Paths), ","))
	}
	if want := []string{two.ID.Short() + " dir,lost", one.ID.Short() + " dir,lost"}; !slices.Equal(lost, want) {
		t.Errorf("affected: %q, want %q", lost, want)
	}
	var le *oplog.LostError
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{}); !errors.As(err, &le) ||
		!slices.Equal(le.Paths, []string{"dir", "lost"}) {
		t.Errorf("a checkout of what is lost: %v", err)
	}
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(),
		restore.Options{Scope: refs.Scope{Paths: []string{"dir/lost"}}}); !errors.Is(err, objstore.ErrLost) {
		t.Errorf("a checkout of a lost path: %v", err)
	}
	p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"f", "moved"}}})
	wantFile(p, "f", "1")
	wantFile(p, "moved", noise(1))
	p.Save("three")
	p.Write("x/y", noise(4))
	p.Write("dir/lost", noise(5))
	if r := repair(p); len(r.Left.Affected)+len(r.Left.Lost)+len(r.Left.Faults) > 0 {
		t.Errorf("not healed: %+v", r.Left)
	}
	p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	wantFile(p, "lost", noise(4))
	wantFile(p, "dir/lost", noise(5))
}

// newestSave is the newest checkpoint of the log.
func newestSave(p *enginetest.Project) (id objstore.ID) {
	p.T.Helper()
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint {
			id = op.Checkpoint
			return kv.ErrStop
		}
		return nil
	}))
	return id
}

func noise(n int64) string { return enginetest.Big(string(rune('a'+n))) + string(rune('a'+n)) }

// TestPromise06RepairBlind: when the newest state cannot be read, the repair takes a checkpoint of what is there: no
// restore takes it away for good.
func TestPromise06RepairBlind(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("d/f", "1")
	one := p.Save("one")
	p.Write("d/f", "2")
	p.Write("d/g", "2")
	two := p.Save("two")
	p.Write("d/g", "unsaved")
	drop(p, model.Object{Kind: objstore.Tree, Id: two.Tree})
	r := repair(p)
	if a := r.Left.Affected; len(a) != 1 || !slices.Equal(value.Strings(a[0].Paths), []string{""}) {
		t.Errorf("affected: %+v", a)
	}
	if r.Operation.Restore == nil {
		t.Errorf("the repair does not say that nothing is known: %+v", r)
	}
	if !says(r, fmt.Sprintf("checkpoint %s holds the working tree as it is", newestSave(p).Short())) {
		t.Errorf("%q", r.Done)
	}
	p.Checkout(one.ID.String(), restore.Options{})
	wantFile(p, "d/f", "1")
	if _, err := os.Stat(p.Path("d/g")); err == nil {
		t.Error("a file that the target does not have is still there")
	}
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	wantFile(p, "d/g", "unsaved")
	p.Write("d/f", "3")
	p.Save("three")
	if f, err := p.E.Checker.Verify(enginetest.Bg, true, nil, nil); err != nil || len(f.Faults) > 0 {
		t.Errorf("verify: %v, %v", f, err)
	}
}

// TestPromise06RepairConversation: blocks and records of a conversation are stored again from the session file; when
// that is gone, too, the checkpoints say that their conversation is lost, their code is not, and the session is
// captured anew.
func TestPromise06RepairConversation(t *testing.T) {
	for _, gone := range []bool{false, true} {
		p, k := enginetest.Begun(t)
		for i := range 12 {
			k.Take(strings.Repeat("word ", 3000)+string(rune('a'+i)), p.Edits("f", string(rune('a'+i))))
		}
		s := p.Session("claude/" + k.ID)
		want := p.Talk(s)
		var blocks []*conversation.Node // the last one first
		first := s.Cursor.Transcript
		for id := first; !id.IsZero(); id = blocks[len(blocks)-1].Parent {
			first = id
			raw, err := p.E.Log.Objs.Get(objstore.Transcript, id)
			p.Must(err)
			n, err := conversation.DecodeNode(id, raw)
			p.Must(err)
			blocks = append(blocks, n)
		}
		if len(blocks) < 3 {
			t.Fatalf("the conversation has only %d blocks", len(blocks))
		}
		file := p.Slurp(k.File)
		if gone {
			p.Must(os.Remove(k.File))
		}
		drop(p, model.Object{Kind: objstore.Transcript, Id: first},
			model.Object{Kind: objstore.Blob, Id: blocks[len(blocks)-2].Tail})
		r := repair(p)
		if !gone {
			if got := p.Talk(p.Session("claude/" + k.ID)); !bytes.Equal(got, want) || len(r.Left.Affected) > 0 {
				t.Errorf("the conversation is not whole: %d bytes of %d, %+v", len(got), len(want), r.Left.Affected)
			}
			continue
		}
		talks := 0
		for _, a := range r.Left.Affected {
			if len(a.Paths) > 0 || a.Whole {
				t.Errorf("its code is lost, too: %+v", a)
			}
			if a.Conversation {
				talks++
			}
		}
		if talks == 0 {
			t.Errorf("affected: %+v", r.Left.Affected)
		}
		p.Must(os.WriteFile(k.File, []byte(file), 0o600))
		k.Take("again", p.Edits("f", "again"))
		p.Settle()
		if got := p.Talk(p.Session("claude/" + k.ID)); !strings.HasPrefix(string(got), file) {
			t.Errorf("the session is not captured anew: %d bytes of %d", len(got), len(file))
		}
	}
}

// TestPromise06RepairHalfDone: a checkout that can go on is not touched; one whose journal cannot be read ends.
func TestPromise06RepairHalfDone(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	two := p.Save("two")
	j := &model.Journal{
		Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: one.ID, Safety: two.ID},
		Before: two.ID, After: one.ID, Stage: "0011223344556677",
	}
	damage(p, func(b *kv.Batch) error { return b.Set(model.JournalKey, j.Encode()) })
	if _, err := p.E.Checker.Repair(enginetest.Bg, nil, nil); !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("repair while a checkout is half done: %v", err)
	}
	damage(p, func(b *kv.Batch) error { return b.Set(model.JournalKey, []byte("x")) })
	r := repair(p)
	if b, err := os.ReadFile(r.Quarantine + "/journal"); err != nil || string(b) != "x" {
		t.Errorf("the journal in quarantine: %q, %v", b, err)
	}
	p.Save("three")
}

// TestPromise06RepairHealsDeltas: a delta whose base is lost lies there still, and is written anew when its content is
// put, by a save as by a repair.
func TestPromise06RepairHealsDeltas(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 40 {
		p.Write("d/"+noise(int64(i))[:1], noise(int64(i)))
	}
	one := p.Save("one")
	p.Write("d/a", "2")
	two := p.Save("two")
	p.Write("d/a", "3")
	p.Save("three")
	drop(p, model.Object{Kind: objstore.Tree, Id: one.Tree})
	if err := p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, two.Tree); err == nil {
		t.Fatal("the second tree does not stand on the first")
	}
	for _, full := range []bool{false, true} { // each that cannot be read is one fault
		if list := faults(p, full); len(list) != 3 {
			t.Errorf("full %v: %v", full, list)
		}
	}
	repair(p)
	p.Write("d/a", "2")
	p.Save("as two")
	if err := p.E.Log.Objs.Verify(enginetest.Bg, objstore.Tree, two.Tree); err != nil {
		t.Errorf("not healed: %v", err)
	}
	p.Checkout(two.ID.String(), restore.Options{})
}
