package objstore

import (
	"rewind/internal/cache"
	"rewind/objstore/object"
)

// A Memo reads many versions of one object: it keeps what it has built, and the next version mostly needs one delta more or less. It gives
// what the store gives, and is for one goroutine.
type Memo struct {
	s    source
	kind Kind
	kept *cache.Cache[Key, []byte] // as built: verified when asked for
}

// memoBytes is about what a Memo keeps in memory.
const memoBytes = 8 << 20

// Memo gives a reader of objects of a kind.
func (s *Store) Memo(k Kind) *Memo {
	return &Memo{s: s, kind: k, kept: cache.New[Key](memoBytes, func(raw []byte) int { return cap(raw) + entryBytes })}
}

// Get is Getter's for the memo's kind; the bytes must not be changed.
func (m *Memo) Get(id ID) ([]byte, error) {
	if raw, ok := m.kept.Get(id.Key()); ok && Sum(m.kind, raw) == id {
		return raw, nil
	}
	if raw := m.build(id); raw != nil && Sum(m.kind, raw) == id {
		return raw, nil
	}
	raw, err := get(m.s, m.kind, id) // tells what is wrong, or chooses among candidates
	return raw, wrap("get", m.kind, id.Key(), err)
}

// build gives an object, unverified; nil: not that simply.
func (m *Memo) build(id ID) []byte {
	n, err := nodeOf(m.s, m.kind, nameOf(id))
	if err != nil {
		return nil
	}
	var path []link
	var raw []byte
	for {
		if known, ok := m.kept.Get(n.key); ok {
			raw = known
			break
		}
		e, err := object.Decode(m.kind, n.env)
		if err != nil || e.Codec == CodecChunks || len(path) > object.MaxDepth {
			return nil
		}
		if !e.Codec.IsDelta() {
			if raw, err = e.Whole(nil); err != nil {
				return nil
			}
			m.kept.Put(n.key, raw)
			break
		}
		path = append(path, link{n, e})
		base, found, err := m.s.uniqueBase(m.kind, n, e)
		if err != nil || found != 1 {
			return nil
		}
		n = base
	}
	base := n.id
	for i := len(path) - 1; i >= 0; i-- {
		from := append(make([]byte, 0, len(raw)+object.IDLen), raw...)
		if raw, err = path[i].e.Apply(nil, &object.Base{Kind: m.kind, Raw: &from, ID: base}); err != nil {
			return nil
		}
		base = path[i].id
		m.kept.Put(path[i].key, raw)
	}
	return raw
}
