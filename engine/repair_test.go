package engine

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/fsck"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// hurt changes the store behind the engine's back, and opens it again.
func (p *fixture) hurt(fn func(b *kv.Batch) error) {
	p.t.Helper()
	b := p.e.Log.DB.NewBatch()
	p.must(fn(b))
	p.must(b.Commit(bg, kv.Durable))
	p.reopen()
}

// drop takes objects out of the store.
func (p *fixture) drop(of ...model.Object) {
	p.t.Helper()
	p.hurt(func(b *kv.Batch) error {
		for _, o := range of {
			key := o.Id.Key()
			p.must(b.Delete(append([]byte{kv.PrefixObject, byte(o.Kind)}, key[:]...)))
		}
		return nil
	})
}

func (p *fixture) repair() *fsck.RepairResult {
	p.t.Helper()
	r, err := p.e.Checker.Repair(bg, nil, nil)
	p.must(err)
	if len(r.Left.Faults) > 0 {
		p.t.Fatalf("left by the repair: %v", r.Left.Faults)
	}
	again, err := p.e.Checker.Repair(bg, nil, nil)
	p.must(err)
	if again.Operation != nil {
		p.t.Fatalf("a second repair did: %v", again.Done)
	}
	return r
}

// blobOf is the blob of a file in a checkpoint.
func (p *fixture) blobOf(cp *model.Checkpoint, path string) model.Object {
	p.t.Helper()
	ent, err := tree.Lookup(p.e.Log.Objs, cp.Tree, path)
	p.must(err)
	return model.Object{Kind: objstore.Blob, Id: ent.ID}
}

// found counts the faults that a check finds.
func (p *fixture) found(full bool) int {
	p.t.Helper()
	f, err := p.e.Checker.Verify(bg, full, nil, nil)
	p.must(err)
	return len(f.Faults)
}

// TestPromise06RepairWithoutDamage: nothing is put right where nothing is wrong, also not by what the log says of names, which is what they say.
func TestPromise06RepairWithoutDamage(t *testing.T) {
	p, k := twoTurns(t)
	p.write("f", "more")
	two := p.save("two")
	p.checkout("@-", restore.Options{})
	p.write("g", "1")
	p.save("three")
	_, err := p.e.History.Tag(bg, "t", two.ID.String(), false)
	p.must(err)
	p.fork("turn:1", restore.Options{})
	k.take("three", p.edits("f", "3"))
	for _, files := range []*kv.Repaired{nil, {Rebuilt: true}} {
		r, err := p.e.Checker.Repair(bg, files, nil)
		p.must(err)
		if len(r.Done) > 0 || (r.Operation != nil) != (files != nil) {
			t.Errorf("files %v: %v, %+v", files != nil, r.Done, r.Operation)
		}
	}
}

// TestPromise06RepairNames: a ref that is lost, cannot be read, or names what is lost, is where the log says; else the newest checkpoint that can be read.
func TestPromise06RepairNames(t *testing.T) {
	for name, hurt := range map[string]func(b *kv.Batch, old objstore.ID) error{
		"gone": func(b *kv.Batch, _ objstore.ID) error {
			return refs.Repoint(b, refs.Session(model.Manual), objstore.ID{}, 0)
		},
		"both gone": func(b *kv.Batch, _ objstore.ID) error {
			return errors.Join(refs.Repoint(b, refs.Session(model.Manual), objstore.ID{}, 0), refs.Repoint(b, refs.Cursor(model.Manual), objstore.ID{}, 0))
		},
		"damaged": func(b *kv.Batch, _ objstore.ID) error { return b.Set([]byte("rcursor/manual"), []byte("x")) },
		"elsewhere": func(b *kv.Batch, _ objstore.ID) error {
			return refs.Repoint(b, refs.Cursor(model.Manual), testID("none"), 99)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.write("f", "1")
			p.save("one")
			p.write("f", "2")
			two := p.save("two")
			p.hurt(func(b *kv.Batch) error { return hurt(b, two.ID) })
			r := p.repair()
			for _, n := range []refs.Name{refs.Session(model.Manual), refs.Cursor(model.Manual)} {
				if id, err := p.e.Log.Refs.ID(n); err != nil || id != two.ID {
					t.Errorf("%s is at %s, %v; done: %v", n, id.Short(), err, r.Done)
				}
			}
			p.write("f", "3")
			p.save("three")
			p.verify()
		})
	}
}

