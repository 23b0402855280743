package objstore

import (
	"bytes"
	"errors"
	"fmt"

	"rewind/objstore/object"
)

// A node is a stored object that has not been decoded.
type node struct {
	name
	env  []byte
	base Key // of a pending delta; zero: to be looked for
}

// A source is what objects are read from: a Store, or a transaction over one.
type source interface {
	// known gives an object that is in memory, verified and not to be changed, and its whole id; nil: it is not.
	known(k Kind, n name) ([]byte, ID)
	// view calls fn with what is stored under the name, which fn must not keep; or gives ErrNotFound. What is known of
	// the node's name is what the caller, or the key in the store, knows.
	view(k Kind, n name, fn func(node) error) error
	// bases gives the objects that may be the base of n, whose envelope is e: mostly one, and none when it is missing.
	// All of them have an index below e's.
	bases(k Kind, n node, e object.Envelope) ([]node, error)
	// uniqueBase gives the one that bases would give; found is how many it would, and unless it is 1 there is no base.
	uniqueBase(k Kind, n node, e object.Envelope) (base node, found int, err error)
	// rewritten gives the tombstone of an object that has other bytes than its id says.
	rewritten(o Object) (Tombstone, bool)
	// learn is told the whole id of the base of an object, for the next call of uniqueBase.
	learn(k Kind, of Key, base name)
}

var (
	errLength  = errors.New("length differs from what it should be")
	errHash    = errors.New("content does not match the id")
	errNoBase  = errors.New("base is missing")
	errDeep    = errors.New("too many deltas")
	errNoChunk = errors.New("chunk is missing")
)

// get reads and verifies an object.
func get(s source, k Kind, id ID) ([]byte, error) {
	got, err := fetch(s, k, nameOf(id), nil, anySize)
	if got.list != nil {
		return join(s, nameOf(id), *got.list)
	}
	return got.raw, err
}

const anySize = -1

// A fetched object is verified, and its id whole; of a chunked blob it is what was known before.
type fetched struct {
	raw  []byte
	id   ID
	list *object.Envelope // of a chunked blob, instead of raw
}

// fetch reads and verifies an object, into dst[:0] if that has room. A chunked blob is given as its envelope, and none
// of its chunks is read. An object that has not size bytes is corrupt, if size is not anySize.
func fetch(s source, k Kind, as name, dst []byte, size int64) (got fetched, err error) {
	if raw, id := s.known(k, as); raw != nil && (size == anySize || size == int64(len(raw))) {
		return fetched{raw: append(dst[:0], raw...), id: id}, nil
	}
	var n node
	var e object.Envelope
	err = s.view(k, as, func(v node) (err error) {
		e, err = object.Decode(k, v.env)
		switch {
		case err != nil:
		case size != anySize && e.Length != size:
			err = errLength
		case e.Codec.IsDelta() || e.Codec == CodecChunks:
			n = node{name: v.name, env: bytes.Clone(v.env), base: v.base}
			e.Body = n.env[len(n.env)-len(e.Body):]
		default:
			got, err = whole(s, k, v.name, e, dst)
		}
		return damage(k, as.key, err)
	})
	switch {
	case err != nil:
		return fetched{}, err
	case e.Codec == CodecChunks:
		return fetched{id: n.id, list: &e}, nil
	case e.Codec.IsDelta():
		return resolve(s, k, n, e, dst)
	}
	return got, nil
}

// damage says of which object an error of its bytes is. That there is another object is none.
func damage(k Kind, key Key, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return &CorruptError{k, key, err}
}

// whole gives what an envelope that depends on nothing holds, verified.
func whole(s source, k Kind, n name, e object.Envelope, dst []byte) (fetched, error) {
	raw, err := e.Whole(dst[:0])
	if err != nil {
		return fetched{}, err
	}
	return verified(s, k, n, raw)
}

// verified gives raw, never nil, if it is the object of that name, or what that was rewritten to.
func verified(s source, k Kind, n name, raw []byte) (fetched, error) {
	sum := Sum(k, raw)
	if err := n.check(sum); err != nil {
		g, ok := s.rewritten(Object{k, n.key})
		if !ok || g.now != sum {
			return fetched{}, err
		}
		if err := n.check(g.id); err != nil {
			return fetched{}, err
		}
		sum = g.id
	}
	if raw == nil {
		raw = []byte{}
	}
	return fetched{raw: raw, id: sum}, nil
}

// resolve reads and verifies a delta. The result is in dst[:0] when that has room.
func resolve(s source, k Kind, n node, e object.Envelope, dst []byte) (fetched, error) {
	path, certain, err := pathOf(s, k, n, e)
	if err != nil {
		return fetched{}, err
	}
	if certain {
		if raw, learned, err := build(dst, k, path); err == nil {
			if got, err := verified(s, k, n.name, raw); err == nil {
				for _, i := range learned {
					s.learn(k, path[i-1].key, path[i].name)
				}
				return got, nil
			}
		}
	}
	// Something is wrong, or a prefix stands for several objects: each step verified, to choose or to name.
	budget := maxSearch
	return search(s, k, n, 0, &budget)
}

// A link is a node with its envelope.
type link struct {
	node
	e object.Envelope
}

