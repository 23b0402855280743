package fsck_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/fsck"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// spoil has the bytes of an object in the store be none.
func spoil(p *enginetest.Project, o model.Object) {
	p.T.Helper()
	damage(p, func(b *kv.Batch) error {
		key := o.Id.Key()
		return b.Set(append([]byte{kv.PrefixObject, byte(o.Kind)}, key[:]...), []byte("spoilt"))
	})
}

// says reports whether a repair said that it did something.
func says(r *fsck.RepairResult, words string) bool {
	return slices.ContainsFunc(r.Done, func(line string) bool { return strings.Contains(line, words) })
}

// An object that cannot be read is one fault, whether something names it or not; what nothing names is said to be.
func TestSpoiltObjects(t *testing.T) {
	for name, named := range map[string]bool{"named": true, "loose": false} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write("f", enginetest.Big("1"))
			o := blobOf(p, p.Save("one"), "f")
			if !named {
				tx := p.E.Log.Objs.Begin()
				id, err := tx.Put(objstore.Blob, []byte("nobody's"), objstore.Zero)
				p.Must(err)
				p.Must(tx.Commit(enginetest.Bg, kv.Durable))
				o.Id = id
			}
			p.Remove("f")
			spoil(p, o)
			for _, full := range []bool{false, true} {
				if n := found(p, full); n != 1 {
					t.Errorf("full %v: %d faults", full, n)
				}
			}
			if r := repair(p); says(r, "that nothing names marked as lost") == named {
				t.Errorf("named %v: %q", named, r.Done)
			}
		})
	}
}

// Of a checkpoint so many paths are named, and of more how many they are.
func TestAffectedPaths(t *testing.T) {
	const most = 100
	for n, dir := range map[int]string{most: "", most + 1: "d/e/", most + 2: ""} {
		p := enginetest.NewProject(t)
		p.Write("d/f", "kept")
		var all []model.Object
		for i := range n {
			p.Write(fmt.Sprintf("%s%03d", dir, i), enginetest.Big(fmt.Sprint(i)))
		}
		cp := p.Save("one")
		for i := range n {
			all = append(all, blobOf(p, cp, fmt.Sprintf("%s%03d", dir, i)))
			p.Remove(fmt.Sprintf("%s%03d", dir, i))
		}
		drop(p, all...)
		f, err := p.E.Checker.Verify(enginetest.Bg, false, nil, nil)
		p.Must(err)
		if len(f.Affected) != 1 || len(f.Affected[0].Paths) != most || f.Affected[0].More != n-most {
			t.Errorf("%d lost: %d affected, %+v", n, len(f.Affected), f.Affected)
			continue
		}
		if first := string(f.Affected[0].Paths[0]); first != dir+"000" {
			t.Errorf("the first of %d is %q", n, first)
		}
	}
}

// Operations that are lost and follow each other are one gap. One whose checkpoint comes back is made again.
func TestLostOperations(t *testing.T) {
	p := enginetest.NewProject(t)
	var cps []*model.Checkpoint
	var raws [][]byte
	for i := range 5 {
		p.Write("f", fmt.Sprint(i))
		cp := p.Save(fmt.Sprint(i))
		raw, err := p.E.Log.Objs.Get(objstore.Checkpoint, cp.ID)
		p.Must(err)
		cps, raws = append(cps, cp), append(raws, raw)
	}
	lost := []int{0, 1, 3}
	damage(p, func(b *kv.Batch) error {
		for _, i := range lost {
			p.Must(b.Set(kv.OperationKey(cps[i].Seq), []byte("x")))
		}
		return nil
	})
	for _, i := range lost {
		drop(p, model.Object{Kind: objstore.Checkpoint, Id: cps[i].ID})
	}
	spans := func() []value.Span {
		f, err := p.E.Checker.Verify(enginetest.Bg, false, nil, nil)
		p.Must(err)
		return f.LostOps
	}
	p.E.Log.Now = func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }
	r := repair(p)
	// Those behind the lost ones are stored as what differs from these.
	if !says(r, "5 operations of the log stand as lost") || filepath.Base(r.Quarantine) != "20261120T100000Z-keys" {
		t.Errorf("%q, kept in %s", r.Done, r.Quarantine)
	}
	for _, i := range lost {
		kept, err := os.ReadFile(filepath.Join(r.Quarantine, fmt.Sprintf("operation-%d", cps[i].Seq)))
		if err != nil || string(kept) != "x" {
			t.Errorf("kept is %q, %v", kept, err)
		}
	}
	want := []value.Span{{First: cps[3].Seq, Last: cps[3].Seq}, {First: cps[0].Seq, Last: cps[1].Seq}}
	if got := spans(); !slices.Equal(got, want) {
		t.Errorf("lost are %v, want %v; %q", got, want, r.Done)
	}
	tx := p.E.Log.Objs.BeginAlone()
	_, err := tx.Put(objstore.Checkpoint, raws[3], objstore.Zero)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	r = repair(p)
	if got := spans(); !slices.Equal(got, want[1:]) || !says(r, "made again of its checkpoint "+cps[3].ID.Short()) {
		t.Errorf("lost are %v then; %q", got, r.Done)
	}
}

