package objstore

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Codec says how an envelope holds its object. Numbers are never reused.
type Codec byte

// The codecs. Deltas of store formats 1 and 2 are read, and no longer made.
const (
	CodecRaw          Codec = 0
	CodecZstd         Codec = 1
	CodecOldDelta     Codec = 2
	CodecOldDeltaZstd Codec = 3
	CodecChunks       Codec = 4
	CodecDelta        Codec = 5 // since store format 3, as is the next
	CodecDeltaZstd    Codec = 6
)

// String gives the codec's word.
func (c Codec) String() string {
	switch c {
	case CodecRaw:
		return "raw"
	case CodecZstd:
		return "zstd"
	case CodecOldDelta:
		return "old delta"
	case CodecOldDeltaZstd:
		return "old delta+zstd"
	case CodecDelta:
		return "delta"
	case CodecDeltaZstd:
		return "delta+zstd"
	case CodecChunks:
		return "chunks"
	}
	return fmt.Sprintf("codec(%d)", byte(c))
}

func (c Codec) isDelta() bool { return c.isOldDelta() || c == CodecDelta || c == CodecDeltaZstd }

func (c Codec) isOldDelta() bool { return c == CodecOldDelta || c == CodecOldDeltaZstd }

// form is how a delta of this codec is written.
func (c Codec) form() deltaForm { return deltaForm(c.isOldDelta()) }

var (
	errEnvLength = errors.New("envelope: length differs from the body's")
	errEnvIndex  = errors.New("envelope: index out of range")
	errEnvChunks = errors.New("envelope: only a blob has chunks")
	errEnvDelta  = errors.New("envelope: delta is not shorter than the object")
)

// basePrefix is the number of bytes of its id that name a base: one look-up in a million is in doubt where a kind has a
// million objects. In old deltas it is oldBasePrefix.
const (
	basePrefix    = 5
	oldBasePrefix = 8
)

func (c Codec) basePrefix() int {
	if c.isOldDelta() {
		return oldBasePrefix
	}
	return basePrefix
}

// An envelope is what is stored under an object's key (docs/format.md#envelope).
type envelope struct {
	codec  Codec
	length int64               // of the object
	base   [oldBasePrefix]byte // deltas only, as is index; the codec says how many bytes of it count
	index  int                 // place in the line; 0 for everything but a delta
	body   []byte              // points into what was decoded
}

// prefix is how the id of the base begins.
func (e *envelope) prefix() []byte { return e.base[:e.codec.basePrefix()] }

// decodeHead reads all but the body, which it does not look into. The length that only the body of a delta says is 0.
func decodeHead(val []byte) (envelope, error) {
	var e envelope
	if len(val) == 0 {
		return e, fmt.Errorf("envelope: %w", errTruncated)
	}
	e.codec = Codec(val[0])
	rest := val[1:]
	limit := uint64(MaxObject)
	switch e.codec {
	case CodecRaw, CodecZstd, CodecOldDelta, CodecOldDeltaZstd, CodecDelta, CodecDeltaZstd:
	case CodecChunks:
		limit = MaxChunks * MaxChunk
	default:
		return e, &FormatError{What: "codec", Value: fmt.Sprint(val[0])}
	}
	if e.codec != CodecDelta {
		length, after, err := uvarint(rest)
		if err != nil {
			return e, fmt.Errorf("envelope: %w", err)
		}
		if length > limit {
			return e, fmt.Errorf("envelope: %d bytes: %w", length, ErrTooLarge)
		}
		e.length, rest = int64(length), after
	}
	if e.codec.isDelta() {
		n := copy(e.prefix(), rest)
		if n < e.codec.basePrefix() {
			return e, fmt.Errorf("envelope: %w", errTruncated)
		}
		index, after, err := uvarint(rest[n:])
		if err != nil {
			return e, fmt.Errorf("envelope: %w", err)
		}
		if index == 0 || index > MaxIndex {
			return e, errEnvIndex
		}
		e.index, rest = int(index), after
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
	case CodecOldDelta:
		var built int64
		if built, _, err = deltaLength(e.body, formOld, MaxObject+idLen, e.length); err == nil && built != e.length {
			err = errDeltaLength
		}
	case CodecDelta:
		e.length, _, err = deltaLength(e.body, formKept, MaxObject+idLen, MaxObject)
	case CodecOldDeltaZstd, CodecDeltaZstd:
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
	if plain := e.codec == CodecDelta || e.codec == CodecOldDelta; err == nil && plain && int64(len(e.body)) >= e.length {
		err = errEnvDelta
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
	if e.codec != CodecDelta {
		dst = binary.AppendUvarint(dst, uint64(e.length))
	}
	if e.codec.isDelta() {
		dst = append(dst, e.prefix()...)
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

// apply appends to dst what the envelope's delta builds from base, as applyDelta does. The delta is checked against both.
func (e envelope) apply(dst []byte, base *deltaBase) ([]byte, error) {
	if e.codec == CodecDelta || e.codec == CodecOldDelta {
		return applyDelta(dst, base, e.body, e.codec.form(), e.length)
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
	return applyDelta(dst, base, *buf, e.codec.form(), e.length)
}
