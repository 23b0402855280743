package object

import (
	"encoding/binary"
	"errors"
)

var (
	errTruncated  = errors.New("truncated")
	errNotMinimal = errors.New("integer is not in its shortest form")
	errTrailing   = errors.New("trailing bytes")
)

// uvarint reads one unsigned LEB128 integer of minimal length and at most 64 bits, and gives what follows it.
func uvarint(b []byte) (v uint64, rest []byte, err error) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), b[1:], nil
	}
	v, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, nil, errTruncated
	case n < 0, n > 1 && b[n-1] == 0:
		return 0, nil, errNotMinimal
	}
	return v, b[n:], nil
}

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
