package objstore

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"rewind/internal/kv"
)

// TestMemoGivesWhatTheStoreGives: in any order, and of each object what the store says of it, also where one is damaged
// or gone.
func TestMemoGivesWhatTheStoreGives(t *testing.T) {
	s := newStore(t)
	var ids []ID
	prev := Zero
	for i := range 200 {
		tx := s.Begin()
		id, err := tx.Put(Note, fmt.Appendf(bytes.Repeat([]byte("same "), 40), "%d", i), prev)
		if err == nil {
			err = tx.Commit(t.Context(), kv.Written)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids, prev = append(ids, id), id
	}
	same := func(what string, m *Memo, id ID) {
		t.Helper()
		want, werr := s.Get(Note, id)
		got, err := m.Get(id)
		if !bytes.Equal(got, want) || (err == nil) != (werr == nil) || errors.Is(err, ErrCorrupt) != errors.Is(werr, ErrCorrupt) {
			t.Errorf("%s: %q, %v; the store has %q, %v", what, got, err, want, werr)
		}
	}
	back, forth, odd := s.Memo(Note), s.Memo(Note), s.Memo(Note)
	for i := range ids {
		same("newest first", back, ids[len(ids)-1-i])
		same("oldest first", forth, ids[i])
		same("in no order", odd, ids[i*77%len(ids)])
	}
	if n := back.kept.Len(); n != len(ids) {
		t.Errorf("%d of %d objects were built", n, len(ids))
	}
	same("absent", back, Sum(Note, []byte("another")))
	write(t, s, Note, ids[64], nil)
	fresh := s.Memo(Note)
	for i, id := range ids {
		if i >= 64 { // some of them stand on it
			same(fmt.Sprintf("%d without 64", i), fresh, id)
		}
	}
}
