// Package record is the strict tag-length-value encoding of checkpoints, operations and journals.
//
// A record is a sequence of fields with strictly ascending tags: tag (uvarint, >= 1), length (uvarint, >= 1), bytes.
// A field with the zero value is absent, never empty. Unsigned integers are minimal uvarints. A list is one field
// that holds, per item, its length (uvarint) and its bytes. If bytes decode, encoding gives the same bytes.
//
// Not for concurrent use.
package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrFormat is wrapped by every decoding error.
var ErrFormat = errors.New("bad encoding")

// Encoder appends fields; the caller adds them in ascending order of tags.
type Encoder struct {
	buf  []byte
	last uint64
}

// firstBytes is how much room a record gets at first, in bytes: most of those that a hook writes have no need to grow, or once.
const firstBytes = 128

// Encoded returns the record; the slice belongs to the caller once the encoder is no longer used.
func (e *Encoder) Encoded() []byte { return e.buf }

// Bytes adds a field unless v is empty.
func (e *Encoder) Bytes(tag uint64, v []byte) {
	if len(v) == 0 {
		return
	}
	if tag <= e.last {
		panic(fmt.Sprintf("encode field %d after %d", tag, e.last))
	}
	e.last = tag
	if e.buf == nil {
		e.buf = make([]byte, 0, firstBytes)
	}
	e.buf = binary.AppendUvarint(e.buf, tag)
	e.buf = binary.AppendUvarint(e.buf, uint64(len(v)))
	e.buf = append(e.buf, v...)
}

// NonZero adds bytes of a fixed length, such as an id, unless all of them are 0.
func (e *Encoder) NonZero(tag uint64, v []byte) {
	if !allZero(v) {
		e.Bytes(tag, v)
	}
}

// String adds a field unless s is empty.
func (e *Encoder) String(tag uint64, s string) { e.Bytes(tag, []byte(s)) }

// Uint adds a field unless v is 0.
func (e *Encoder) Uint(tag, v uint64) {
	if v == 0 {
		return
	}
	var b [binary.MaxVarintLen64]byte
	e.Bytes(tag, b[:binary.PutUvarint(b[:], v)])
}

// Bool adds a field unless v is false.
func (e *Encoder) Bool(tag uint64, v bool) {
	if v {
		e.Uint(tag, 1)
	}
}

// List adds a field of items unless there are none; items may be empty.
func (e *Encoder) List(tag uint64, n int, item func(i int) []byte) {
	var b []byte
	for i := range n {
		v := item(i)
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	e.Bytes(tag, b)
}

// Field is one field's bytes, valid as long as the record is.
type Field []byte

// Decode calls field for each field of raw. A tag that field does not know is its to refuse, with Unknown.
func Decode(raw []byte, field func(tag uint64, f Field) error) error {
	last := uint64(0)
	for len(raw) > 0 {
		tag, rest, err := uvarint(raw)
		if err != nil {
			return err
		}
		if tag <= last {
			return fmt.Errorf("%w: field %d after %d", ErrFormat, tag, last)
		}
		last = tag
		v, rest, err := chunk(rest)
		if err != nil {
			return err
		}
		if len(v) == 0 {
			return fmt.Errorf("%w: field %d is empty", ErrFormat, tag)
		}
		if err := field(tag, v); err != nil {
			return err
		}
		raw = rest
	}
	return nil
}

// Unknown is the error for a tag that a decoder does not know.
func Unknown(tag uint64) error { return fmt.Errorf("%w: unknown field %d", ErrFormat, tag) }

// Uint reads an integer that is not 0.
func (f Field) Uint() (uint64, error) {
	v, rest, err := uvarint(f)
	if err != nil {
		return 0, err
	}
	if len(rest) != 0 || v == 0 {
		return 0, fmt.Errorf("%w: integer field", ErrFormat)
	}
	return v, nil
}

// Bool reads a field that Encoder.Bool wrote; it is true or an error.
func (f Field) Bool() (bool, error) {
	if len(f) != 1 || f[0] != 1 {
		return false, fmt.Errorf("%w: flag field", ErrFormat)
	}
	return true, nil
}

// Fixed copies the field into dst, which must have its length.
func (f Field) Fixed(dst []byte) error {
	if len(f) != len(dst) {
		return fmt.Errorf("%w: field of %d bytes, want %d", ErrFormat, len(f), len(dst))
	}
	copy(dst, f)
	return nil
}

// NonZero is Fixed for bytes that Encoder.NonZero wrote: not all of them are 0.
func (f Field) NonZero(dst []byte) error {
	if err := f.Fixed(dst); err != nil {
		return err
	}
	if allZero(dst) {
		return fmt.Errorf("%w: zero field", ErrFormat)
	}
	return nil
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// List calls item for each item of a list field.
func (f Field) List(item func(v Field) error) error {
	for len(f) > 0 {
		v, rest, err := chunk(f)
		if err != nil {
			return err
		}
		if err := item(v); err != nil {
			return err
		}
		f = rest
	}
	return nil
}

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
