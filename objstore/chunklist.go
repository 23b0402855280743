package objstore

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

// A chunk is a blob that is a part of another.
type chunk struct {
	id   ID
	size int // 1 to MaxChunk bytes
}

// appendChunks appends a chunk list (docs/format.md#chunk-list).
func appendChunks(dst []byte, chunks []chunk) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(chunks)))
	for _, c := range chunks {
		dst = append(dst, c.id[:]...)
		dst = binary.AppendUvarint(dst, uint64(c.size))
	}
	return dst
}

// readChunks calls fn for each chunk of a list whose lengths must add up to length. fn may be nil.
func readChunks(body []byte, length int64, fn func(chunk)) error {
	n, rest, err := uvarint(body)
	if err != nil {
		return fmt.Errorf("chunk list: %w", err)
	}
	if n == 0 || n > MaxChunks {
		return errChunkCount
	}
	var total int64
	for range n {
		var c chunk
		if len(rest) < len(c.id) {
			return fmt.Errorf("chunk list: %w", errTruncated)
		}
		copy(c.id[:], rest)
		var size uint64
		if size, rest, err = uvarint(rest[len(c.id):]); err != nil {
			return fmt.Errorf("chunk list: %w", err)
		}
		if size == 0 || size > MaxChunk {
			return errChunkLength
		}
		c.size = int(size)
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

// decodeChunks gives the list. What it allocates is bounded by the length of body.
func decodeChunks(body []byte, length int64) ([]chunk, error) {
	chunks := make([]chunk, 0, min(len(body)/33, MaxChunks))
	if err := readChunks(body, length, func(c chunk) { chunks = append(chunks, c) }); err != nil {
		return nil, err
	}
	return chunks, nil
}
