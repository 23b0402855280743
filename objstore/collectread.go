package objstore

import (
	"bytes"

	"rewind/internal/cache"
	"rewind/objstore/object"
)

const (
	// readerBytes is about what a ListReader keeps in memory.
	readerBytes = 8 << 20
	// entryBytes is what keeping an object takes besides its bytes.
	entryBytes = 96
	// roomBytes is the size of the largest object for which room is made before its delta was checked.
	roomBytes = 1 << 20
)

// A ListReader reads objects of one kind of those that a Collection lists, and gives what the store gives. The list
// knows what each is built on: a version of what was read a moment ago takes one look-up, by its key, and one delta.
// For one goroutine, after List, and only for small objects.
type ListReader struct {
	c    *Collection
	kind Kind
	kept *cache.Cache[int32, built]
}

// built is an object of the list as its envelope and those below it say.
type built struct {
	raw []byte // with room for an id behind it; nil: it is not that simple
	id  ID     // the hash of raw; Zero: not asked for yet
}

func (b built) weigh() int { return cap(b.raw) + entryBytes }

// Reader gives a reader of a kind.
func (c *Collection) Reader(k Kind) *ListReader {
	return &ListReader{c: c, kind: k, kept: cache.New[int32](readerBytes, built.weigh)}
}

// Get is Getter's for the reader's kind; the bytes must not be changed.
func (r *ListReader) Get(id ID) ([]byte, error) {
	if i := r.c.find(Object{r.kind, id.Key()}); i >= 0 {
		b := r.build(i, 0)
		if b.raw != nil && b.id.IsZero() {
			b.id = Sum(r.kind, b.raw)
			r.kept.Put(i, b)
		}
		if b.raw != nil && b.id == id {
			return b.raw, nil
		}
	}
	raw, err := get(r.c.s, r.kind, id) // tells what is wrong, or chooses among candidates
	return raw, wrap("get", r.kind, id.Key(), err)
}

// build gives an item, unverified.
func (r *ListReader) build(i int32, depth int) (out built) {
	if b, ok := r.kept.Get(i); ok {
		return b
	}
	it := &r.c.items[i]
	var base built
	if it.flags&itemDelta != 0 {
		if depth == object.MaxDepth || it.base < 0 || r.c.more[i] != nil {
			return built{}
		}
		if base = r.build(it.base, depth+1); base.raw == nil {
			return built{}
		}
	}
	var err error
	if env := r.c.envelope(i); env != nil {
		out.raw, err = r.apply(i, env, &base)
	} else {
		err = r.c.s.view(r.kind, name{key: it.key}, func(n node) (err error) {
			out.raw, err = r.apply(i, n.env, &base)
			return err
		})
	}
	if err != nil || out.raw == nil {
		return built{} // the store says why
	}
	r.kept.Put(i, out)
	return out
}

// apply gives what an item's envelope makes of its base, which learns its id where that is asked for; nil: the object
// was written anew since the list was made.
func (r *ListReader) apply(i int32, env []byte, base *built) (raw []byte, err error) {
	e, err := object.Decode(r.kind, env)
	if err != nil || e.Codec == CodecChunks || e.Codec.IsDelta() != (base.raw != nil) {
		return nil, err
	}
	var room []byte
	if e.Length <= roomBytes {
		room = make([]byte, 0, e.Length+int64(object.IDLen))
	}
	if !e.Codec.IsDelta() {
		return e.Whole(room)
	}
	below := r.c.items[i].base
	if !bytes.HasPrefix(r.c.items[below].key[:], e.Prefix[:]) {
		return nil, nil
	}
	from := base.raw
	source := object.Base{Kind: r.kind, Raw: &from, ID: base.id}
	raw, err = e.Apply(room, &source)
	if source.ID != base.id {
		base.id = source.ID
		r.kept.Put(below, *base)
	}
	return raw, err
}
