package object

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Codec says how an envelope holds its object. Numbers are never reused.
type Codec byte

// The codecs. 2 and 3 are of no release.
const (
	CodecRaw       Codec = 0
	CodecZstd      Codec = 1
	CodecChunks    Codec = 4
	CodecDelta     Codec = 5
	CodecDeltaZstd Codec = 6
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

// IsDelta tells whether what is built needs a base.
func (c Codec) IsDelta() bool { return c == CodecDelta || c == CodecDeltaZstd }

// What an envelope can be refused for.
var (
	errEnvLength = errors.New("envelope: length differs from the body's")
	errEnvIndex  = errors.New("envelope: index out of range")
	// ErrChunks: a list of chunks where there may be none.
	ErrChunks   = errors.New("envelope: only a blob has chunks")
	errEnvDelta = errors.New("envelope: delta is not shorter than the object")
)

// BasePrefix is the number of bytes of its id that name a base: one look-up in a million is in doubt where a kind has a
// million objects.
const BasePrefix = 5

// An Envelope is what is stored under an object's key (docs/format.md#envelope).
type Envelope struct {
	Codec  Codec
	Length int64            // of the object
	Prefix [BasePrefix]byte // how the id of the base begins; deltas only, as is Index
	Index  int              // position in the delta chain; 0 for everything but a delta
	Body   []byte           // points into what was decoded
}

// DecodeHead reads all but the body, which it does not look into. The length that only the body of a delta says is 0.
func DecodeHead(val []byte) (Envelope, error) {
	var e Envelope
	if len(val) == 0 {
		return e, fmt.Errorf("envelope: %w", errTruncated)
	}
	e.Codec = Codec(val[0])
	rest := val[1:]
	limit := uint64(MaxObject)
	switch e.Codec {
	case CodecRaw, CodecZstd, CodecDelta, CodecDeltaZstd:
	case CodecChunks:
		limit = MaxChunks * MaxChunk
	default:
		return e, &FormatError{What: "codec", Value: fmt.Sprint(val[0])}
	}
	if e.Codec != CodecDelta {
		length, after, err := uvarint(rest)
		if err != nil {
			return e, fmt.Errorf("envelope: %w", err)
		}
		if length > limit {
			return e, fmt.Errorf("envelope: %d bytes: %w", length, ErrTooLarge)
		}
		e.Length, rest = int64(length), after
	}
	if e.Codec.IsDelta() {
		n := copy(e.Prefix[:], rest)
		if n < BasePrefix {
			return e, fmt.Errorf("envelope: %w", errTruncated)
		}
		index, after, err := uvarint(rest[n:])
		if err != nil {
			return e, fmt.Errorf("envelope: %w", err)
		}
		if index == 0 || index > MaxIndex {
			return e, errEnvIndex
		}
		e.Index, rest = int(index), after
	}
	e.Body = rest
	return e, nil
}

// Decode reads an envelope and checks its body as far as that can be done without its base and without
// decompressing it.
func Decode(k Kind, val []byte) (Envelope, error) {
	e, err := DecodeHead(val)
	if err != nil {
		return Envelope{}, err
	}
	switch e.Codec {
	case CodecRaw:
		if int64(len(e.Body)) != e.Length {
			err = errEnvLength
		}
	case CodecZstd:
		if e.Length == 0 {
			err = errFrameSize
		} else {
			err = checkBlocks(e.Body)
		}
	case CodecDelta:
		if e.Length, _, err = deltaLength(e.Body, MaxObject+IDLen, MaxObject); err == nil && int64(len(e.Body)) >= e.Length {
			err = errEnvDelta
		}
	case CodecDeltaZstd:
		var blocks []byte
		if _, blocks, err = e.packed(); err == nil {
			err = checkBlocks(blocks)
		}
	case CodecChunks:
		if k != Blob {
			err = ErrChunks
		} else {
			err = ReadChunks(e.Body, e.Length, nil)
		}
	}
	if err != nil {
		return Envelope{}, err
	}
	return e, nil
}

// appendEnvelope is the inverse of decodeEnvelope.
func appendEnvelope(dst []byte, e Envelope) []byte {
	return append(appendHead(dst, e), e.Body...)
}

func appendHead(dst []byte, e Envelope) []byte {
	dst = append(dst, byte(e.Codec))
	if e.Codec != CodecDelta {
		dst = binary.AppendUvarint(dst, uint64(e.Length))
	}
	if e.Codec.IsDelta() {
		dst = append(dst, e.Prefix[:]...)
		dst = binary.AppendUvarint(dst, uint64(e.Index))
	}
	return dst
}

// Whole appends the object itself to dst; the envelope is neither a delta nor a chunk list.
func (e Envelope) Whole(dst []byte) ([]byte, error) {
	if e.Codec == CodecZstd {
		return decompress(dst, e.Body, e.Length)
	}
	if int64(len(e.Body)) != e.Length {
		return nil, errEnvLength
	}
	return append(dst, e.Body...), nil
}

// packed gives the length of a compressed delta and its blocks.
func (e Envelope) packed() (size int64, blocks []byte, err error) {
	n, blocks, err := uvarint(e.Body)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("envelope: %w", err)
	case n == 0:
		return 0, nil, errFrameSize
	case n >= uint64(e.Length):
		return 0, nil, errEnvDelta
	}
	return int64(n), blocks, nil
}

// Apply appends to dst the object that the envelope's delta builds from base, which it may lengthen by its id. Nothing
// is allocated when dst and base have room. The delta is checked against both.
func (e Envelope) Apply(dst []byte, base *Base) ([]byte, error) {
	if e.Codec == CodecDelta {
		return applyDelta(dst, base, e.Body, e.Length)
	}
	size, blocks, err := e.packed()
	if err != nil {
		return nil, err
	}
	buf := BorrowBuffer()
	defer ReturnBuffer(buf)
	if *buf, err = decompress((*buf)[:0], blocks, size); err != nil {
		*buf = nil
		return nil, err
	}
	return applyDelta(dst, base, *buf, e.Length)
}
