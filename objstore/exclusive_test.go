package objstore

import (
	"context"
	"fmt"
	"testing"

	"rewind/internal/kv"
)

// What a transaction knows without asking is right: of a store that was empty, while others write, and of what it
// spilled itself.
func TestAloneOrNot(t *testing.T) {
	s := newStore(t)
	s.spillBytes = 4 << 10
	alone := s.Begin()
	knows := func(tx *Tx, raw []byte, wantThere, wantSure bool) {
		t.Helper()
		_, there, sure := tx.knows(Object{Blob, Sum(Blob, raw).Key()})
		if there != wantThere || sure != wantSure {
			t.Errorf("there %v, sure %v; want %v, %v", there, sure, wantThere, wantSure)
		}
		if has, err := tx.Has(Blob, Sum(Blob, raw)); err != nil || wantSure && has != wantThere {
			t.Errorf("has %v, %v", has, err)
		}
	}
	content := func(i int) []byte { return append(noise(uint64(i), 600), fmt.Sprint(i)...) }
	for i := range 30 { // some spills
		knows(alone, content(i), false, true)
		if _, err := alone.Put(Blob, content(i), Zero); err != nil {
			t.Fatal(err)
		}
		knows(alone, content(i), true, true)
	}
	if alone.spills == 0 {
		t.Fatal("nothing was spilled")
	}
	knows(alone, content(0), true, true)

	other := s.Begin()
	knows(other, content(99), false, false) // the store is not empty
	for _, i := range []int{40, 41} {
		if _, err := other.Put(Blob, content(i), Zero); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Commit(context.Background(), kv.Written); err != nil {
		t.Fatal(err)
	}
	knows(alone, content(40), false, false) // somebody wrote
	if has, err := alone.Has(Blob, Sum(Blob, content(40))); !has || err != nil {
		t.Errorf("another's object: %v, %v", has, err)
	}
	for i := range 50 {
		if _, err := alone.Put(Blob, content(i), Zero); err != nil {
			t.Fatal(err)
		}
	}
	if err := alone.Commit(context.Background(), kv.Written); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		wantObject(t, s, Blob, Sum(Blob, content(i)), content(i))
	}
	empty := s.Begin()
	defer empty.Discard()
	knows(empty, content(99), false, false)
}
