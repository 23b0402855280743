package objstore

import (
	"sync"
)

// maxLineage is how many bases are remembered, about 2 MB.
const maxLineage = 1 << 14

// lineage remembers which object the base of a delta is, where its prefix stood for one object alone: to look up an object by its id is
// several times cheaper than to look for a prefix. It is a hint: the object is looked up all the same, and the hash of the result decides. Safe
// for concurrent use.
type lineage struct {
	mu   sync.Mutex
	base map[object]ID
}

func (l *lineage) get(o object) (ID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.base[o]
	return id, ok
}

func (l *lineage) put(o object, base ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.base == nil || len(l.base) >= maxLineage {
		l.base = make(map[object]ID)
	}
	l.base[o] = base
}

// soleBase gives the base of n, whose envelope is e, when its prefix stands for one object alone; n is how many it stands for.
func (s *Store) soleBase(k Kind, n node, e envelope) (base node, found int, err error) {
	o := object{k, n.id}
	if id, ok := s.lineage.get(o); ok {
		b, err := nodeOf(s, k, id)
		if err == nil && [basePrefix]byte(id[:]) == e.base {
			if head, err := decodeHead(b.env); err == nil && head.codec != CodecChunks && head.index < e.index {
				return b, 1, nil
			}
		}
	}
	bases, err := s.bases(k, n, e)
	if err != nil || len(bases) != 1 {
		return node{}, len(bases), err
	}
	s.lineage.put(o, bases[0].id)
	return bases[0], 1, nil
}

// soleBase implements source.
func (t *Tx) soleBase(k Kind, n node, e envelope) (base node, found int, err error) {
	if n.base.IsZero() {
		return t.s.soleBase(k, n, e)
	}
	bases, err := t.bases(k, n, e)
	if err != nil || len(bases) == 0 {
		return node{}, 0, err
	}
	return bases[0], 1, nil
}
