package object

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var (
	errChunkCount  = errors.New("chunk list: count out of range")
	errChunkLength = errors.New("chunk list: length of a chunk out of range")
	errChunkSum    = errors.New("chunk list: lengths do not add up")
)

// A Chunk is a blob that is a part of another.
type Chunk struct {
	ID   ID
	Size int // 1 to MaxChunk bytes
}

// AppendChunks appends a chunk list (docs/format.md#chunk-list).
func AppendChunks(dst []byte, chunks []Chunk) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(chunks)))
	for _, c := range chunks {
		dst = append(dst, c.ID[:]...)
		dst = binary.AppendUvarint(dst, uint64(c.Size))
	}
	return dst
}

// ReadChunks calls fn for each chunk of a list whose lengths must add up to length. fn may be nil.
func ReadChunks(body []byte, length int64, fn func(Chunk)) error {
	n, rest, err := uvarint(body)
	if err != nil {
		return fmt.Errorf("chunk list: %w", err)
	}
	if n == 0 || n > MaxChunks {
		return errChunkCount
	}
	var total int64
	for range n {
		var c Chunk
		if len(rest) < len(c.ID) {
			return fmt.Errorf("chunk list: %w", errTruncated)
		}
		copy(c.ID[:], rest)
		var size uint64
		if size, rest, err = uvarint(rest[len(c.ID):]); err != nil {
			return fmt.Errorf("chunk list: %w", err)
		}
		if size == 0 || size > MaxChunk {
			return errChunkLength
		}
		c.Size = int(size)
		total += int64(size)
		if fn != nil {
			fn(c)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("chunk list: %w", errTrailing)
	}
	if total != length {
		return errChunkSum
	}
	return nil
}

// DecodeChunks gives the list. What it allocates is bounded by the length of body.
func DecodeChunks(body []byte, length int64) ([]Chunk, error) {
	chunks := make([]Chunk, 0, min(len(body)/33, MaxChunks))
	if err := ReadChunks(body, length, func(c Chunk) { chunks = append(chunks, c) }); err != nil {
		return nil, err
	}
	return chunks, nil
}
