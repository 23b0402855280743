package objstore

import (
	"rewind/internal/cache"
	"rewind/objstore/object"
)

// A Memo reads many versions of one object: it keeps what it has built, and the next version mostly needs one delta
// more or less. It gives what the store gives, and is for one goroutine.
type Memo struct {
	s    source
	kind Kind
	kept *cache.Cache[Key, []byte] // as built, each with room for an id behind it; verified when asked for
	// what was built last, by how its id begins, as deltas name their base: mostly it is in kept, and the right one
	built *cache.Cache[[object.BasePrefix]byte, name]
}

const (
	memoBytes = 8 << 20 // about what a Memo keeps in memory
	memoNames = 1 << 14
)

// Memo gives a reader of objects of a kind.
func (s *Store) Memo(k Kind) *Memo {
	return &Memo{
		s: s, kind: k, kept: cache.New[Key](memoBytes, func(raw []byte) int { return cap(raw) + entryBytes }),
		built: cache.New[[object.BasePrefix]byte, name](memoNames, nil),
	}
}

// Get is Getter's for the memo's kind; the bytes must not be changed.
func (m *Memo) Get(id ID) ([]byte, error) { return m.Begin(id)() }

// Begin begins to get an object. The function that it returns verifies it, which is about half of the work, and may be
// called in another goroutine than the memo's.
func (m *Memo) Begin(id ID) func() ([]byte, error) {
	raw, ok := m.kept.Get(id.Key())
	if !ok {
		raw = m.build(id)
	}
	return func() ([]byte, error) {
		if raw != nil && Sum(m.kind, raw) == id {
			return raw, nil
		}
		raw, err := get(m.s, m.kind, id) // tells what is wrong, or chooses among candidates
		return raw, wrap("get", m.kind, id.Key(), err)
	}
}

// build gives an object, unverified; nil: not that simply.
func (m *Memo) build(id ID) []byte {
	n, err := nodeOf(m.s, m.kind, nameOf(id))
	if err != nil {
		return nil
	}
	var path []link
	var raw []byte
	for raw == nil {
		if len(path) > object.MaxDepth {
			return nil
		}
		e, err := object.Decode(m.kind, n.env)
		if err != nil || e.Codec == CodecChunks {
			return nil
		}
		if !e.Codec.IsDelta() {
			if raw, err = e.Whole(room(e.Length)); err != nil {
				return nil
			}
			m.keep(n.name, raw)
			break
		}
		path = append(path, link{n, e})
		if last, ok := m.built.Get(e.Prefix); ok {
			if raw, ok = m.kept.Get(last.key); ok {
				n.name = last
				break
			}
		}
		base, found, err := m.s.uniqueBase(m.kind, n, e)
		if err != nil || found != 1 {
			return nil
		}
		n = base
		raw, _ = m.kept.Get(n.key)
	}
	base := n.id
	for i := len(path) - 1; i >= 0; i-- {
		from := raw // a delta that refers to its base's id gets it into the room behind
		if raw, err = path[i].e.Apply(room(path[i].e.Length), &object.Base{Kind: m.kind, Raw: &from, ID: base}); err != nil {
			return nil
		}
		base = path[i].id
		m.keep(path[i].name, raw)
	}
	return raw
}

// room is for an object of a length, as far as that is to be believed, and an id behind it.
func room(length int64) []byte { return make([]byte, 0, min(length, memoBytes)+int64(object.IDLen)) }

func (m *Memo) keep(n name, raw []byte) {
	m.kept.Put(n.key, raw)
	m.built.Put([object.BasePrefix]byte(n.key[:object.BasePrefix]), n)
}
