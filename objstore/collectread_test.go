package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"rewind/internal/kv"
)

// TestReaderGivesWhatTheStoreGives: in any order, however little is kept, and of each object what the store says of it, also where one was damaged, written anew or
// removed after the list was made.
func TestReaderGivesWhatTheStoreGives(t *testing.T) {
	s := newStore(t)
	var ids []ID
	prev := Zero
	put := func(data []byte) ID {
		tx := s.Begin()
		id, err := tx.Put(Note, data, prev)
		if err == nil {
			err = tx.Commit(t.Context(), kv.Written)
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	text := func(i int) []byte { return fmt.Appendf(bytes.Repeat([]byte("same "), 40), "%d %x", i, prev[:]) } // names the one before
	for i := range 700 {
		prev = put(text(i))
		ids = append(ids, prev)
	}
	c, err := s.Collect()
	if err == nil {
		defer c.End()
		err = c.List(t.Context(), func(context.Context) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, r *ListReader, id ID) {
		t.Helper()
		want, werr := get(onDisk{s}, Note, id)
		got, err := r.Get(id)
		if !bytes.Equal(got, want) || (err == nil) != (werr == nil) || errors.Is(err, ErrCorrupt) != errors.Is(werr, ErrCorrupt) {
			t.Errorf("%s: %q, %v; the store has %q, %v", what, got, err, want, werr)
		}
	}
	back, forth, odd, poor := c.Reader(Note), c.Reader(Note), c.Reader(Note), c.Reader(Note)
	poor.most = 4000
	began := s.db.Reads()
	for i := range ids {
		if _, err := back.Get(ids[len(ids)-1-i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.db.Reads() - began; n != uint64(len(ids)) {
		t.Errorf("%d looks at the store for %d objects", n, len(ids))
	}
	for i := range ids {
		same("newest first", back, ids[len(ids)-1-i])
		same("oldest first", forth, ids[i])
		same("in no order", odd, ids[i*77%len(ids)])
		same("in no order, with little memory", poor, ids[i*77%len(ids)])
	}
	if len(back.old) > 0 || len(back.young) != len(ids) || len(poor.young)+len(poor.old) > 40 {
		t.Errorf("%d and %d of %d objects are kept", len(back.young), len(poor.young)+len(poor.old), len(ids))
	}
	same("absent", back, Sum(Note, []byte("another")))
	prev = Zero
	later := put([]byte("written since"))
	same("not in the list", back, later)
	write(t, s, Note, ids[128], append([]byte{byte(CodecRaw), 3}, "odd"...))
	write(t, s, Note, ids[64], nil)
	fresh := c.Reader(Note)
	for i, id := range ids {
		same(fmt.Sprintf("%d, with two changed", i), fresh, id)
	}
}
