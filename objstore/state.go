package objstore

import (
	"bytes"
	"errors"

	"rewind/objstore/object"
)

// A state is what stands in the way of writing an object.
type state int

const (
	absent  state = iota
	damaged       // there, but its envelope or that of a base is damaged or missing: to be written anew, whole
	sound         // there, and so is what it depends on
)

// indexOf gives the position of an object in its delta chain; 0 where it cannot be read.
func (s *Store) indexOf(k Kind, key Key) (int, error) {
	_, e, err := headOf(s, k, name{key: key})
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) {
		return 0, nil
	}
	return e.Index, err
}

// state looks an object up before it is written. It reads the envelopes of the object and its bases, which the store
// below checks against their block checksums, but does not decode them. A chunked blob is sound when its list is the
// one given.
func (s *Store) state(k Kind, key Key, list []byte) (st state, index int, err error) {
	var n node
	var e object.Envelope
	if there, err := s.db.Has(appendKey(make([]byte, 0, keyLen), k, key)); err == nil && !there {
		return absent, 0, nil // as it mostly is
	}
	err = translate(k, key, s.view(k, name{key: key}, func(v node) error {
		st, n.name = sound, v.name
		if e, err = object.Decode(k, v.env); err != nil {
			st = damaged
		} else if e.Codec == CodecChunks && !bytes.Equal(v.env, list) {
			st = damaged
		}
		return nil
	}))
	switch {
	case errors.Is(err, ErrNotFound):
		return absent, 0, nil
	case errors.Is(err, ErrCorrupt):
		return damaged, 0, nil
	case err != nil:
		return absent, 0, err
	}
	index = e.Index
	if st == sound && e.Codec.IsDelta() {
		// What is in the sweep set may go while it is looked at, and then what it was built on.
		if _, _, err := pathOf(s, k, n, e); errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFound) {
			st = damaged
		} else if err != nil {
			return absent, 0, err
		}
	}
	return st, index, nil
}

// present is state for an object of which the whole id is known. That there is something sound under the key is not
// enough, or the second of two objects whose ids begin alike would count as stored and be lost: what this process has
// neither written nor read is read once. Another object there is errCollision.
func (s *Store) present(k Kind, id ID, list []byte) (state, error) {
	c := s.coll.Load()
	o := Object{k, id.Key()}
	if _, other := s.rewritten(o); other {
		return damaged, nil
	}
	st, _, err := s.state(k, id.Key(), list)
	if err == nil && st == sound && !c.mayRely(o) {
		st = damaged // in the sweep set: it may go at any moment
	}
	if err != nil || st != sound || list != nil {
		return st, err
	}
	known, ok := s.ids.Get(o)
	if !ok {
		buf := object.BorrowBuffer()
		defer object.ReturnBuffer(buf)
		got, err := fetch(s, k, name{key: o.Key}, (*buf)[:0], anySize)
		switch {
		case errors.Is(err, ErrCorrupt), errors.Is(err, ErrNotFound):
			return damaged, nil
		case err != nil:
			return absent, err
		}
		*buf, known = got.raw, got.id
		s.ids.Put(o, known)
	}
	if err := collides(known, id); err != nil {
		return absent, err
	}
	return sound, nil
}
