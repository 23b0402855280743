package objstore

import (
	"bytes"
	"errors"
	"fmt"
)

// A node is a stored object that has not been decoded.
type node struct {
	id   ID
	env  []byte
	base ID // of a pending delta; Zero: to be looked for
}

// A source is what objects are read from: a Store, or a transaction over one.
type source interface {
	// known gives an object that is in memory, verified and not to be changed; nil: it is not.
	known(k Kind, id ID) []byte
	// view calls fn with what is stored under k and id, which fn must not keep; or gives ErrNotFound.
	view(k Kind, id ID, fn func(node) error) error
	// bases gives the objects that may be the base of n, whose envelope is e: mostly one, and none when it is missing.
	// All of them have an index below e's.
	bases(k Kind, n node, e envelope) ([]node, error)
	// soleBase gives the one that bases would give; found is how many it would, and unless it is 1 there is no base.
	soleBase(k Kind, n node, e envelope) (base node, found int, err error)
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
	raw, list, err := fetch(s, k, id, nil, anySize)
	if list != nil {
		return join(s, id, *list)
	}
	return raw, err
}

const anySize = -1

// fetch reads and verifies an object, into dst[:0] if that has room. A chunked blob is given as its envelope, and none
// of its chunks is read. An object that has not size bytes is corrupt, if size is not anySize.
func fetch(s source, k Kind, id ID, dst []byte, size int64) (raw []byte, list *envelope, err error) {
	if raw := s.known(k, id); raw != nil && (size == anySize || size == int64(len(raw))) {
		return append(dst[:0], raw...), nil, nil
	}
	var n node
	var e envelope
	err = s.view(k, id, func(v node) (err error) {
		e, err = decodeEnvelope(k, v.env)
		switch {
		case err != nil:
		case size != anySize && e.length != size:
			err = errLength
		case e.codec.isDelta() || e.codec == CodecChunks:
			n = node{id: id, env: bytes.Clone(v.env), base: v.base}
			e, err = decodeHead(n.env)
		default:
			raw, err = whole(k, id, e, dst)
		}
		if err != nil {
			return &CorruptError{k, id, err}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case e.codec == CodecChunks:
		return nil, &e, nil
	case e.codec.isDelta():
		raw, err = resolve(s, k, n, e, dst)
	}
	return raw, nil, err
}

// whole gives what an envelope that depends on nothing holds, verified and never nil.
func whole(k Kind, id ID, e envelope, dst []byte) ([]byte, error) {
	raw, err := e.whole(dst[:0])
	if err != nil {
		return nil, err
	}
	if Sum(k, raw) != id {
		return nil, errHash
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}

// resolve reads and verifies a delta. The result is in dst[:0] when that has room.
func resolve(s source, k Kind, n node, e envelope, dst []byte) ([]byte, error) {
	chain, certain, err := chainOf(s, k, n, e)
	if err != nil {
		return nil, err
	}
	if certain {
		if raw, err := build(dst, chain); err == nil && Sum(k, raw) == n.id {
			return raw, nil
		}
	}
	// Something is wrong, or a prefix stands for several objects: each step verified, to choose or to name.
	budget := maxSearch
	return search(s, k, n, 0, &budget)
}

// A link is a node with its envelope.
type link struct {
	node
	e envelope
}

// chainOf gives n and its bases, n first. certain is false when one of them had several candidates: the chain then
// ends early.
func chainOf(s source, k Kind, n node, e envelope) (chain []link, certain bool, err error) {
	chain = append(make([]link, 0, MaxDepth+1), link{n, e})
	for e.codec.isDelta() {
		if len(chain) > MaxDepth {
			return nil, false, &CorruptError{k, chain[0].id, errDeep}
		}
		base, found, err := s.soleBase(k, n, e)
		if err != nil {
			return nil, false, part(k, chain[0].id, err)
		}
		switch {
		case found == 0:
			return nil, false, &CorruptError{k, chain[0].id, fmt.Errorf("%w: %x", errNoBase, e.base)}
		case found > 1:
			return chain, false, nil
		}
		n = base
		if e, err = decodeEnvelope(k, n.env); err != nil {
			return nil, false, &CorruptError{k, chain[0].id, &CorruptError{k, n.id, err}}
		}
		chain = append(chain, link{n, e})
	}
	return chain, true, nil
}

// build applies the deltas of a chain that ends in a whole object. Only the result is allocated, if dst has no room.
func build(dst []byte, chain []link) ([]byte, error) {
	last := len(chain) - 1
	from, to := borrow(), borrow()
	defer giveBack(from)
	defer giveBack(to)
	raw, err := chain[last].e.whole((*from)[:0])
	for i := last - 1; i >= 0 && err == nil; i-- {
		raw = deltaSource(raw, chain[i+1].id)
		*from = raw
		if i == 0 {
			raw, err = chain[0].e.apply(dst[:0], raw)
			break
		}
		raw, err = chain[i].e.apply((*to)[:0], raw)
		*from, *to = *to, *from
	}
	return raw, err
}

// search reads n, verifying every object on the way and trying every candidate for a base, as long as the budget of
// objects lasts.
func search(s source, k Kind, n node, depth int, budget *int) ([]byte, error) {
	if *budget--; depth > MaxDepth || *budget < 0 {
		return nil, &CorruptError{k, n.id, errDeep}
	}
	e, err := decodeEnvelope(k, n.env)
	if err != nil {
		return nil, &CorruptError{k, n.id, err}
	}
	if !e.codec.isDelta() {
		raw, err := whole(k, n.id, e, nil)
		if err != nil {
			return nil, &CorruptError{k, n.id, err}
		}
		return raw, nil
	}
	bases, err := s.bases(k, n, e)
	if err != nil {
		return nil, part(k, n.id, err)
	}
	cause := fmt.Errorf("%w: %x", errNoBase, e.base)
	for _, b := range bases {
		base, err := search(s, k, b, depth+1, budget)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				return nil, err
			}
			cause = err
			continue
		}
		raw, err := e.apply(nil, deltaSource(base, b.id))
		if err == nil && Sum(k, raw) == n.id {
			return raw, nil
		}
		if cause = err; err == nil {
			cause = errHash
		}
	}
	return nil, &CorruptError{k, n.id, cause}
}

// part turns the error of a part of an object into one of the object: an absent part is damage, not absence.
func part(k Kind, id ID, err error) error {
	if errors.Is(err, ErrCorrupt) {
		return &CorruptError{k, id, err}
	}
	return err
}

// join reads a chunked blob as a whole.
func join(s source, id ID, e envelope) ([]byte, error) {
	if e.length > MaxObject {
		return nil, ErrTooLarge
	}
	r, err := newReader(s, id, e)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 0, e.length)
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
func getChunk(s source, whole ID, c chunk, dst []byte) ([]byte, error) {
	raw, list, err := fetch(s, Blob, c.id, dst, int64(c.size))
	switch {
	case errors.Is(err, ErrNotFound):
		err = &CorruptError{Blob, whole, fmt.Errorf("%w: %s", errNoChunk, c.id.Short())}
	case list != nil:
		err = &CorruptError{Blob, whole, &CorruptError{Blob, c.id, errEnvChunks}}
	default:
		err = part(Blob, whole, err)
	}
	return raw, err
}

// nodeOf gives what is stored under k and id, to keep.
func nodeOf(s source, k Kind, id ID) (n node, err error) {
	err = s.view(k, id, func(v node) error {
		n = node{id: id, env: bytes.Clone(v.env), base: v.base}
		return nil
	})
	return n, err
}

// headOf gives the envelope under k and id without its body, and the node without its envelope.
func headOf(s source, k Kind, id ID) (n node, e envelope, err error) {
	err = s.view(k, id, func(v node) (err error) {
		n = node{id: id, base: v.base}
		if e, err = decodeHead(v.env); err != nil {
			return &CorruptError{k, id, err}
		}
		e.body = nil
		return nil
	})
	return n, e, err
}
