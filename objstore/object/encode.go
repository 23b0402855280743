package object

import "encoding/binary"

// EncodeDelta gives the envelope of raw at position index of its delta chain: a delta against source (see DeltaSource),
// whose base has the key, or the whole where that is the better choice. nil: the whole is, and has not been made.
func EncodeDelta(source, raw []byte, base Key, index int) (env []byte, delta bool, err error) {
	deltaBuf, packedBuf := BorrowBuffer(), BorrowBuffer()
	defer ReturnBuffer(deltaBuf)
	defer ReturnBuffer(packedBuf)
	*deltaBuf = buildDelta((*deltaBuf)[:0], source, len(source)-IDLen, raw)
	if len(*deltaBuf) >= len(raw) {
		return nil, false, nil
	}
	e := Envelope{Codec: CodecDelta, Length: int64(len(raw)), Index: index, Body: *deltaBuf}
	copy(e.Prefix[:], base[:])
	if len(e.Body) > deltaPlain {
		var at int
		if *packedBuf, at, err = compress((*packedBuf)[:0], e.Body, Careful); err != nil {
			return nil, false, err
		}
		var size [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(size[:], uint64(len(e.Body)))
		if packed := (*packedBuf)[at-n:]; len(packed) < len(e.Body) { // a frame's header is longer than the length
			copy(packed, size[:n])
			e.Codec, e.Body = CodecDeltaZstd, packed
		}
	}
	if len(*deltaBuf) > len(raw)/deltaLikely {
		whole, err := EncodeWhole(raw, Careful)
		if err != nil || !pays(e, len(whole)) {
			return whole, false, err
		}
	}
	return Seal(e), true, nil
}

// pays tells whether a delta is to be taken where the envelope of the whole has so many bytes.
func pays(delta Envelope, whole int) bool {
	if whole <= deltaSmall {
		return headLen(delta)+len(delta.Body) < whole
	}
	return len(delta.Body)*deltaShare <= whole
}

// EncodeWhole gives the envelope of an object that needs no other: compressed, or as it is where that does not help.
func EncodeWhole(raw []byte, speed Level) ([]byte, error) {
	e := Envelope{Codec: CodecRaw, Length: int64(len(raw)), Body: raw}
	if len(raw) == 0 {
		return Seal(e), nil
	}
	buf := BorrowBuffer()
	defer ReturnBuffer(buf)
	var at int
	var err error
	if *buf, at, err = compress((*buf)[:0], raw, speed); err != nil {
		return nil, err
	}
	if packed := (*buf)[at:]; len(packed) < len(raw) {
		e.Codec, e.Body = CodecZstd, packed
	}
	return Seal(e), nil
}

// Seal gives the envelope's bytes in a slice of their own, without spare room.
func Seal(e Envelope) []byte {
	return appendEnvelope(make([]byte, 0, headLen(e)+len(e.Body)), e)
}

func headLen(e Envelope) int { return len(appendHead(make([]byte, 0, 32), e)) }