// TestPromise06RepairOperations: an operation that cannot be read is made again of its checkpoint, and lost only without it.
func TestPromise06RepairOperations(t *testing.T) {
	p := newProject(t)
	p.write("f", "1")
	one := p.save("one")
	p.write("f", "2")
	two := p.save("two")
	p.hurt(func(b *kv.Batch) error {
		return errors.Join(b.Set(kv.OperationKey(one.Seq), []byte("x")), b.Set(kv.OperationKey(two.Seq), nil))
	})
	if n := p.found(false); n != 2 {
		t.Errorf("quick finds %d faults of 2", n)
	}
	p.repair()
	l, err := p.e.History.List(bg, history.ListOptions{})
	p.must(err)
	if len(l.Checkpoints) < 2 || l.Checkpoints[0].ID != two.ID || l.Checkpoints[1].ID != one.ID {
		t.Errorf("listed: %v", l.Checkpoints)
	}
	p.drop(model.Object{Kind: objstore.Checkpoint, Id: two.ID})
	r := p.repair()
	if len(r.Left.Affected) != 1 || !r.Left.Affected[0].Whole || r.Left.Affected[0].Checkpoint != two.ID {
		t.Errorf("affected: %+v", r.Left.Affected)
	}
	p.write("f", "3")
	three := p.save("three")
	after, err := p.e.Log.Checkpoint(three.Parents[0]) // by the repair
	p.must(err)
	if len(after.Parents) != 1 || after.Parents[0] != one.ID {
		t.Errorf("the step of the repair goes on from %v", after.Parents)
	}
	p.checkout(one.ID.String(), restore.Options{})
	p.wantFile("f", "1")
}

func (p *fixture) wantFile(name, want string) {
	p.t.Helper()
	if b, err := os.ReadFile(p.path(name)); err != nil || string(b) != want {
		p.t.Fatalf("%s: %q, %v", name, b, err)
	}
}

// TestPromise06RepairContent: what the working tree holds is stored again, wherever it lies; an ignored file at the path where it is named; what is lost is
// named with every checkpoint it is in, restores of these are refused, and of what is whole in them not. It heals when it comes back.
func TestPromise06RepairContent(t *testing.T) {
	p := newProject(t)
	p.write("moved", noise(1))
	p.write("same", noise(2))
	p.write("ignored", noise(3))
	p.write("lost", noise(4))
	p.write("dir/lost", noise(5))
	p.write("f", "1")
	one := p.save("one")
	p.write("f", "2")
	two := p.save("two")
	var all []model.Object
	for _, name := range []string{"moved", "same", "ignored", "lost", "dir/lost"} {
		all = append(all, p.blobOf(one, name))
	}
	dir, err := tree.Lookup(p.e.Log.Objs, one.Tree, "dir")
	p.must(err)
	all = append(all, model.Object{Kind: objstore.Tree, Id: dir.ID})
	p.must(os.Rename(p.path("moved"), p.path("elsewhere")))
	p.write(".gitignore", "ignored\n")
	p.remove("lost", "dir/lost")
	p.drop(all...)
	if n := p.found(false); n != len(all)-1 { // below a tree that is gone nothing is known to be
		t.Errorf("quick finds %d faults of %d", n, len(all)-1)
	}
	r := p.repair()
	var lost []string
	for _, a := range r.Left.Affected {
		lost = append(lost, a.Checkpoint.Short()+" "+strings.Join(a.Paths, ","))
	}
	if want := []string{two.ID.Short() + " dir,lost", one.ID.Short() + " dir,lost"}; !slices.Equal(lost, want) {
		t.Errorf("affected: %q, want %q", lost, want)
	}
	var le *oplog.LostError
	if _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{}); !errors.As(err, &le) || !slices.Equal(le.Paths, []string{"dir", "lost"}) {
		t.Errorf("a checkout of what is lost: %v", err)
	}
	if _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"dir/lost"}}}); !errors.Is(err, objstore.ErrLost) {
		t.Errorf("a checkout of a lost path: %v", err)
	}
	p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: []string{"f", "moved"}}})
	p.wantFile("f", "1")
	p.wantFile("moved", noise(1))
	p.save("three")
	p.write("x/y", noise(4))
	p.write("dir/lost", noise(5))
	if r := p.repair(); len(r.Left.Affected)+len(r.Left.Lost) > 0 {
		t.Errorf("not healed: %+v", r.Left)
	}
	p.checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
	p.wantFile("lost", noise(4))
	p.wantFile("dir/lost", noise(5))
}

func noise(n int64) string { return big(string(rune('a'+n))) + string(rune('a'+n)) }

