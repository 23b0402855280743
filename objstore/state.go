package objstore

import (
	"bytes"
	"errors"
)

// A state is what stands in the way of writing an object.
type state int

const (
	absent  state = iota
	damaged       // there, but its envelope or that of a base is damaged or missing: to be written anew, whole
	sound         // there, and so is what it depends on
)

// indexOf gives the place of an object in its line; 0 where it cannot be read.
func (s *Store) indexOf(k Kind, id ID) (int, error) {
	_, e, err := headOf(s, k, id)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) {
		return 0, nil
	}
	return e.index, err
}

// state looks an object up before it is written. It reads the envelopes of the object and its bases, which the store
// below checks against their block checksums, but does not decode them. A chunked blob is sound when its list is the
// one given.
func (s *Store) state(k Kind, id ID, list []byte) (st state, index int, err error) {
	n := node{id: id}
	var e envelope
	key := appendKey(make([]byte, 0, keyLen), k, id)
	if there, err := s.db.Has(key); err == nil && !there {
		return absent, 0, nil // as it mostly is
	}
	err = s.db.View(key, func(val []byte) error {
		st = sound
		if e, err = decodeEnvelope(k, val); err != nil {
			st = damaged
		} else if e.codec == CodecChunks && !bytes.Equal(val, list) {
			st = damaged
		}
		return nil
	})
	switch err = translate(k, id, err); {
	case errors.Is(err, ErrNotFound):
		return absent, 0, nil
	case errors.Is(err, ErrCorrupt):
		return damaged, 0, nil
	case err != nil:
		return absent, 0, err
	}
	index = e.index
	if st == sound && e.codec.isDelta() {
		if _, _, err := chainOf(s, k, n, e); errors.Is(err, ErrCorrupt) {
			st = damaged
		} else if err != nil {
			return absent, 0, err
		}
	}
	return st, index, nil
}
