package objstore

import (
	"bytes"
	"sync"
)

const (
	// recentBytes is about what a store keeps of the contents that were read and written last.
	recentBytes = 4 << 20
	// recentObject is the size of the largest object that is kept.
	recentObject = 256 << 10
	// ownBytes is how much of what it puts a transaction keeps: a hook's, not a first snapshot's.
	ownBytes = 1 << 20
)

// recent keeps contents that were verified when they were read or written: the next version of a file, and of the directories above it, is a delta against
// what was stored a moment ago, and whoever compares two states reads both. Safe for concurrent use; contents are shared and must not be changed.
type recent struct {
	mu   sync.Mutex
	kept halves[Object, remembered]
}

func newRecent() recent {
	return recent{kept: halves[Object, remembered]{most: recentBytes / 2, weigh: func(at remembered) int { return len(at.raw) + entryOverhead }}}
}

type remembered struct {
	id  ID
	raw []byte
}

func (r *recent) get(o Object) remembered {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, _ := r.kept.get(o)
	return at
}

// put keeps raw, which is the store's from then on.
func (r *recent) put(o Object, id ID, raw []byte) {
	if len(raw) == 0 || len(raw) > recentObject {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.put(o, remembered{id, raw})
}

// forget drops everything: objects are about to be removed.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept.clear()
}

// drop forgets some objects: they are about to be removed.
func (r *recent) drop(gone []Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range gone {
		r.kept.drop(o)
	}
}

// keep remembers what its caller owns and may change.
func (s *Store) keep(k Kind, id ID, raw []byte) {
	o := Object{k, id.Key()}
	if len(raw) <= recentObject && s.recent.get(o).raw == nil {
		s.recent.put(o, id, bytes.Clone(raw))
	}
}

// known implements source.
func (s *Store) known(k Kind, n name) ([]byte, ID) { return s.recent.get(Object{k, n.key}).as(n) }

// known implements source.
func (t *Tx) known(k Kind, n name) ([]byte, ID) {
	if e, ok := t.find(Object{k, n.key}); ok {
		return remembered{e.id, e.raw}.as(n)
	}
	return t.s.known(k, n)
}

// as gives the object if it is the one that is named.
func (at remembered) as(n name) ([]byte, ID) {
	if !n.id.IsZero() && n.id != at.id {
		return nil, Zero
	}
	return at.raw, at.id
}

// onDisk is a store without what it remembers: what is read is what lies on the disk.
type onDisk struct{ *Store }

func (onDisk) known(Kind, name) ([]byte, ID) { return nil, Zero }
