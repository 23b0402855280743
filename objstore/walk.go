package objstore

import (
	"context"
	"fmt"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// Walk calls fn for every object, ascending by kind byte and key, until fn gives an error, which Walk returns. Objects
// whose envelope is damaged are given too (Info.Damage).
// No content is read, nor the id known: see IDOf. No lock is held during fn, which may write: what it adds may or may
// not be seen.
func (s *Store) Walk(ctx context.Context, fn func(Kind, Key, Info) error) error {
	for from := []byte{kv.PrefixObject}; from != nil; {
		page, next, err := s.page(from)
		if err != nil {
			return fmt.Errorf("walk: %w", err)
		}
		for _, o := range page {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("walk: %w", err)
			}
			info := o.info
			if o.delta {
				bases, err := s.bases(o.kind, node{name: name{key: o.key}}, o.head)
				if err != nil {
					info = Info{Stored: info.Stored, Damage: err}
				} else if len(bases) > 0 {
					info.Base = bases[0].key
				}
			}
			if err := fn(o.kind, o.key, info); err != nil {
				return err
			}
		}
		from = next
	}
	return nil
}

// A stored object as a page of a walk holds it; head has no body.
type paged struct {
	kind  Kind
	key   Key
	info  Info
	head  object.Envelope
	delta bool
}

// page gives up to pageObjects objects from the key from on, and the key to go on from, nil at the end.
func (s *Store) page(from []byte) (page []paged, next []byte, err error) {
	r := kv.Range{Prefix: from[:1:1], From: from}
	err = s.db.Scan(r, func(key, val []byte) error {
		if len(page) == pageObjects {
			next = append([]byte(nil), key...)
			return kv.ErrStop
		}
		k, as, err := splitKey(key)
		if err != nil {
			return err
		}
		o := paged{kind: k, key: as, info: Info{Stored: int64(len(val))}}
		if e, err := object.Decode(k, val); err != nil {
			o.info.Damage = &CorruptError{k, as, err}
		} else {
			o.info.Size, o.info.Codec, o.info.Index = e.Length, e.Codec, e.Index
			o.delta = e.Codec.IsDelta()
			e.Body = nil
			o.head = e
		}
		page = append(page, o)
		return nil
	})
	return page, next, err
}

// Verify reads an object to its end. The errors are those of Get, but for ErrTooLarge.
func (s *Store) Verify(ctx context.Context, k Kind, id ID) error {
	if k != Blob {
		_, err := get(onDisk{s}, k, id)
		return wrap("verify", k, id.Key(), err)
	}
	r, err := open(onDisk{s}, id)
	if err != nil {
		return wrap("verify", k, id.Key(), err)
	}
	defer r.Close()
	for {
		if err := ctx.Err(); err != nil {
			return wrap("verify", k, id.Key(), err)
		}
		if c, err := r.nextChunk(); c == nil {
			return wrap("verify", k, id.Key(), err)
		}
	}
}

// Deps returns the objects of the same kind that the object under key needs to be readable. They are the base of a
// delta (every candidate, if its prefix stands for several), or the chunks of a chunked blob. Their own dependencies
// are not included. No content is read.
func (s *Store) Deps(k Kind, key Key) ([]Key, error) {
	n, err := nodeOf(s, k, name{key: key})
	if err != nil {
		return nil, wrap("dependencies", k, key, err)
	}
	e, err := object.Decode(k, n.env)
	if err != nil {
		return nil, &CorruptError{k, key, err}
	}
	var deps []Key
	switch {
	case e.Codec == CodecChunks:
		err = object.ReadChunks(e.Body, e.Length, func(c object.Chunk) { deps = append(deps, c.ID.Key()) })
	case e.Codec.IsDelta():
		var bases []node
		if bases, err = s.bases(k, n, e); err == nil && len(bases) == 0 {
			err = &CorruptError{k, key, fmt.Errorf("%w: %x", errNoBase, e.Prefix[:])}
		}
		for _, b := range bases {
			deps = append(deps, b.key)
		}
	}
	return deps, wrap("dependencies", k, key, err)
}
