package objstore

import (
	"encoding/binary"
	"fmt"
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

// collides is ErrCollision if under the key of id another object lies.
func collides(have, id ID) error {
	if have != id {
		return fmt.Errorf("%w: %s", ErrCollision, have)
	}
	return nil
}

// encode gives the envelope of an object: a delta against the place that follows prev in its line, where that pays,
// otherwise the whole. It takes no lock while it compresses.
func encode(s source, k Kind, id ID, raw []byte, prev ID) (e entry, err error) {
	ok, at := false, quick
	if !prev.IsZero() && prev != id && len(raw) > 0 {
		e, ok, err = encodeAfter(s, k, id, raw, prev)
		at = careful
	}
	if err == nil && !ok {
		e, err = encodeWhole(raw, at)
	}
	e.id = id
	return e, err
}

// encodeAfter is encode for an object that may follow prev in its line; ok is false when it may not.
func encodeAfter(s source, k Kind, id ID, raw []byte, prev ID) (out entry, ok bool, err error) {
	p, ok := next(s, k, prev.name())
	if !ok || p.base.key == id.Key() {
		return out, false, nil
	}
	buf := borrow()
	defer giveBack(buf)
	got, err := fetch(s, k, p.base, (*buf)[:0], anySize)
	if err != nil || got.list != nil {
		return out, false, nil // the hint is of no use; what is wrong with it shows where it is read
	}
	*buf = deltaSource(got.raw, got.id)
	return encodeAgainst(*buf, raw, p)
}

// encodeAgainst gives what is to be stored for raw, which goes to place p of its line and may be a delta against source;
// ok is false when the whole is the better choice and has not been made.
func encodeAgainst(source, raw []byte, p place) (out entry, ok bool, err error) {
	deltaBuf, packedBuf := borrow(), borrow()
	defer giveBack(deltaBuf)
	defer giveBack(packedBuf)
	*deltaBuf = encodeDelta((*deltaBuf)[:0], source, len(source)-idLen, raw)
	if len(*deltaBuf) >= len(raw) {
		return out, false, nil
	}
	e := envelope{codec: CodecDelta, length: int64(len(raw)), index: p.index, body: *deltaBuf}
	copy(e.prefix(), p.base.key[:])
	if len(e.body) > deltaPlain {
		var at int
		if *packedBuf, at, err = compress((*packedBuf)[:0], e.body, careful); err != nil {
			return out, false, err
		}
		var size [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(size[:], uint64(len(e.body)))
		if packed := (*packedBuf)[at-n:]; len(packed) < len(e.body) { // a frame's header is longer than the length
			copy(packed, size[:n])
			e.codec, e.body = CodecDeltaZstd, packed
		}
	}
	if len(*deltaBuf) > len(raw)/deltaLikely {
		whole, err := encodeWhole(raw, careful)
		if err != nil || !pays(e, len(whole.env)) {
			return whole, true, err
		}
	}
	return entry{env: seal(e), index: p.index, base: p.base.key}, true, nil
}

// pays tells whether a delta is to be taken where the envelope of the whole has so many bytes.
func pays(delta envelope, whole int) bool {
	if whole <= deltaSmall {
		return headLen(delta)+len(delta.body) < whole
	}
	return len(delta.body)*deltaShare <= whole
}

// encodeWhole gives the object compressed, or as it is where that does not help.
func encodeWhole(raw []byte, speed level) (entry, error) {
	e := envelope{codec: CodecRaw, length: int64(len(raw)), body: raw}
	if len(raw) == 0 {
		return entry{env: seal(e)}, nil
	}
	buf := borrow()
	defer giveBack(buf)
	var at int
	var err error
	if *buf, at, err = compress((*buf)[:0], raw, speed); err != nil {
		return entry{}, err
	}
	if packed := (*buf)[at:]; len(packed) < len(raw) {
		e.codec, e.body = CodecZstd, packed
	}
	return entry{env: seal(e)}, nil
}

// seal gives the envelope's bytes in a slice of their own, without spare room.
func seal(e envelope) []byte {
	return appendEnvelope(make([]byte, 0, headLen(e)+len(e.body)), e)
}

func headLen(e envelope) int { return len(appendHead(make([]byte, 0, 32), e)) }
