package objstore

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Codec says how an envelope holds its object. Numbers are never reused.
type Codec byte

// The codecs.
const (
	CodecRaw       Codec = 0
	CodecZstd      Codec = 1
	CodecDelta     Codec = 2
	CodecDeltaZstd Codec = 3
	CodecChunks    Codec = 4
)

// String gives the codec's word.
func (c Codec) String() string {
	switch c {
	case CodecRaw:
		return "raw"
	case CodecZstd:
		return "zstd"
	case CodecDelta:
		return "delta"
	case CodecDeltaZstd:
		return "delta+zstd"
	case CodecChunks:
		return "chunks"
	}
	return fmt.Sprintf("codec(%d)", byte(c))
}

func (c Codec) isDelta() bool { return c == CodecDelta || c == CodecDeltaZstd }

var (
	errEnvLength = errors.New("envelope: length differs from the body's")
	errEnvIndex  = errors.New("envelope: index out of range")
	errEnvChunks = errors.New("envelope: only a blob has chunks")
	errEnvDelta  = errors.New("envelope: delta is not shorter than the object")
)

// basePrefix is the number of bytes of its id that name a base.
const basePrefix = 8

// An envelope is what is stored under an object's key (DESIGN.md 5.3).
type envelope struct {
	codec  Codec
	length int64            // of the object
	base   [basePrefix]byte // deltas only, as is index
	index  int              // place in the line; 0 for everything but a delta
	body   []byte           // points into what was decoded
}

// decodeHead reads all but the body, which it does not look into.
func decodeHead(val []byte) (envelope, error) {
	var e envelope
	if len(val) == 0 {
		return e, fmt.Errorf("envelope: %w", errTruncated)
	}
	e.codec = Codec(val[0])
	length, rest, err := uvarint(val[1:])
	if err != nil {
		return e, fmt.Errorf("envelope: %w", err)
	}
	limit := uint64(MaxObject)
	switch e.codec {
	case CodecRaw, CodecZstd, CodecDelta, CodecDeltaZstd:
	case CodecChunks:
		limit = MaxChunks * MaxChunk
	default:
		return e, &FormatError{What: "codec", Value: fmt.Sprint(val[0])}
	}
	if length > limit {
		return e, fmt.Errorf("envelope: %d bytes: %w", length, ErrTooLarge)
	}
	e.length = int64(length)
	if e.codec.isDelta() {
		if len(rest) < basePrefix {
			return e, fmt.Errorf("envelope: %w", errTruncated)
		}
		copy(e.base[:], rest)
		var index uint64
		if index, rest, err = uvarint(rest[basePrefix:]); err != nil {
			return e, fmt.Errorf("envelope: %w", err)
		}
		if index == 0 || index > MaxIndex {
			return e, errEnvIndex
		}
		e.index = int(index)
	}
	e.body = rest
	return e, nil
}

// decodeEnvelope reads an envelope and checks its body as far as that can be done without its base and without
// decompressing it.
func decodeEnvelope(k Kind, val []byte) (envelope, error) {
	e, err := decodeHead(val)
	if err != nil {
		return envelope{}, err
	}
	switch e.codec {
	case CodecRaw:
		if int64(len(e.body)) != e.length {
			err = errEnvLength
		}
	case CodecZstd:
		if e.length == 0 {
			err = errFrameSize
		} else {
			err = checkBlocks(e.body)
		}
	case CodecDelta:
		if err = checkDelta(e.body, MaxObject+idLen, e.length); err == nil && int64(len(e.body)) >= e.length {
			err = errEnvDelta
		}
	case CodecDeltaZstd:
		var blocks []byte
		if _, blocks, err = e.packed(); err == nil {
			err = checkBlocks(blocks)
		}
	case CodecChunks:
		if k != Blob {
			err = errEnvChunks
		} else {
			err = readChunks(e.body, e.length, nil)
		}
	}
	if err != nil {
		return envelope{}, err
	}
	return e, nil
}

// appendEnvelope is the inverse of decodeEnvelope.
func appendEnvelope(dst []byte, e envelope) []byte {
	return append(appendHead(dst, e), e.body...)
}

func appendHead(dst []byte, e envelope) []byte {
	dst = append(dst, byte(e.codec))
	dst = binary.AppendUvarint(dst, uint64(e.length))
	if e.codec.isDelta() {
		dst = append(dst, e.base[:]...)
		dst = binary.AppendUvarint(dst, uint64(e.index))
	}
	return dst
}

// whole appends the object itself to dst; the envelope is neither a delta nor a chunk list.
func (e envelope) whole(dst []byte) ([]byte, error) {
	if e.codec == CodecZstd {
		return decompress(dst, e.body, e.length)
	}
	if int64(len(e.body)) != e.length {
		return nil, errEnvLength
	}
	return append(dst, e.body...), nil
}

// packed gives the length of a compressed delta and its blocks.
func (e envelope) packed() (size int64, blocks []byte, err error) {
	n, blocks, err := uvarint(e.body)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("envelope: %w", err)
	case n == 0:
		return 0, nil, errFrameSize
	case n >= uint64(e.length):
		return 0, nil, errEnvDelta
	}
	return int64(n), blocks, nil
}

// apply appends to dst what the envelope's delta builds from source. The delta is checked against both.
func (e envelope) apply(dst, source []byte) ([]byte, error) {
	if e.codec == CodecDelta {
		return applyDelta(dst, source, e.body, e.length)
	}
	size, blocks, err := e.packed()
	if err != nil {
		return nil, err
	}
	buf := borrow()
	defer giveBack(buf)
	if *buf, err = decompress((*buf)[:0], blocks, size); err != nil {
		*buf = nil
		return nil, err
	}
	return applyDelta(dst, source, *buf, e.length)
}
