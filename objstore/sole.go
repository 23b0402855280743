package objstore

import "rewind/internal/kv"

// A sole is what a transaction knows for as long as nobody else writes objects: what it did not find is still absent, and in a store
// that was empty nothing is there but its own. A first snapshot so asks the store for nothing.
type sole struct {
	begun uint64 // Store.writes when the transaction began
	mine  uint64 // how many of those since are its own; under Tx.mu, and Tx.spilling to be written
	empty bool   // no object was there when it began
}

// sole is asked before the first look at the store: what is written from now on changes writes.
func (s *Store) sole() sole {
	now := sole{begun: s.writes.Load()}
	if !s.filled.Load() {
		now.empty = true
		err := s.db.Scan(kv.Range{Prefix: []byte{kv.PrefixObject}}, func(_, _ []byte) error {
			now.empty = false
			return kv.ErrStop
		})
		if now.empty = now.empty && err == nil; !now.empty {
			s.filled.Store(true)
		}
	}
	return now
}

// wrote is called under s.write, before objects are written: from then on nobody else is alone, also if that fails.
func (s *Store) wrote() {
	s.filled.Store(true)
	s.writes.Add(1)
}

// holds tells whether the transaction has put an object. Under t.mu.
func (t *Tx) holds(o object) bool {
	if _, ok := t.pending[o]; ok {
		return true
	}
	if _, ok := t.leaving[o]; ok {
		return true
	}
	_, ok := t.spilled[o]
	return ok
}

// knows tells whether an object is there, and whether that is sure without asking the store.
func (t *Tx) knows(o object) (there, sure bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holds(o) {
		return true, true
	}
	// A spill under way has counted already, and mine has not: then the store is asked.
	return false, t.sole.empty && !t.done && t.s.writes.Load() == t.sole.begun+t.sole.mine
}

// keepSpilled remembers what went to the store, 40 bytes an object until the transaction ends. Under t.mu.
func (t *Tx) keepSpilled() {
	if t.spilled == nil {
		t.spilled = make(map[object]struct{}, 2*len(t.leaving))
	}
	for o := range t.leaving {
		t.spilled[o] = struct{}{}
	}
}
