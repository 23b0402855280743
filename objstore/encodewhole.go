package objstore

import "encoding/binary"

// EncodeDelta gives the envelope of raw at place index of its delta chain: a delta against source (see DeltaSource), whose base has the key, or the whole where that is
// the better choice. nil: the whole is, and has not been made.
func EncodeDelta(source, raw []byte, base Key, index int) (env []byte, delta bool, err error) {
	deltaBuf, packedBuf := borrow(), borrow()
	defer giveBack(deltaBuf)
	defer giveBack(packedBuf)
	*deltaBuf = buildDelta((*deltaBuf)[:0], source, len(source)-idLen, raw)
	if len(*deltaBuf) >= len(raw) {
		return nil, false, nil
	}
	e := envelope{codec: CodecDelta, length: int64(len(raw)), index: index, body: *deltaBuf}
	copy(e.prefix(), base[:])
	if len(e.body) > deltaPlain {
		var at int
		if *packedBuf, at, err = compress((*packedBuf)[:0], e.body, careful); err != nil {
			return nil, false, err
		}
		var size [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(size[:], uint64(len(e.body)))
		if packed := (*packedBuf)[at-n:]; len(packed) < len(e.body) { // a frame's header is longer than the length
			copy(packed, size[:n])
			e.codec, e.body = CodecDeltaZstd, packed
		}
	}
	if len(*deltaBuf) > len(raw)/deltaLikely {
		whole, err := EncodeWhole(raw, careful)
		if err != nil || !pays(e, len(whole)) {
			return whole, false, err
		}
	}
	return seal(e), true, nil
}

// pays tells whether a delta is to be taken where the envelope of the whole has so many bytes.
func pays(delta envelope, whole int) bool {
	if whole <= deltaSmall {
		return headLen(delta)+len(delta.body) < whole
	}
	return len(delta.body)*deltaShare <= whole
}

// EncodeWhole gives the envelope of an object that needs no other: compressed, or as it is where that does not help.
func EncodeWhole(raw []byte, speed level) ([]byte, error) {
	e := envelope{codec: CodecRaw, length: int64(len(raw)), body: raw}
	if len(raw) == 0 {
		return seal(e), nil
	}
	buf := borrow()
	defer giveBack(buf)
	var at int
	var err error
	if *buf, at, err = compress((*buf)[:0], raw, speed); err != nil {
		return nil, err
	}
	if packed := (*buf)[at:]; len(packed) < len(raw) {
		e.codec, e.body = CodecZstd, packed
	}
	return seal(e), nil
}

// seal gives the envelope's bytes in a slice of their own, without spare room.
func seal(e envelope) []byte {
	return appendEnvelope(make([]byte, 0, headLen(e)+len(e.body)), e)
}

func headLen(e envelope) int { return len(appendHead(make([]byte, 0, 32), e)) }