// TestPromise06RepairBlind: when the newest state cannot be read, the repair takes a checkpoint of what is there: no restore takes it away for good.
func TestPromise06RepairBlind(t *testing.T) {
	p := newProject(t)
	p.write("d/f", "1")
	one := p.save("one")
	p.write("d/f", "2")
	p.write("d/g", "2")
	two := p.save("two")
	p.write("d/g", "unsaved")
	p.drop(model.Object{Kind: objstore.Tree, Id: two.Tree})
	r := p.repair()
	if r.Operation.Restore == nil {
		t.Errorf("the repair does not say that nothing is known: %+v", r)
	}
	p.checkout(one.ID.String(), restore.Options{})
	p.wantFile("d/f", "1")
	if _, err := os.Stat(p.path("d/g")); err == nil {
		t.Error("a file that the target does not have is still there")
	}
	_, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{})
	p.must(err)
	p.wantFile("d/g", "unsaved")
	p.write("d/f", "3")
	p.save("three")
	if f, err := p.e.Checker.Verify(bg, true, nil, nil); err != nil || len(f.Faults) > 0 {
		t.Errorf("verify: %v, %v", f, err)
	}
}

// TestPromise06RepairConversation: blocks and records of a conversation are stored again from the session file; when that is gone, too, the checkpoints say
// that their conversation is lost, their code is not, and the session is captured anew.
func TestPromise06RepairConversation(t *testing.T) {
	for _, gone := range []bool{false, true} {
		p, k := begun(t)
		for i := range 12 {
			k.take(strings.Repeat("word ", 3000)+string(rune('a'+i)), p.edits("f", string(rune('a'+i))))
		}
		s := p.session("claude/" + k.id)
		want := p.talk(s)
		st, err := conversation.OpenTranscript(p.e.Log.Objs, s.Cursor.Transcript)
		p.must(err)
		if len(st.Nodes) < 3 {
			t.Fatalf("the conversation has only %d blocks", len(st.Nodes))
		}
		file := p.slurp(k.file)
		if gone {
			p.must(os.Remove(k.file))
		}
		p.drop(model.Object{Kind: objstore.Transcript, Id: st.Nodes[0]}, model.Object{Kind: objstore.Blob, Id: st.Blobs[1]})
		r := p.repair()
		if !gone {
			if got := p.talk(p.session("claude/" + k.id)); !bytes.Equal(got, want) || len(r.Left.Affected) > 0 {
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
		p.must(os.WriteFile(k.file, []byte(file), 0o600))
		k.take("again", p.edits("f", "again"))
		p.settle()
		if got := p.talk(p.session("claude/" + k.id)); !strings.HasPrefix(string(got), file) {
			t.Errorf("the session is not captured anew: %d bytes of %d", len(got), len(file))
		}
	}
}

// TestPromise06RepairHalfDone: a checkout that can go on is not touched; one whose journal cannot be read ends.
func TestPromise06RepairHalfDone(t *testing.T) {
	p := newProject(t)
	p.write("f", "1")
	one := p.save("one")
	p.write("f", "2")
	two := p.save("two")
	j := &model.Journal{Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: one.ID, Safety: two.ID}, Before: two.ID, After: one.ID, Stage: "0011223344556677"}
	p.hurt(func(b *kv.Batch) error { return b.Set(model.JournalKey, j.Encode()) })
	if _, err := p.e.Checker.Repair(bg, nil, nil); !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("repair while a checkout is half done: %v", err)
	}
	p.hurt(func(b *kv.Batch) error { return b.Set(model.JournalKey, []byte("x")) })
	r := p.repair()
	if b, err := os.ReadFile(r.Quarantine + "/journal"); err != nil || string(b) != "x" {
		t.Errorf("the journal in quarantine: %q, %v", b, err)
	}
	p.save("three")
}

// TestPromise06RepairHealsDeltas: a delta whose base is lost lies there still, and is written anew when its content is put, by a save as by a repair.
func TestPromise06RepairHealsDeltas(t *testing.T) {
	p := newProject(t)
	for i := range 40 {
		p.write("d/"+noise(int64(i))[:1], noise(int64(i)))
	}
	one := p.save("one")
	p.write("d/a", "2")
	two := p.save("two")
	p.write("d/a", "3")
	p.save("three")
	p.drop(model.Object{Kind: objstore.Tree, Id: one.Tree})
	if err := p.e.Log.Objs.Verify(bg, objstore.Tree, two.Tree); err == nil {
		t.Fatal("the second tree does not stand on the first")
	}
	p.repair()
	p.write("d/a", "2")
	p.save("as two")
	if err := p.e.Log.Objs.Verify(bg, objstore.Tree, two.Tree); err != nil {
		t.Errorf("not healed: %v", err)
	}
	p.checkout(two.ID.String(), restore.Options{})
}
