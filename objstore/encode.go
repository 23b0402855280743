package objstore

import (
	"fmt"

	"rewind/objstore/object"
)

// An entry is an object that is ready to be written.
type entry struct {
	id    ID
	env   []byte
	index int
	base  Key    // zero: not a delta
	raw   []byte // the object, not to be changed; nil: not kept
}

func (e entry) size() int { return len(e.env) + entryOverhead }

// collides is errCollision if under the key of id another object lies.
func collides(have, id ID) error {
	if have != id {
		return fmt.Errorf("%w: %s", errCollision, have)
	}
	return nil
}

// encode gives the envelope of an object: a delta at the position that follows prev in its delta chain, where that
// pays, otherwise the whole. It takes no lock while it compresses.
func encode(s source, k Kind, id ID, raw []byte, prev ID) (e entry, err error) {
	ok, at := false, object.Quick
	if !prev.IsZero() && prev != id && len(raw) > 0 {
		e, ok, err = encodeAfter(s, k, id, raw, prev)
		at = object.Careful
	}
	if err == nil && !ok {
		e.env, err = object.EncodeWhole(raw, at)
	}
	e.id = id
	return e, err
}

// encodeAfter is encode for an object that may follow prev in its delta chain; ok is false when it may not.
func encodeAfter(s source, k Kind, id ID, raw []byte, prev ID) (out entry, ok bool, err error) {
	p, ok := nextPosition(s, k, nameOf(prev))
	if !ok || p.base.key == id.Key() {
		return out, false, nil
	}
	buf := object.BorrowBuffer()
	defer object.ReturnBuffer(buf)
	got, err := fetch(s, k, p.base, (*buf)[:0], anySize)
	if err != nil || got.list != nil {
		return out, false, nil // the hint is of no use; what is wrong with it shows where it is read
	}
	*buf = object.DeltaSource(got.raw, got.id)
	env, delta, err := object.EncodeDelta(*buf, raw, p.base.key, p.index)
	if delta {
		out.index, out.base = p.index, p.base.key
	}
	out.env = env
	return out, env != nil, err
}
