package objstore

import (
	"context"
	"fmt"

	"rewind/internal/kv"
)

// Walk calls fn for every object, ascending by kind byte and id, until fn gives an error, which Walk returns. Objects
// whose envelope is damaged are given too (Info.Damage). No lock is held during fn, which may write: what it adds may or
// may not be seen.
func (s *Store) Walk(ctx context.Context, fn func(Kind, ID, Info) error) error {
	for from := []byte(nil); ; {
		page, next, err := s.page(from)
		if err != nil {
			return fmt.Errorf("objstore: walk: %w", err)
		}
		for _, o := range page {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("objstore: walk: %w", err)
			}
			info := o.info
			if o.delta {
				bases, err := s.bases(o.kind, node{id: o.id}, o.head)
				if err != nil {
					info = Info{Stored: info.Stored, Damage: err}
				} else if len(bases) > 0 {
					info.Base = bases[0].id
				}
			}
			if err := fn(o.kind, o.id, info); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		from = next
	}
}

// A stored object as a page of a walk holds it; head has no body.
type paged struct {
	kind  Kind
	id    ID
	info  Info
	head  envelope
	delta bool
}

// page gives up to pageObjects objects from the key from on, and the key to go on from, nil at the end.
func (s *Store) page(from []byte) (page []paged, next []byte, err error) {
	r := kv.Range{Prefix: []byte{kv.PrefixObject}, From: from}
	err = s.db.Scan(r, func(key, val []byte) error {
		if len(page) == pageObjects {
			next = append([]byte(nil), key...)
			return kv.ErrStop
		}
		k, id, err := splitKey(key)
		if err != nil {
			return err
		}
		o := paged{kind: k, id: id, info: Info{Stored: int64(len(val))}}
		if e, err := decodeEnvelope(k, val); err != nil {
			o.info.Damage = &CorruptError{k, id, err}
		} else {
			o.info.Size, o.info.Codec, o.info.Index = e.length, e.codec, e.index
			o.delta = e.codec.isDelta()
			e.body = nil
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
		return wrap("verify", k, id, err)
	}
	r, err := open(onDisk{s}, id)
	if err != nil {
		return wrap("verify", k, id, err)
	}
	defer r.Close()
	for {
		if err := ctx.Err(); err != nil {
			return wrap("verify", k, id, err)
		}
		if c, err := r.nextChunk(); c == nil {
			return wrap("verify", k, id, err)
		}
	}
}

// Deps gives the objects of the same kind that must stay for id to stay readable: the base of a delta (every candidate,
// should its prefix stand for several), the chunks of a chunked blob. Their own dependencies are not included.
func (s *Store) Deps(k Kind, id ID) ([]ID, error) {
	n, err := nodeOf(s, k, id)
	if err != nil {
		return nil, wrap("dependencies", k, id, err)
	}
	e, err := decodeEnvelope(k, n.env)
	if err != nil {
		return nil, &CorruptError{k, id, err}
	}
	var deps []ID
	switch {
	case e.codec == CodecChunks:
		err = readChunks(e.body, e.length, func(c chunk) { deps = append(deps, c.id) })
	case e.codec.isDelta():
		var bases []node
		if bases, err = s.bases(k, n, e); err == nil && len(bases) == 0 {
			err = &CorruptError{k, id, fmt.Errorf("%w: %x", errNoBase, e.base)}
		}
		for _, b := range bases {
			deps = append(deps, b.id)
		}
	}
	return deps, wrap("dependencies", k, id, err)
}

// A Swept says what Sweep removed, or would have.
type Swept struct {
	Objects int
	Bytes   int64 // of envelopes; space is given back by the store's compaction
}

// Sweep removes every object that live denies, in bounded batches; it may be stopped anywhere and begun again. live must
// accept whatever an accepted object depends on (Deps, transitively), and must have been made after the last commit:
// Sweep is ErrOpenTx while a transaction is open, and Begin waits while it runs. With dryRun nothing is removed.
func (s *Store) Sweep(ctx context.Context, live func(Kind, ID) bool, dryRun bool) (Swept, error) {
	var swept Swept
	if !dryRun {
		if !s.gate.TryLock() {
			return swept, fmt.Errorf("objstore: sweep: %w", ErrOpenTx)
		}
		defer s.gate.Unlock()
	}
	for from := []byte(nil); ; {
		page, next, err := s.page(from)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return swept, fmt.Errorf("objstore: sweep: %w", err)
		}
		dead := page[:0]
		for _, o := range page {
			if !live(o.kind, o.id) {
				dead = append(dead, o)
			}
		}
		if !dryRun {
			if err := s.remove(ctx, dead); err != nil {
				return swept, fmt.Errorf("objstore: sweep: %w", err)
			}
		}
		for _, o := range dead {
			swept.Objects++
			swept.Bytes += o.info.Stored
		}
		if next == nil {
			return swept, nil
		}
		from = next
	}
}

func (s *Store) remove(ctx context.Context, dead []paged) error {
	if len(dead) == 0 {
		return nil
	}
	s.writes.Add(1)
	s.recent.forget()
	b := s.db.NewBatch()
	defer b.Close()
	for _, o := range dead {
		if err := b.Delete(appendKey(nil, o.kind, o.id)); err != nil {
			return err
		}
	}
	return b.Commit(ctx, kv.Written)
}