// A restore whose target or safety step is lost cannot be taken back, and says so.
func TestRestoreOfLostCheckpoints(t *testing.T) {
	for name, of := range map[string]func(r *refs.Restore) objstore.ID{
		"target": func(r *refs.Restore) objstore.ID { return r.Target },
		"safety": func(r *refs.Restore) objstore.ID { return r.Safety },
	} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write("f", "1")
			one := p.Save("one")
			p.Write("f", "2")
			p.Save("two")
			p.Write("f", "unsaved")
			r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}})
			drop(p, model.Object{Kind: objstore.Checkpoint, Id: of(r.Operation.Restore)})
			did := repair(p)
			if !says(did, "holds the working tree as it is") {
				t.Errorf("%q", did.Done)
			}
			op, err := p.E.Log.Refs.Operation(r.Operation.Seq)
			p.Must(err)
			if op.Kind != refs.KindLost {
				t.Errorf("the restore stands as %s, %+v", op.Kind, op.Restore)
			}
		})
	}
}

// The oldest operations are missed where the tables were made anew; else the log may begin where it does.
func TestOldestOperations(t *testing.T) {
	for _, rebuilt := range []bool{false, true} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		one := p.Save("one")
		p.Write("f", "2")
		p.Save("two")
		damage(p, func(b *kv.Batch) error {
			for seq := uint64(1); seq <= one.Seq; seq++ {
				p.Must(b.Delete(kv.OperationKey(seq)))
			}
			return b.Set([]byte("r"+string(refs.Tag("t"))), []byte("x")) // so that there is something to do
		})
		r, err := p.E.Checker.Repair(enginetest.Bg, &kv.Repaired{Rebuilt: rebuilt}, nil)
		p.Must(err)
		if says(r, "made again of its checkpoint "+one.ID.Short()) != rebuilt {
			t.Errorf("tables anew %v: %q", rebuilt, r.Done)
		}
		for seq, want := range map[uint64]refs.Kind{1: refs.KindLost, one.Seq: refs.KindCheckpoint} {
			op, err := p.E.Log.Refs.Operation(seq)
			if (err == nil) != rebuilt || err == nil && op.Kind != want {
				t.Errorf("tables anew %v: %d is %+v, %v", rebuilt, seq, op, err)
			}
		}
	}
}

// The journal of a restore that has ended, which an old table had, is taken out, and that is said.
func TestJournalOfWhatHasEnded(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	two := p.Save("two")
	r := p.Checkout(one.ID.String(), restore.Options{})
	j := &model.Journal{
		Kind: refs.KindCheckout, Session: model.Manual, Restore: *r.Operation.Restore, Before: two.ID, After: one.ID,
		Stage: "0011223344556677",
	}
	damage(p, func(b *kv.Batch) error { return b.Set(model.JournalKey, j.Encode()) })
	if r := repair(p); !says(r, "a checkout that had ended is not half done") {
		t.Errorf("%q", r.Done)
	}
	p.Save("three")
}

// The operation of a step is made again of the step, not of a state that has its place and that a merge made of it.
// What is lost of such a state is named, though no operation made it.
func TestMergedStateInARepair(t *testing.T) {
	p := enginetest.NewProject(t)
	text := func(first, last string) string { return first + "\n" + noise(1) + "\n" + last + "\n" }
	p.Write("f", text("1", "1"))
	p.Save("before")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	target := p.Get(a.Run("1", func() { p.Write("own", "1") }))
	a.Run("2", func() { p.Write("f", text("a's", "1")) })
	b.Run("3", func() { p.Write("f", text("a's", "b's")) })
	r := p.Checkout(target.ID.String(), restore.Options{Merge: true, Session: model.SessionChoice{Session: "a"}})
	state, err := p.E.Log.Checkpoint(r.Operation.Restore.Target)
	p.Must(err)
	if state.ID == target.ID || state.Seq != target.Seq {
		t.Fatalf("merged is %+v", state)
	}
	damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(target.Seq), []byte("x")) })
	repair(p)
	op, err := p.E.Log.Refs.Operation(target.Seq)
	p.Must(err)
	if op.Checkpoint != target.ID || op.Kind != refs.KindCheckpoint {
		t.Errorf("made again is %+v", op)
	}
	lost := blobOf(p, state, "f")
	p.Remove("f")
	drop(p, lost)
	f, err := p.E.Checker.Verify(enginetest.Bg, false, nil, nil)
	p.Must(err)
	named := func(a value.Affected) bool { return a.Checkpoint == state.ID.String() }
	if !slices.ContainsFunc(f.Affected, named) {
		t.Errorf("affected are %+v", f.Affected)
	}
}
