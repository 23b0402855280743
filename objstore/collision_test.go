package objstore

import (
	"bytes"
	"errors"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// Two objects whose ids begin with the same 160 bits take 2^80 work; here the store is told that it has one.
func TestCollisionIsRefused(t *testing.T) {
	s := newStore(t)
	raw := []byte("the second of the two")
	id := put(t, s, Blob, raw, Zero)
	o, other := Object{Blob, id.Key()}, id
	other[31] ^= 1
	again := func() error {
		tx := s.Begin()
		defer tx.Discard()
		if got, err := tx.Put(Blob, raw, Zero); err != nil || got != id {
			return err
		}
		return tx.Commit(t.Context(), kv.Written)
	}
	s.ids.Put(o, other)
	if err := again(); !errors.Is(err, errCollision) {
		t.Errorf("put: %v", err)
	}
	s.ids.Clear()
	if err := again(); err != nil { // the object was read, and is the one
		t.Error(err)
	}
	if known, ok := s.ids.Get(o); !ok || known != id {
		t.Errorf("known is %s", known.Short())
	}
	if _, err := s.Get(Blob, other); !errors.Is(err, ErrNotFound) {
		t.Errorf("get of the first: %v", err)
	}
	if r, err := s.Open(other); !errors.Is(err, ErrNotFound) {
		t.Errorf("open of the first: %v, %v", r, err)
	}

	tx := s.Begin()
	defer tx.Discard()
	second := []byte("and both in one transaction")
	id2, err := tx.Put(Blob, second, Zero)
	if err != nil {
		t.Fatal(err)
	}
	o2, e := Object{Blob, id2.Key()}, tx.pending[Object{Blob, id2.Key()}]
	e.id[31] ^= 1
	tx.pending[o2] = e
	if _, err := tx.Put(Blob, second, Zero); !errors.Is(err, errCollision) {
		t.Errorf("put beside the other: %v", err)
	}
}

// A put of what another process stored reads it once, and heals what is not the object.
func TestPutReadsWhatItDoesNotKnow(t *testing.T) {
	s := newStore(t)
	raw := bytes.Repeat([]byte("some text, "), 100)
	id := put(t, s, Blob, raw, Zero)
	wrong, err := object.EncodeWhole(bytes.ToUpper(raw), object.Careful)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, Blob, id, wrong) // sound but for its content
	put(t, s, Blob, raw, Zero)
	wantObject(t, s, Blob, id, raw)
}
