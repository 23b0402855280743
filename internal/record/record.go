// Package record is the strict tag-length-value encoding of checkpoints, operations and journals.
//
// A record is a sequence of fields with strictly ascending tags: tag (uvarint, >= 1), length (uvarint, >= 1), bytes.
// A field with the zero value is absent, never empty. Unsigned integers are minimal uvarints. A list is one field
// that holds, per item, its length (uvarint) and its bytes. If bytes decode, encoding gives the same bytes.
//
// What a record of a type looks like is said once, by a Table, which encodes and decodes:
//
//	var fileTable = record.New(
//		record.String(1, func(f *File) *string { return &f.Path }).Required(),
//		record.ID(2, func(f *File) *ID { return &f.From }),
//	)
//
// A tag is never given another meaning; docs/format.md has all of them.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFormat is wrapped by every decoding error.
var ErrFormat = errors.New("bad encoding")

func chunk(b []byte) (v, rest []byte, err error) {
	n, b, err := uvarint(b)
	if err != nil {
		return nil, nil, err
	}
	if n > uint64(len(b)) {
		return nil, nil, fmt.Errorf("%w: length %d exceeds the %d bytes left", ErrFormat, n, len(b))
	}
	return b[:n:n], b[n:], nil
}

// uvarint reads a minimal uvarint.
func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || (n > 1 && b[n-1] == 0) {
		return 0, nil, fmt.Errorf("%w: varint", ErrFormat)
	}
	return v, b[n:], nil
}
