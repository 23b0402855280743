package objstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"rewind/internal/kv"
	"rewind/internal/memlimit"
	"rewind/objstore/object"
)

// A Getter gives objects. Get returns the object's bytes, verified and never nil; the caller owns them. The errors are
// ErrNotFound if there is no such object (a *GoneError if the reason is known), a *CorruptError, ErrTooLarge for a blob
// over MaxObject, and any other error of the store below. It is safe for concurrent use.
type Getter interface {
	Get(k Kind, id ID) ([]byte, error)
}

// A Putter keeps objects. Putting what is there already is no error and costs little. prev names the object of the same
// kind that this one replaces: a hint, which may be Zero, absent or damaged. raw is not kept. It is safe for concurrent
// use.
type Putter interface {
	Put(k Kind, raw []byte, prev ID) (ID, error)
}

// A Store reads the objects of a database, and is the only one that writes them. It is safe for concurrent use.
type Store struct {
	db *kv.DB
	// gate is held shared by every open transaction, and alone by BeginAlone and, for a moment, by a collection that
	// begins, or begins to sweep.
	gate sync.RWMutex
	// write is held from looking which pending objects exist to having written the others.
	write sync.Mutex

	writes atomic.Uint64 // how often objects were written by this Store; changed under write
	filled atomic.Bool   // objects were there, at some time

	caches
	tombstones tombstones

	coll atomic.Pointer[Collection] // nil: no objects are being collected; set while no transaction is open

	spillBytes int // as spill says, but for tests, as is
	cut        cut // what blobs are cut into
}

// New gives the store of objects in db, which stays the caller's to close.
func New(db *kv.DB) *Store {
	return &Store{db: db, caches: newCaches(), spillBytes: spill(memlimit.Heap()), cut: standardCut}
}

// An Info describes how an object is stored.
type Info struct {
	Size   int64 // of the object
	Stored int64 // of its envelope
	Codec  Codec
	Base   Key   // deltas only; zero when it is missing. Not verified: several objects may share the stored prefix
	Index  int   // position in its delta chain
	Damage error // given by Walk: why the envelope cannot be decoded; the other fields are then Zero but Stored
}

// Get implements Getter.
func (s *Store) Get(k Kind, id ID) ([]byte, error) {
	raw, err := get(s, k, id)
	if err == nil {
		s.ids.Put(Object{k, id.Key()}, id)
		s.keep(k, id, raw)
	}
	return raw, wrap("get", k, id.Key(), err)
}

// Has tells whether an object is there, by its key. It does not tell whether it can be read: see Verify. One that is
// marked as lost is not there, whatever lies under its key: who asks puts it again then. Nor is what a collection is
// about to sweep.
func (s *Store) Has(k Kind, id ID) (bool, error) {
	if err := k.Check(); err != nil {
		return false, wrap("has", k, id.Key(), err)
	}
	c := s.coll.Load()
	ok, err := s.db.Has(appendKey(nil, k, id.Key()))
	ok = ok && c.mayRely(Object{k, id.Key()})
	if ok && err == nil {
		g, gone, gerr := s.tombstones.get(s.db, Object{k, id.Key()})
		ok, err = !gone || g.Reason != Lost, gerr
	}
	return ok, wrap("has", k, id.Key(), err)
}

// Stat describes an object without reading it.
func (s *Store) Stat(k Kind, id ID) (Info, error) {
	n, err := nodeOf(s, k, nameOf(id))
	if err != nil {
		return Info{}, wrap("stat", k, id.Key(), err)
	}
	info, err := s.info(k, n)
	return info, wrap("stat", k, id.Key(), err)
}

func (s *Store) info(k Kind, n node) (Info, error) {
	e, err := object.Decode(k, n.env)
	if err != nil {
		return Info{}, &CorruptError{k, n.key, err}
	}
	info := Info{Size: e.Length, Stored: int64(len(n.env)), Codec: e.Codec, Index: e.Index}
	if e.Codec.IsDelta() {
		bases, err := s.bases(k, n, e)
		if err != nil {
			return Info{}, err
		}
		if len(bases) > 0 {
			info.Base = bases[0].key
		}
	}
	return info, nil
}

// view implements source.
func (s *Store) view(k Kind, as name, fn func(node) error) error {
	if err := k.Check(); err != nil {
		return err
	}
	err := s.db.View(appendKey(make([]byte, 0, keyLen), k, as.key), func(val []byte) error {
		return fn(node{name: as, env: val})
	})
	if errors.Is(err, kv.ErrNotFound) {
		return s.absence(k, as.key)
	}
	return translate(k, as.key, err)
}

// bases implements source: the objects whose ids begin with the base prefix of e and which may be its base.
func (s *Store) bases(k Kind, n node, e object.Envelope) ([]node, error) {
	var found []node
	err := s.db.Scan(kv.Range{Prefix: appendPrefix(nil, k, e.Prefix[:])}, func(key, val []byte) error {
		_, as, err := splitKey(key)
		if err != nil || as == n.key {
			return err
		}
		if head, err := object.DecodeHead(val); err != nil || head.Codec == CodecChunks || head.Index >= e.Index {
			return nil // cannot be it
		}
		if len(found) == maxBaseCandidates {
			return kv.ErrStop
		}
		found = append(found, node{name: name{key: as}, env: append(make([]byte, 0, len(val)), val...)})
		return nil
	})
	return found, translate(k, n.key, err)
}

// translate turns errors of the store below into this package's.
func translate(k Kind, key Key, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kv.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, kv.ErrCorrupt):
		return &CorruptError{k, key, err}
	}
	return err
}

// wrap names operation and object, once; a *CorruptError and a *GoneError name themselves.
func wrap(op string, k Kind, key Key, err error) error {
	if err == nil {
		return nil
	}
	var g *GoneError
	if errors.As(err, &g) && g.Kind == k && g.Key == key {
		return g
	}
	var c *CorruptError
	if errors.As(err, &c) && c.Kind == k && c.Key == key {
		return c
	}
	return fmt.Errorf("%s %s %s: %w", op, k, key.Short(), err)
}
