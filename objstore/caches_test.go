package objstore

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"rewind/internal/kv"
)

func TestContentsAreBounded(t *testing.T) {
	s := &Store{caches: newCaches()}
	const size = 100 << 10
	key := func(i int) (Object, ID) {
		id := Sum(Blob, fmt.Append(nil, i))
		return Object{Blob, id.Key()}, id
	}
	for i := range 200 {
		o, id := key(i)
		s.remember(o, id, make([]byte, size))
		if _, ok := s.contents.Get(o); !ok {
			t.Fatalf("object %d was not kept", i)
		}
		before, _ := key(i - recentBytes/size - 1)
		if _, ok := s.contents.Get(before); ok {
			t.Fatalf("more than %d bytes are kept: object %d, and all since", recentBytes, i-recentBytes/size-1)
		}
	}
	large := Object{Blob, ID{1}.Key()}
	s.remember(large, ID{1}, make([]byte, recentObject+1))
	if _, ok := s.contents.Get(large); ok {
		t.Error("an object over the limit was kept")
	}
}

// What a caller does to the bytes that it was given, or gave, changes nothing of what others read; an uncommitted
// object is the transaction's alone, and one that was swept is gone.
func TestRecentIsNobodysToChange(t *testing.T) {
	s := newStore(t)
	raw := bytes.Repeat([]byte("line of text\n"), 100)
	want := bytes.Clone(raw)
	tx := s.Begin()
	defer tx.Discard()
	id, err := tx.Put(Blob, raw, Zero)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw)
	if _, err := s.Get(Blob, id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("an uncommitted object is seen outside: %v", err)
	}
	for _, g := range []Getter{tx, tx, s, s} {
		if g == s {
			if err := tx.Commit(t.Context(), kv.Written); err != nil && !errors.Is(err, errDone) {
				t.Fatal(err)
			}
		}
		got, err := g.Get(Blob, id)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d wrong bytes, %v", len(got), err)
		}
		clear(got)
	}
	if _, _, err := sweep(t.Context(), s, nothing); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(Blob, id); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a swept object is read: %v", err)
	}
}

// Damage on the disk is found by Verify, whatever is remembered.
func TestVerifyReadsTheDisk(t *testing.T) {
	s := newStore(t)
	id := put(t, s, Blob, bytes.Repeat([]byte("text\n"), 50), Zero)
	raw, err := s.Get(Blob, id)
	if err != nil {
		t.Fatal(err)
	}
	env := bytes.Clone(stored(t, s, Blob, id))
	env[len(env)-1] ^= 1
	write(t, s, Blob, id, env)
	s.remember(Object{Blob, id.Key()}, id, raw)
	if err := s.Verify(t.Context(), Blob, id); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("verify: %v", err)
	}
}
