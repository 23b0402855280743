package objstore

import (
	"bytes"
	"sync"

	"rewind/objstore/object"
)

// maxLineage is how many bases are remembered, about 2 MB.
const maxLineage = 1 << 14

// lineage remembers which object the base of a delta is, where its prefix stood for one object alone: to look up an object by its key is
// several times cheaper than to look for a prefix. It is a hint: the object is looked up all the same, and the hash of the result decides. Safe
// for concurrent use.
type lineage struct {
	mu   sync.Mutex
	base map[Object]name
}

func (l *lineage) get(o Object) (name, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.base[o]
	return n, ok
}

func (l *lineage) put(o Object, base name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.base == nil || len(l.base) >= maxLineage {
		l.base = make(map[Object]name)
	}
	l.base[o] = base
}

func (l *lineage) drop(gone []Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range gone {
		delete(l.base, o)
	}
}

func (l *lineage) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.base = nil
}

// soleBase gives the base of n, whose envelope is e, when its prefix stands for one object alone; n is how many it stands for.
func (s *Store) soleBase(k Kind, n node, e object.Envelope) (base node, found int, err error) {
	o := Object{k, n.key}
	if hint, ok := s.lineage.get(o); ok && bytes.HasPrefix(hint.key[:], e.Prefix()) {
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
	s.lineage.put(o, bases[0].name)
	return bases[0], 1, nil
}

// learn implements source.
func (s *Store) learn(k Kind, of Key, base name) { s.lineage.put(Object{k, of}, base) }

// learn implements source.
func (t *Tx) learn(k Kind, of Key, base name) {
	if _, ok := t.find(Object{k, of}); !ok { // a pending delta knows its base
		t.s.learn(k, of, base)
	}
}

// soleBase implements source.
func (t *Tx) soleBase(k Kind, n node, e object.Envelope) (base node, found int, err error) {
	if n.base.IsZero() {
		return t.s.soleBase(k, n, e)
	}
	bases, err := t.bases(k, n, e)
	if err != nil || len(bases) == 0 {
		return node{}, 0, err
	}
	return bases[0], 1, nil
}
