package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"rewind/internal/cache"
	"rewind/internal/kv"
	"rewind/objstore/object"
)

// readerWorld is a store with a line of objects of a kind, each of which names the one before, and their list.
func readerWorld(t *testing.T, kind Kind) (s *Store, ids []ID, c *Collection) {
	t.Helper()
	s = newStore(t)
	prev := Zero
	for i := range 700 {
		tx := s.Begin()
		id, err := tx.Put(kind, fmt.Appendf(bytes.Repeat([]byte("same "), 40), "%d %x", i, prev[:]), prev)
		if err == nil {
			err = tx.Commit(t.Context(), kv.Written)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids, prev = append(ids, id), id
	}
	c, err := s.Collect()
	if err == nil {
		t.Cleanup(c.End)
		err = c.List(t.Context(), func(context.Context) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, ids, c
}

// TestReaderGivesWhatTheStoreGives: in any order, however little is kept, and of each object what the store says of it,
// also where one was damaged, written anew or removed after the list was made.
func TestReaderGivesWhatTheStoreGives(t *testing.T) {
	for _, tt := range []struct {
		kind  Kind
		looks int // at the store for each object
	}{{Note, 1}, {Tree, 0}, {Checkpoint, 0}, {Transcript, 0}} {
		t.Run(tt.kind.String(), func(t *testing.T) {
			s, ids, c := readerWorld(t, tt.kind)
			same := func(what string, r *ListReader, id ID) {
				t.Helper()
				want, werr := get(onDisk{s}, tt.kind, id)
				got, err := r.Get(id)
				if !bytes.Equal(got, want) || (err == nil) != (werr == nil) || errors.Is(err, ErrCorrupt) != errors.Is(werr, ErrCorrupt) {
					t.Errorf("%s: %q, %v; the store has %q, %v", what, got, err, want, werr)
				}
			}
			back, forth, odd, poor := c.Reader(tt.kind), c.Reader(tt.kind), c.Reader(tt.kind), c.Reader(tt.kind)
			poor.kept = cache.New[int32](8000, built.weigh)
			began := s.db.Reads()
			for i := range ids {
				if _, err := back.Get(ids[len(ids)-1-i]); err != nil {
					t.Fatal(err)
				}
			}
			if n := s.db.Reads() - began; n != uint64(tt.looks*len(ids)) {
				t.Errorf("%d looks at the store for %d objects", n, len(ids))
			}
			for i := range ids {
				same("newest first", back, ids[len(ids)-1-i])
				same("oldest first", forth, ids[i])
				same("in no order", odd, ids[i*77%len(ids)])
				same("in no order, with little memory", poor, ids[i*77%len(ids)])
			}
			if b, p := back.kept.Len(), poor.kept.Len(); b != len(ids) || p > 40 {
				t.Errorf("%d and %d of %d objects are kept", b, p, len(ids))
			}
			same("absent", back, Sum(tt.kind, []byte("another")))
			tx := s.Begin()
			later, err := tx.Put(tt.kind, []byte("written since"), Zero)
			if err == nil {
				err = tx.Commit(t.Context(), kv.Written)
			}
			if err != nil {
				t.Fatal(err)
			}
			same("not in the list", back, later)
			c.small = smallStock{} // what is kept stays as it was
			write(t, s, tt.kind, ids[128], append([]byte{byte(object.CodecRaw), 3}, "odd"...))
			write(t, s, tt.kind, ids[64], nil)
			fresh := c.Reader(tt.kind)
			for i, id := range ids {
				same(fmt.Sprintf("%d, with two changed", i), fresh, id)
			}
		})
	}
}

// TestReaderWhenNotAllIsKept: where envelopes are too many or too large to be kept, they are read.
func TestReaderWhenNotAllIsKept(t *testing.T) {
	s, ids, c := readerWorld(t, Tree)
	some := &Collection{s: s, items: c.items, first: c.first, shift: c.shift, small: smallStock{raw: make([]byte, 0, 9000)}}
	kept := 0
	for i := range some.items {
		it := &some.items[i]
		it.flags &^= itemSmall
		n, err := nodeOf(s, it.kind, name{key: it.key})
		if err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 && some.small.add(i, it.kind, n.env) {
			it.flags |= itemSmall
			kept++
		} else if i%3 == 0 {
			some.small.add(i, Blob, n.env)
		}
	}
	if kept == 0 || kept > 300 {
		t.Fatalf("%d envelopes are kept", kept)
	}
	r := some.Reader(Tree)
	for _, id := range ids {
		want, _ := s.Get(Tree, id)
		if got, err := r.Get(id); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, %v", got, err)
		}
	}
}
