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
// what was stored a moment ago, and whoever compares two states reads both. It is in two halves, of which the older one goes when the younger is full. Safe
// for concurrent use; contents are shared and must not be changed.
type recent struct {
	mu         sync.Mutex
	young, old map[object][]byte
	size       int // of young, bytes
}

func (r *recent) get(o object) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, ok := r.young[o]
	if !ok {
		if raw, ok = r.old[o]; ok {
			r.keep(o, raw)
		}
	}
	return raw
}

// put keeps raw, which is the store's from then on.
func (r *recent) put(o object, raw []byte) {
	if len(raw) == 0 || len(raw) > recentObject {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep(o, raw)
}

func (r *recent) keep(o object, raw []byte) {
	if _, ok := r.young[o]; ok {
		return
	}
	if r.young == nil || r.size+len(raw) > recentBytes/2 {
		r.young, r.old, r.size = map[object][]byte{}, r.young, 0
	}
	r.young[o] = raw
	r.size += len(raw) + entryOverhead
}

// forget drops everything: objects are about to be removed.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old, r.size = nil, nil, 0
}

// keep remembers what its caller owns and may change.
func (s *Store) keep(o object, raw []byte) {
	if len(raw) <= recentObject && s.recent.get(o) == nil {
		s.recent.put(o, bytes.Clone(raw))
	}
}

// known implements source.
func (s *Store) known(k Kind, id ID) []byte { return s.recent.get(object{k, id}) }

// known implements source.
func (t *Tx) known(k Kind, id ID) []byte {
	if e, ok := t.find(object{k, id}); ok {
		return e.raw
	}
	return t.s.known(k, id)
}

// onDisk is a store without what it remembers: what is read is what lies on the disk.
type onDisk struct{ *Store }

func (onDisk) known(Kind, ID) []byte { return nil }
