package refs

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/value"
	"rewind/objstore"
)

func TestWhat(t *testing.T) {
	files := []File{{Path: "/a", To: id(1)}}
	cut := []File{{Path: "/a", To: id(1)}, {Path: "/b", From: id(1), To: id(2)}}
	gone := []File{{Path: "/b", From: id(1)}}
	paths := Scope{Paths: PathSet{"a"}}
	for _, c := range []struct {
		kind    Kind
		restore *Restore
		want    string
	}{
		{KindCheckout, nil, ""},
		{KindSafety, &Restore{}, ""},
		{KindAbort, &Restore{}, ""},
		{KindCheckout, &Restore{}, "code"},
		{KindUndo, &Restore{}, "code"},
		{KindRename, &Restore{Files: cut}, "sessions"},
		{KindUndoForks, &Restore{}, "sessions"},
		{KindPick, &Restore{Scope: paths}, "merge"},
		{KindRevert, &Restore{Scope: paths}, "merge"},
		{KindCheckout, &Restore{Scope: paths}, "paths"},
		{KindCheckout, &Restore{Scope: Scope{ContextOnly: true}, Files: cut}, "context"},
		{KindCheckout, &Restore{Files: files}, "both"},
		{KindCheckout, &Restore{Files: gone}, "both"},
		{KindCheckout, &Restore{Files: cut}, "in-place"},
		{KindCheckout, &Restore{Goes: "claude/a"}, "both"},
		{KindSwitch, &Restore{}, "both"},
	} {
		op := Operation{Kind: c.kind, Restore: c.restore}
		if got := op.What(); got != c.want {
			t.Errorf("%s %+v: %q, want %q", c.kind, c.restore, got, c.want)
		}
	}
}

func TestKinds(t *testing.T) {
	restores := []Kind{KindCheckout, KindSwitch, KindUndo, KindRedo, KindUndoRestore, KindPick, KindRevert}
	manage := []Kind{KindRename, KindDelete, KindArchive, KindUnarchive, KindPromote, KindBringBack, KindUndoForks}
	for k, word := range kindWords {
		if KindOf(word) != k || k.String() != word {
			t.Errorf("%q: %s, %s", byte(k), k, KindOf(word))
		}
		is, does := slices.Contains(restores, k), slices.Contains(manage, k)
		if k.IsRestore() != is || k.Manages() != does || k.CanUndo() != (is || does) {
			t.Errorf("%s: restores %v, manages %v, can be undone %v", k, k.IsRestore(), k.Manages(), k.CanUndo())
		}
		if k.Undoes() != (k == KindUndoRestore || k == KindUndoForks) {
			t.Errorf("%s undoes: %v", k, k.Undoes())
		}
	}
	if KindOf("none") != 0 {
		t.Error("a kind of no word")
	}
}

// What an operation says of sessions comes back, and one that no session can have the name of is damage.
func TestManagedComesBack(t *testing.T) {
	managed := []value.Managed{{Session: "claude/a", Was: value.InUse, Now: value.Archived, WasTitle: "old", Title: "new"}}
	op := Operation{Kind: KindArchive, Restore: &Restore{Managed: managed}}
	got, err := DecodeOperation(1, op.Encode())
	if err != nil || !slices.Equal(got.Restore.Managed, managed) {
		t.Errorf("%+v, %v", got, err)
	}
	op.Restore.Managed = []value.Managed{{Session: "../x", Now: value.Archived}}
	if got, err := DecodeOperation(1, op.Encode()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The log from any operation, both ways, and what looks for damage reads all of it.
func TestLogFromAnywhere(t *testing.T) {
	db, err := kv.Open(bg, "/store", kv.Options{FS: kvtest.NewCrashFS()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, objs := New(db), objstore.New(db)
	const n = 3
	for i := range n {
		if _, err := r.Commit(bg, objs.Begin(), kv.Written, func(uint64) ([]Operation, []Update, error) {
			return []Operation{{Kind: KindEvent, Message: fmt.Sprint(i)}}, nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range [][2][]uint64{
		0: {{3, 2, 1}, {1, 2, 3}},
		1: {{1}, {1, 2, 3}},
		2: {{2, 1}, {2, 3}},
		3: {{3, 2, 1}, {3}},
	} {
		for i, walk := range []func(uint64, func(*Operation) error) error{r.Newest, r.Since} {
			var got []uint64
			err := walk(uint64(from), func(op *Operation) error {
				got = append(got, op.Seq)
				return nil
			})
			if err != nil || !slices.Equal(got, want[i]) {
				t.Errorf("from %d, up %v: %d, %v; want %d", from, i == 1, got, err, want[i])
			}
		}
	}
	var all []uint64
	err = r.Log(func(seq uint64, op *Operation, err error) error {
		if err != nil || op.Seq != seq || op.Message != fmt.Sprint(seq-1) {
			t.Errorf("operation %d: %+v, %v", seq, op, err)
		}
		all = append(all, seq)
		return nil
	})
	if err != nil || !slices.Equal(all, []uint64{3, 2, 1}) {
		t.Errorf("all: %d, %v", all, err)
	}
}
