package objstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/kv"
)

// A sample is an object of the store in testdata; it was put on top of the one before it in its line.
type sample struct {
	named
	raw  []byte
	prev ID
}

// samples gives the objects of testdata/store-v1: lines of every kind but transcripts, with every codec. from and to
// cut each line.
func samples(from, to int) (all []sample) {
	add := func(k Kind, raw []byte, prev ID) ID {
		all = append(all, sample{named{k, Sum(k, raw)}, raw, prev})
		return Sum(k, raw)
	}
	line := func(n int) []byte { return fmt.Appendf(nil, "line %d is %x, as it was\n", n, n*n*7919) }
	for _, k := range []Kind{Blob, Tree, Checkpoint, Note} {
		var lines [][]byte
		for n := range 100 {
			lines = append(lines, line(n))
		}
		prev := Zero
		for n := range to {
			lines[n*37%100] = line(1000 + n)
			raw := bytes.Join(lines, nil)
			if k == Checkpoint { // short, with the id of the one before
				raw = append(append(bytes.Clone(lines[n*37%100]), "its parent: "...), prev[:]...)
			}
			id := Sum(k, raw)
			if n >= from {
				add(k, raw, prev)
			}
			prev = id
		}
		if from == 0 {
			raw := bytes.Join(lines, nil)
			for n := range 40 { // a delta that is worth compressing
				raw = fmt.Appendf(raw, "%x.%d,", n*n*n, n)
			}
			add(k, raw, prev)
			add(k, noise(uint64(k), 300), Zero)
		}
	}
	large := noise(2, 6000)
	prev := Zero
	for n := range to / 10 {
		large = append([]byte{byte(n)}, large...)
		id := Sum(Blob, large)
		if n >= from/10 {
			add(Blob, large, prev)
		}
		prev = id
	}
	return all
}

const sampled = 20 // versions of each line in the store of testdata

func putSamples(t *testing.T, s *Store, all []sample) {
	t.Helper()
	s.cut = smallCut
	for _, o := range all {
		if id := put(t, s, o.kind, o.raw, o.prev); id != o.id {
			t.Fatalf("%s is %s", o.id, id)
		}
	}
}

var releasedStore = filepath.Join("testdata", fmt.Sprintf("store-v%d", kv.FormatVersion))

// TestMakeReleasedObjects writes the store of this format, when asked to: OBJSTORE_MAKE_TESTDATA=1.
func TestMakeReleasedObjects(t *testing.T) {
	if os.Getenv("OBJSTORE_MAKE_TESTDATA") == "" {
		return // nobody has asked
	}
	db := openDB(t, releasedStore)
	s := New(db)
	putSamples(t, s, samples(0, sampled))
	for id, g := range goneSamples() {
		expunge(t, s, g, id)
	}
	if err := errors.Join(db.Compact(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ballast", "lock", "db/LOCK"} {
		if err := os.Remove(filepath.Join(releasedStore, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// openReleased opens a copy of the store of testdata, which a released version has made.
func openReleased(t *testing.T) (db *kv.DB, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(releasedStore)); err != nil {
		t.Fatal(err)
	}
	return openDB(t, dir), dir
}

// TestT19ReleasedObjects: what a released version has stored is read, found again when it is put, gone on with, and
// swept.
func TestT19ReleasedObjects(t *testing.T) {
	db, dir := openReleased(t)
	s := New(db)
	was, now := samples(0, sampled), samples(sampled, 2*sampled)
	checkSamples(t, s, was)
	before := standing(t, s)
	putSamples(t, s, was)
	if after := standing(t, s); len(after) != len(before) {
		t.Fatalf("%d objects, after they were put again %d", len(before), len(after))
	}
	putSamples(t, s, now)
	all := append(was, now...)
	across := 0 // new deltas on a base that was there
	for o, info := range standing(t, s) {
		if base := (Object{o.Kind, info.Base}); info.Index > 0 && before[o].Stored == 0 && before[base].Stored > 0 {
			across++
		}
	}
	if checkLines(t, s); across < 4 {
		t.Errorf("only %d deltas on what was there", across)
	}
	for range 2 { // now, and opened again
		checkSamples(t, s, all)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = openDB(t, dir)
		s = New(db)
	}
	sweepSamples(t, s, all)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// standing is every object as it is stored.
func standing(t *testing.T, s *Store) map[Object]Info {
	t.Helper()
	all := map[Object]Info{}
	if err := s.Walk(t.Context(), func(k Kind, key Key, info Info) error {
		all[Object{k, key}] = info
		return info.Damage
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func checkSamples(t *testing.T, s *Store, all []sample) {
	t.Helper()
	for _, o := range all {
		wantObject(t, s, o.kind, o.id, o.raw)
		if err := s.Verify(t.Context(), o.kind, o.id); err != nil {
			t.Error(err)
		}
		short, err := s.ShortID(o.kind, o.id)
		if err != nil {
			t.Fatal(err)
		}
		for _, prefix := range []string{short, o.id.String()[:40], o.id.String()[:41], o.id.String()} {
			if id, err := s.Resolve(o.kind, prefix); id != o.id || err != nil {
				t.Errorf("resolve %s: %s, %v", prefix, id.Short(), err)
			}
		}
		other := o.id
		other[31] ^= 1
		if id, err := s.Resolve(o.kind, other.String()); !errors.Is(err, ErrNotFound) {
			t.Errorf("resolve %s: %s, %v", other, id, err)
		}
		if got, err := s.Get(o.kind, other); !errors.Is(err, ErrNotFound) || got != nil {
			t.Errorf("get %s: %v", other, err)
		}
	}
}

// sweepSamples keeps every third sample with what it depends on.
func sweepSamples(t *testing.T, s *Store, all []sample) {
	t.Helper()
	live := map[Object]bool{}
	var mark func(o Object)
	mark = func(o Object) {
		if live[o] {
			return
		}
		live[o] = true
		deps, err := s.Deps(o.Kind, o.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range deps {
			mark(Object{o.Kind, key})
		}
	}
	for i, o := range all {
		if i%3 == 0 {
			mark(o.object())
		}
	}
	there := standing(t, s)
	_, swept, err := sweep(t.Context(), s, func(k Kind, key Key) bool { return live[Object{k, key}] })
	left := standing(t, s)
	if err != nil || swept.Objects == 0 || swept.Objects != len(there)-len(live) || len(left) != len(live) {
		t.Errorf("swept %d of %d, %d are live, %d left: %v", swept.Objects, len(there), len(live), len(left), err)
	}
	for i, o := range all {
		if live[o.object()] {
			wantObject(t, s, o.kind, o.id, o.raw)
		} else if _, err := s.Get(o.kind, o.id); !errors.Is(err, ErrNotFound) {
			t.Errorf("sample %d was swept: %v", i, err)
		}
	}
}
