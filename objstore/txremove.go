package objstore

import (
	"fmt"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// An expunged object of a transaction goes with its commit; with a tombstone, or without a word.
type expunged struct {
	tombstone Tombstone
	mark      bool
	stay      bool // what lies there is damaged, and is left
}

// changes is what a transaction does to objects that are there: see Tx.Expunge and Tx.Drop. Under Tx.mu.
type changes struct {
	alone  bool
	out    map[Object]expunged
	moved  map[Object]bool // put anew, by Unbase
	healed map[Object]bool // put again, that were lost
}

// BeginAlone opens a transaction that no other is open beside: it waits for those that are, and Begin waits for it.
// Only it may Expunge and Drop, for any other may rely on what goes.
func (s *Store) BeginAlone() *Tx {
	s.gate.Lock()
	return &Tx{s: s, pending: map[Object]entry{}, exclusive: s.exclusive(), changes: changes{alone: true, out: map[Object]expunged{}}}
}

// Expunge takes what lies under a key out of the store, together with the commit, and leaves a tombstone; the object
// need not be there. A
// tombstone of Purged is never replaced by one of Lost. Who expunges an object that others need (Deps) has put those
// anew: see Unbase.
func (t *Tx) Expunge(k Kind, key Key, g Tombstone) error {
	had, ok, err := t.s.Tombstone(k, key)
	if err != nil {
		return err
	}
	if ok && had.Reason == Purged && g.Reason != Purged {
		g = had
	}
	return t.leave(Object{k, key}, expunged{tombstone: g.at(), mark: true})
}

// Miss marks an object as lost, together with the commit. What lies under its key stays: it may be a delta whose base
// is lost, and come back with that.
func (t *Tx) Miss(k Kind, key Key, g Tombstone) error {
	if had, ok, err := t.s.Tombstone(k, key); err != nil || ok && had.Reason == Purged {
		return err
	}
	return t.leave(Object{k, key}, expunged{tombstone: g.at(), mark: true, stay: true})
}

// Found takes the mark of an object that was lost, and can be read again, away.
func (t *Tx) Found(k Kind, key Key) error { return t.refused(Object{k, key}) }

// Drop takes what lies under a key out of the store without a tombstone: nothing names it, as the chunks of a blob that
// goes.
func (t *Tx) Drop(k Kind, key Key) error { return t.leave(Object{k, key}, expunged{}) }

// Unbase stores an object whole, so that it needs no other: what it was built on is about to go. Only BeginAlone's
// transaction may.
func (t *Tx) Unbase(k Kind, key Key) error {
	if !t.changes.alone {
		return wrap("store whole", k, key, ErrOpenTx)
	}
	got, err := fetch(t, k, name{key: key}, nil, anySize)
	if err != nil || got.list != nil {
		return wrap("store whole", k, key, err)
	}
	env, err := object.EncodeWhole(got.raw, object.Careful)
	if err != nil {
		return wrap("store whole", k, key, err)
	}
	t.mu.Lock()
	if t.changes.moved == nil {
		t.changes.moved = map[Object]bool{}
	}
	t.changes.moved[Object{k, key}] = true
	t.mu.Unlock()
	return wrap("store whole", k, key, t.insert(Object{k, key}, entry{id: got.id, env: env}))
}

// Rewrite gives an object other bytes, together with the commit: the id names these from then on, until its own are put
// again. Nobody may be
// built on it: see Unbase. Only BeginAlone's transaction may.
func (t *Tx) Rewrite(k Kind, id ID, raw []byte, g Tombstone) error {
	g.Reason, g.id, g.now = Rewritten, id, Sum(k, raw)
	o := Object{k, id.Key()}
	env, err := object.EncodeWhole(raw, object.Careful)
	if err == nil {
		err = t.leave(o, expunged{tombstone: g.at(), mark: true, stay: true})
	}
	if err != nil {
		return wrap("rewrite", k, o.Key, err)
	}
	return wrap("rewrite", k, o.Key, t.insert(o, entry{id: id, env: env}))
}

func (t *Tx) leave(o Object, x expunged) error {
	if err := o.Kind.Check(); err != nil {
		return fmt.Errorf("expunge: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.done:
		return wrap("expunge", o.Kind, o.Key, errDone)
	case !t.changes.alone:
		return wrap("expunge", o.Kind, o.Key, ErrOpenTx)
	}
	if _, mine := t.holds(o); mine {
		return fmt.Errorf("expunge %s %s: it was put by the same transaction", o.Kind, o.Key.Short())
	}
	t.changes.out[o] = x
	return nil
}

// Purged tells, before a blob of some bytes is put, whether its content was purged; the error is then a *GoneError. Put
// tells it, too, but for a blob that is chunked only when its chunks have been put already. sum gives the id of the
// content; it is called when that can matter.
func (t *Tx) Purged(size int64, sum func() (ID, error)) error {
	if may, err := t.s.tombstones.chunked(t.s.db, size); err != nil || !may {
		return err
	}
	id, err := sum()
	if err != nil {
		return err
	}
	return t.refused(Object{Blob, id.Key()})
}

// Refused is Store.Refused.
func (t *Tx) Refused(k Kind, id ID) error { return t.s.Refused(k, id) }

// refused is a *GoneError for what was purged; what was lost is healed when the transaction is committed.
func (t *Tx) refused(o Object) error {
	g, ok, err := t.s.tombstones.get(t.s.db, o)
	switch {
	case err != nil:
		return translate(o.Kind, o.Key, err)
	case !ok:
		return nil
	case g.Reason == Purged:
		return &GoneError{o.Kind, o.Key, g}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes.healed == nil {
		t.changes.healed = map[Object]bool{}
	}
	t.changes.healed[o] = true
	return nil
}

// changing tells whether the commit does more than write objects.
func (c *changes) changing() bool { return len(c.out)+len(c.moved)+len(c.healed) > 0 }

// addTo adds the changes to a batch.
func (c *changes) addTo(b *kv.Batch) error {
	for o := range c.healed {
		if err := b.Delete(appendTombstoneKey(nil, o)); err != nil {
			return err
		}
	}
	for o, x := range c.out {
		if !x.stay {
			if err := b.Delete(appendKey(nil, o.Kind, o.Key)); err != nil {
				return err
			}
		}
		if !x.mark {
			continue
		}
		if err := b.Set(appendTombstoneKey(nil, o), encodeTombstone(x.tombstone)); err != nil {
			return err
		}
	}
	return nil
}

// apply brings what the store keeps in memory up to what was committed.
func (c *changes) apply(s *Store) {
	set := make(map[Object]Tombstone, len(c.out))
	for o, x := range c.out {
		if x.mark {
			set[o] = x.tombstone
		}
	}
	s.tombstones.note(set, c.healed)
	if len(c.out)+len(c.moved)+len(c.healed) > 0 {
		s.Forget()
	}
}
