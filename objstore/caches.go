package objstore

import (
	"bytes"

	"rewind/internal/cache"
)

const (
	// recentBytes is about what a store keeps of the contents that were read and written last.
	recentBytes = 4 << 20
	// recentObject is the size of the largest object that is kept.
	recentObject = 256 << 10
	// maxIDs is how many ids are remembered, about 1 MB.
	maxIDs = 1 << 13
	// maxBases is how many bases are, about 2 MB.
	maxBases = 1 << 14
	// ownBytes is how much of what it puts a transaction keeps: a hook's, not a first snapshot's.
	ownBytes = 1 << 20
)

// A cached content is that of an object, verified when it was read or written. The next version of a file, and of the
// directories above it, is a delta against the last stored one, and a comparison of two states reads both. It is shared
// and must not be changed.
type cached struct {
	id  ID
	raw []byte
}

// caches are what a store remembers of objects. Whoever removes one has it forgotten.
type caches struct {
	contents *cache.Shared[Object, cached]
	// ids are the whole ids of objects that this process has written or verified. They say what a reading of the object
	// would say, since what lies under a key does not change.
	ids *cache.Shared[Object, ID]
	// knownBases says which object the base of a delta is, where its prefix stood for one object alone: to look up an
	// object by its key is several times cheaper than to look for a prefix. It is a hint: the object is looked up all
	// the same, and the hash of the result decides.
	knownBases *cache.Shared[Object, name]
}

func newCaches() caches {
	return caches{
		contents:   cache.NewShared[Object](recentBytes, func(c cached) int { return len(c.raw) + entryBytes }),
		ids:        cache.NewShared[Object, ID](maxIDs, nil),
		knownBases: cache.NewShared[Object, name](maxBases, nil),
	}
}

// drop forgets some objects: they are about to be removed.
func (c caches) drop(removed []Object) {
	c.contents.Drop(removed...)
	c.ids.Drop(removed...)
	c.knownBases.Drop(removed...)
}

// Forget empties what is kept in memory of objects: contents, ids, and what was built on what.
func (c caches) Forget() {
	c.contents.Clear()
	c.ids.Clear()
	c.knownBases.Clear()
}

// remember keeps raw, which is the store's from then on.
func (s *Store) remember(o Object, id ID, raw []byte) {
	if len(raw) > 0 && len(raw) <= recentObject {
		s.contents.Put(o, cached{id, raw})
	}
}

// keep remembers what its caller owns and may change.
func (s *Store) keep(k Kind, id ID, raw []byte) {
	o := Object{k, id.Key()}
	if len(raw) > recentObject {
		return
	}
	if _, ok := s.contents.Get(o); !ok {
		s.remember(o, id, bytes.Clone(raw))
	}
}

// known implements source.
func (s *Store) known(k Kind, n name) ([]byte, ID) {
	c, _ := s.contents.Get(Object{k, n.key})
	return c.as(n)
}

// known implements source.
func (t *Tx) known(k Kind, n name) ([]byte, ID) {
	if e, ok := t.find(Object{k, n.key}); ok {
		return cached{e.id, e.raw}.as(n)
	}
	return t.s.known(k, n)
}

// as gives the object if it is the one that is named.
func (c cached) as(n name) ([]byte, ID) {
	if !n.id.IsZero() && n.id != c.id {
		return nil, Zero
	}
	return c.raw, c.id
}

// onDisk is a store without what it remembers: what is read is what lies on the disk.
type onDisk struct{ *Store }

func (onDisk) known(Kind, name) ([]byte, ID) { return nil, Zero }
