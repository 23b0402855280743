package objstore

import (
	"bytes"

	"rewind/objstore/object"
)

// uniqueBase gives the base of n, whose envelope is e, when its prefix stands for one object alone; n is how many it
// stands for.
func (s *Store) uniqueBase(k Kind, n node, e object.Envelope) (base node, found int, err error) {
	o := Object{k, n.key}
	if hint, ok := s.knownBases.Get(o); ok && bytes.HasPrefix(hint.key[:], e.Prefix[:]) {
		b, err := nodeOf(s, k, hint)
		if err == nil {
			if head, err := object.DecodeHead(b.env); err == nil && head.Codec != CodecChunks && head.Index < e.Index {
				return b, 1, nil
			}
		}
	}
	bases, err := s.bases(k, n, e)
	if err != nil || len(bases) != 1 {
		return node{}, len(bases), err
	}
	s.knownBases.Put(o, bases[0].name)
	return bases[0], 1, nil
}

// learn implements source.
func (s *Store) learn(k Kind, of Key, base name) { s.knownBases.Put(Object{k, of}, base) }

// learn implements source.
func (t *Tx) learn(k Kind, of Key, base name) {
	if _, ok := t.find(Object{k, of}); !ok { // a pending delta knows its base
		t.s.learn(k, of, base)
	}
}

// uniqueBase implements source.
func (t *Tx) uniqueBase(k Kind, n node, e object.Envelope) (base node, found int, err error) {
	if n.base.IsZero() {
		return t.s.uniqueBase(k, n, e)
	}
	bases, err := t.bases(k, n, e)
	if err != nil || len(bases) == 0 {
		return node{}, 0, err
	}
	return bases[0], 1, nil
}