// pathOf gives n and its bases, n first. certain is false when one of them had several candidates: the path then
// ends early.
func pathOf(s source, k Kind, n node, e object.Envelope) (path []link, certain bool, err error) {
	path = append(make([]link, 0, object.MaxDepth+1), link{n, e})
	for e.Codec.IsDelta() {
		if len(path) > object.MaxDepth {
			return nil, false, &CorruptError{k, path[0].key, errDeep}
		}
		base, found, err := s.uniqueBase(k, n, e)
		if err != nil {
			return nil, false, part(k, path[0].key, err)
		}
		switch {
		case found == 0:
			return nil, false, &CorruptError{k, path[0].key, fmt.Errorf("%w: %x", errNoBase, e.Prefix[:])}
		case found > 1:
			return path, false, nil
		}
		n = base
		if e, err = object.Decode(k, n.env); err != nil {
			return nil, false, &CorruptError{k, path[0].key, &CorruptError{k, n.key, err}}
		}
		path = append(path, link{n, e})
	}
	return path, true, nil
}

// build applies the deltas of a path that ends in a whole object. Only the result is allocated, if dst has no room.
// learned are the links whose ids it had to find out.
func build(dst []byte, k Kind, path []link) (raw []byte, learned []int, err error) {
	last := len(path) - 1
	from, to := object.BorrowBuffer(), object.BorrowBuffer()
	defer object.ReturnBuffer(from)
	defer object.ReturnBuffer(to)
	raw, err = path[last].e.Whole((*from)[:0])
	for i := last - 1; i >= 0 && err == nil; i-- {
		*from = raw
		base := object.Base{Kind: k, Raw: from, ID: path[i+1].id}
		if i == 0 {
			raw, err = path[0].e.Apply(dst[:0], &base)
		} else {
			raw, err = path[i].e.Apply((*to)[:0], &base)
			*from, *to = *to, *from
		}
		if base.ID != path[i+1].id {
			path[i+1].id, learned = base.ID, append(learned, i+1)
		}
	}
	return raw, learned, err
}

// search reads n, verifying every object on the way and trying every candidate for a base, as long as the budget of
// objects lasts.
func search(s source, k Kind, n node, depth int, budget *int) (fetched, error) {
	if *budget--; depth > object.MaxDepth || *budget < 0 {
		return fetched{}, &CorruptError{k, n.key, errDeep}
	}
	e, err := object.Decode(k, n.env)
	if err != nil {
		return fetched{}, &CorruptError{k, n.key, err}
	}
	if !e.Codec.IsDelta() {
		got, err := whole(s, k, n.name, e, nil)
		return got, damage(k, n.key, err)
	}
	bases, err := s.bases(k, n, e)
	if err != nil {
		return fetched{}, part(k, n.key, err)
	}
	cause := fmt.Errorf("%w: %x", errNoBase, e.Prefix[:])
	for _, b := range bases {
		base, err := search(s, k, b, depth+1, budget)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNotFound) {
				return fetched{}, err
			}
			cause = &CorruptError{k, b.key, err}
			continue
		}
		raw, err := e.Apply(nil, &object.Base{Kind: k, Raw: &base.raw, ID: base.id})
		if err == nil {
			var got fetched
			if got, err = verified(s, k, n.name, raw); err == nil {
				return got, nil
			}
		}
		cause = err
	}
	return fetched{}, damage(k, n.key, cause)
}

// part turns the error of a part of an object into one of the object: an absent part is damage, not absence.
func part(k Kind, key Key, err error) error {
	if errors.Is(err, ErrCorrupt) {
		return &CorruptError{k, key, err}
	}
	return err
}

// join reads a chunked blob as a whole.
func join(s source, n name, e object.Envelope) ([]byte, error) {
	if e.Length > MaxObject {
		return nil, ErrTooLarge
	}
	r, err := newReader(s, n, e)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 0, e.Length)
	for {
		c, err := r.nextChunk()
		if err != nil {
			return nil, err
		}
		if c == nil {
			return raw, r.Close()
		}
		raw = append(raw, c...)
	}
}

// getChunk reads a chunk of the blob whole, into dst if that has room. A chunk is never a list of chunks itself.
func getChunk(s source, whole Key, c object.Chunk, dst []byte) ([]byte, error) {
	got, err := fetch(s, Blob, nameOf(c.ID), dst, int64(c.Size))
	var gone *GoneError
	switch {
	case errors.As(err, &gone):
		err = &GoneError{Blob, whole, gone.Tombstone}
	case errors.Is(err, ErrNotFound):
		err = &CorruptError{Blob, whole, fmt.Errorf("%w: %s", errNoChunk, c.ID.Short())}
	case got.list != nil:
		err = &CorruptError{Blob, whole, &CorruptError{Blob, c.ID.Key(), object.ErrChunks}}
	default:
		err = part(Blob, whole, err)
	}
	return got.raw, err
}

// nodeOf gives what is stored under the name, to keep.
func nodeOf(s source, k Kind, as name) (n node, err error) {
	err = s.view(k, as, func(v node) error {
		n = node{name: v.name, env: bytes.Clone(v.env), base: v.base}
		return nil
	})
	return n, err
}

// headOf gives the envelope under the name without its body, and the node without its envelope.
func headOf(s source, k Kind, as name) (n node, e object.Envelope, err error) {
	err = s.view(k, as, func(v node) (err error) {
		n = node{name: v.name, base: v.base}
		if e, err = object.DecodeHead(v.env); err != nil {
			return &CorruptError{k, as.key, err}
		}
		e.Body = nil
		return nil
	})
	return n, e, err
}
