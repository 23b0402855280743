package objstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"rewind/internal/kv"
)

// A Getter gives objects. The outcomes of Get are: the object's bytes, verified, which the caller owns and which are
// never nil; ErrNotFound when there is no such object; a *CorruptError; ErrTooLarge for a blob over MaxObject; any other
// error of the store below. It is safe for concurrent use.
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
	// gate is held shared by every open transaction, and alone by Sweep.
	gate sync.RWMutex
	// write is held from looking which pending objects exist to having written the others.
	write sync.Mutex

	writes atomic.Uint64 // how often objects were written by this Store; changed under write
	filled atomic.Bool   // objects were there, at some time

	lineage lineage
	recent  recent

	spillBytes int // SpillBytes, but for tests, as is
	cut        cut // what blobs are cut into
}

// New gives the store of objects in db, which stays the caller's to close.
func New(db *kv.DB) *Store { return &Store{db: db, spillBytes: SpillBytes, cut: standardCut} }

const keyLen = 1 + 1 + len(ID{})

func appendKey(dst []byte, k Kind, id ID) []byte {
	return append(append(dst, kv.PrefixObject, byte(k)), id[:]...)
}

func splitKey(key []byte) (Kind, ID, error) {
	if len(key) != keyLen || key[0] != kv.PrefixObject {
		return 0, Zero, &FormatError{What: "key", Value: fmt.Sprintf("%x", key)}
	}
	k := Kind(key[1])
	return k, ID(key[2:]), k.check()
}

// An Info describes how an object is stored.
type Info struct {
	Size   int64 // of the object
	Stored int64 // of its envelope
	Codec  Codec
	Base   ID    // deltas only; Zero when it is missing. Not verified: several objects may share the stored prefix
	Index  int   // place in the line of deltas
	Damage error // given by Walk: why the envelope cannot be decoded; the other fields are then Zero but Stored
}

// Get implements Getter.
func (s *Store) Get(k Kind, id ID) ([]byte, error) {
	raw, err := get(s, k, id)
	if err == nil {
		s.keep(object{k, id}, raw)
	}
	return raw, wrap("get", k, id, err)
}

// Has tells whether an object is there. It does not tell whether it can be read: see Verify.
func (s *Store) Has(k Kind, id ID) (bool, error) {
	if err := k.check(); err != nil {
		return false, wrap("has", k, id, err)
	}
	ok, err := s.db.Has(appendKey(nil, k, id))
	return ok, wrap("has", k, id, err)
}

// Stat describes an object without reading it.
func (s *Store) Stat(k Kind, id ID) (Info, error) {
	n, err := nodeOf(s, k, id)
	if err != nil {
		return Info{}, wrap("stat", k, id, err)
	}
	info, err := s.info(k, n)
	return info, wrap("stat", k, id, err)
}

func (s *Store) info(k Kind, n node) (Info, error) {
	e, err := decodeEnvelope(k, n.env)
	if err != nil {
		return Info{}, &CorruptError{k, n.id, err}
	}
	info := Info{Size: e.length, Stored: int64(len(n.env)), Codec: e.codec, Index: e.index}
	if e.codec.isDelta() {
		bases, err := s.bases(k, n, e)
		if err != nil {
			return Info{}, err
		}
		if len(bases) > 0 {
			info.Base = bases[0].id
		}
	}
	return info, nil
}

// view implements source.
func (s *Store) view(k Kind, id ID, fn func(node) error) error {
	if err := k.check(); err != nil {
		return err
	}
	return translate(k, id, s.db.View(appendKey(make([]byte, 0, keyLen), k, id), func(val []byte) error {
		return fn(node{id: id, env: val})
	}))
}

// bases implements source: the objects whose ids begin with the base prefix of e and which may be its base.
func (s *Store) bases(k Kind, n node, e envelope) ([]node, error) {
	prefix := append([]byte{kv.PrefixObject, byte(k)}, e.base[:]...)
	var found []node
	err := s.db.Scan(kv.Range{Prefix: prefix}, func(key, val []byte) error {
		_, id, err := splitKey(key)
		if err != nil || id == n.id {
			return err
		}
		if head, err := decodeHead(val); err != nil || head.codec == CodecChunks || head.index >= e.index {
			return nil // cannot be it
		}
		if len(found) == maxBaseCandidates {
			return kv.ErrStop
		}
		found = append(found, node{id: id, env: append(make([]byte, 0, len(val)), val...)})
		return nil
	})
	return found, translate(k, n.id, err)
}

// translate turns errors of the store below into this package's.
func translate(k Kind, id ID, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kv.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, kv.ErrCorrupt):
		return &CorruptError{k, id, err}
	}
	return err
}

// wrap names operation and object, once; a *CorruptError names itself.
func wrap(op string, k Kind, id ID, err error) error {
	if err == nil {
		return nil
	}
	var c *CorruptError
	if errors.As(err, &c) && c.Kind == k && c.ID == id {
		return c
	}
	return fmt.Errorf("objstore: %s %s %s: %w", op, k, id.Short(), err)
}
