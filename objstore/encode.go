package objstore

// An entry is an object that is ready to be written.
type entry struct {
	env   []byte
	index int
	base  ID // Zero: not a delta
}

func (e entry) size() int { return len(e.env) + entryOverhead }

// encode gives the envelope of an object: a delta against the place that follows prev in its line, where that pays,
// otherwise the whole. It takes no lock while it compresses.
func encode(s source, k Kind, id ID, raw []byte, prev ID) (entry, error) {
	if prev.IsZero() || prev == id || len(raw) == 0 {
		return encodeWhole(raw)
	}
	p, ok := next(s, k, prev)
	if !ok || p.base == id {
		return encodeWhole(raw)
	}
	buf := borrow()
	defer giveBack(buf)
	base, list, err := fetch(s, k, p.base, (*buf)[:0], anySize)
	if err != nil || list != nil {
		return encodeWhole(raw) // the hint is of no use; what is wrong with it shows where it is read
	}
	*buf = base
	e, ok, err := encodeAgainst(base, raw, p)
	if err != nil || ok {
		return e, err
	}
	return encodeWhole(raw)
}

// encodeAgainst gives the delta of raw against base; ok is false when the whole is the better choice.
func encodeAgainst(base, raw []byte, p place) (out entry, ok bool, err error) {
	deltaBuf, packedBuf := borrow(), borrow()
	defer giveBack(deltaBuf)
	defer giveBack(packedBuf)
	*deltaBuf = encodeDelta((*deltaBuf)[:0], base, raw)
	if len(*deltaBuf) >= len(raw) {
		return out, false, nil
	}
	e := envelope{codec: CodecDelta, length: int64(len(raw)), index: p.index, body: *deltaBuf}
	copy(e.base[:], p.base[:])
	if len(e.body) > deltaPlain {
		if *packedBuf, err = compress((*packedBuf)[:0], e.body); err != nil {
			return out, false, err
		}
		if len(*packedBuf) < len(e.body) {
			e.codec, e.body = CodecDeltaZstd, *packedBuf
		}
	}
	if len(e.body) > len(raw)/deltaTiny {
		whole, err := encodeWhole(raw)
		if err != nil || len(e.body)*deltaShare > len(whole.env) {
			return whole, true, err
		}
	}
	return entry{env: seal(e), index: p.index, base: p.base}, true, nil
}

// encodeWhole gives the object compressed, or as it is where that does not help.
func encodeWhole(raw []byte) (entry, error) {
	e := envelope{codec: CodecRaw, length: int64(len(raw)), body: raw}
	if len(raw) == 0 {
		return entry{env: seal(e)}, nil
	}
	buf := borrow()
	defer giveBack(buf)
	packed, err := compress((*buf)[:0], raw)
	if err != nil {
		return entry{}, err
	}
	*buf = packed
	if len(packed) < len(raw) {
		e.codec, e.body = CodecZstd, packed
	}
	return entry{env: seal(e)}, nil
}

// seal gives the envelope's bytes in a slice of their own, without spare room.
func seal(e envelope) []byte {
	return appendEnvelope(make([]byte, 0, len(appendHead(make([]byte, 0, 32), e))+len(e.body)), e)
}
