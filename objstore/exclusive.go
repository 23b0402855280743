package objstore

import "rewind/internal/kv"

// An exclusive has the facts that stay true for a transaction while nobody else writes objects. An object that it did
// not find is still absent. A store that was empty has only the transaction's own objects. A first snapshot so asks the
// store for nothing.
type exclusive struct {
	begun uint64 // Store.writes when the transaction began
	mine  uint64 // how many of those since are its own; under Tx.mu, and Tx.spilling to be written, when writes is
	empty bool   // no object was there when it began
}

// exclusive is asked before the first look at the store: what is written from now on changes writes.
func (s *Store) exclusive() exclusive {
	now := exclusive{begun: s.writes.Load()}
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
func (s *Store) wrote(ready []readied) {
	if c := s.coll.Load(); c != nil {
		c.wrote(ready)
	}
	s.filled.Store(true)
	s.writes.Add(1)
}

// holds gives the whole id of what the transaction has put under a key. Under t.mu.
func (t *Tx) holds(o Object) (id ID, ok bool) {
	if e, ok := t.pending[o]; ok {
		return e.id, true
	}
	if e, ok := t.leaving[o]; ok {
		return e.id, true
	}
	id, ok = t.spilled[o]
	return id, ok
}

// knows tells whether an object is there, which one if it is the transaction's, and whether that is sure without asking
// the store.
func (t *Tx) knows(o Object) (id ID, there, sure bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.holds(o); ok {
		return id, true, true
	}
	return Zero, false, t.exclusive.empty && !t.done && t.s.writes.Load() == t.exclusive.begun+t.exclusive.mine
}

// keepSpilled remembers what went to the store, 60 bytes an object until the transaction ends. Under t.mu.
func (t *Tx) keepSpilled() {
	if t.spilled == nil {
		t.spilled = make(map[Object]ID, 2*len(t.leaving))
	}
	for o, e := range t.leaving {
		t.spilled[o] = e.id
	}
}
