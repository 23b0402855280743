package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A Table says how a T stands in a record, one column for each field. What it decodes, it encodes to the same bytes. It
// may be used by many
// at once.
type Table[T any] struct {
	columns []Column[T]
	then    func(*T) error
}

// A Column is one field of a record of T. The zero value of what it holds is an absent field.
type Column[T any] struct {
	tag      uint64
	required bool
	encode   func(dst []byte, v *T) []byte // appends what the field holds; nothing for the zero value
	decode   func(f []byte, v *T, w Words) error
	texts    func(v *T, to func(string) string) // puts to(s) in place of each text s of the field; nil: it has none
}

// New makes a table of columns in ascending order of tags; it panics at any other.
func New[T any](columns ...Column[T]) *Table[T] {
	last := uint64(0)
	for _, c := range columns {
		if c.tag <= last {
			panic(fmt.Sprintf("record: column %d after %d", c.tag, last))
		}
		last = c.tag
	}
	return &Table[T]{columns: columns}
}

// Then has done called with each T that was decoded: it sets what no field says, or refuses what the fields say
// together.
func (t *Table[T]) Then(done func(*T) error) *Table[T] {
	t.then = done
	return t
}

// Required refuses a record without the field.
func (c Column[T]) Required() Column[T] {
	c.required = true
	return c
}

// Must refuses a field with which holds is false.
func (c Column[T]) Must(holds func(*T) bool) Column[T] {
	tag, decode := c.tag, c.decode
	c.decode = func(f []byte, v *T, w Words) error {
		err := decode(f, v, w)
		if err == nil && !holds(v) {
			err = fmt.Errorf("%w: field %d: %.100q", ErrFormat, tag, f)
		}
		return err
	}
	return c
}

// Unless leaves the field out where usual is true of v, which Decode is to be given so, and refuses it there.
func (c Column[T]) Unless(usual func(*T) bool) Column[T] {
	encode := c.encode
	c.encode = func(dst []byte, v *T) []byte {
		if usual(v) {
			return dst
		}
		return encode(dst, v)
	}
	return c.Must(func(v *T) bool { return !usual(v) })
}

// firstRoom is how much room a record gets at first, in bytes: most of those that a hook writes have no need to grow,
// or once.
const firstRoom = 128

// Encode gives the record of v.
func (t *Table[T]) Encode(v *T) []byte { return t.append(make([]byte, 0, firstRoom), v) }

func (t *Table[T]) append(dst []byte, v *T) []byte {
	for i := range t.columns {
		c := &t.columns[i]
		begin := len(dst)
		dst = append(binary.AppendUvarint(dst, c.tag), 0)
		at := len(dst)
		if dst = c.encode(dst, v); len(dst) == at {
			dst = dst[:begin]
			continue
		}
		dst = measured(dst, at)
	}
	return dst
}

// measured puts the length of dst[at:] before it, in place of the byte at at-1.
func measured(dst []byte, at int) []byte {
	n := len(dst) - at
	if n < 0x80 {
		dst[at-1] = byte(n)
		return dst
	}
	var b [binary.MaxVarintLen64]byte
	return slices.Replace(dst, at-1, at, b[:binary.PutUvarint(b[:], uint64(n))]...)
}

// Texts puts to(s) in place of every text s that v holds, those of records in it included. It is for the caller to see
// whether what comes of it
// is still a record: whether Decode takes it.
func (t *Table[T]) Texts(v *T, to func(string) string) {
	for i := range t.columns {
		if c := &t.columns[i]; c.texts != nil {
			c.texts(v, to)
		}
	}
}

// Decode sets v, which the caller gives as it is without any field, to what a record says. What Encode does not give is
// refused with ErrFormat; v is then of no use.
func (t *Table[T]) Decode(raw []byte, v *T) error { return t.DecodeWith(raw, v, nil) }

// DecodeWith is Decode with texts that were met before.
func (t *Table[T]) DecodeWith(raw []byte, v *T, known Words) error {
	return t.decode(raw, v, known, math.MaxUint64)
}

// DecodeHead sets the fields with tags up to last, and looks at nothing behind them: it is for who passes over most
// records, and decodes
// the others whole.
func (t *Table[T]) DecodeHead(last uint64, raw []byte, v *T, known Words) error {
	return t.decode(raw, v, known, last)
}

// lacking refuses where a column that must be there is among those that nothing came for.
func lacking[T any](rest []Column[T]) error {
	for i := range rest {
		if rest[i].required {
			return fmt.Errorf("%w: field %d is missing", ErrFormat, rest[i].tag)
		}
	}
	return nil
}

func (t *Table[T]) decode(raw []byte, v *T, known Words, last uint64) error {
	rest := t.columns
	for len(raw) > 0 {
		tag, b, err := uvarint(raw)
		if err != nil {
			return err
		}
		if tag > last {
			return nil
		}
		f, b, err := chunk(b)
		if err != nil {
			return err
		}
		raw = b
		for len(rest) > 0 && rest[0].tag < tag && !rest[0].required {
			rest = rest[1:]
		}
		switch {
		case len(rest) == 0 || rest[0].tag > tag:
			return fmt.Errorf("%w: field %d is unknown, or out of order", ErrFormat, tag)
		case rest[0].tag < tag:
			return fmt.Errorf("%w: field %d is missing", ErrFormat, rest[0].tag)
		case len(f) == 0:
			return fmt.Errorf("%w: field %d is empty", ErrFormat, tag)
		}
		if err := rest[0].decode(f, v, known); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if err := lacking(rest); err != nil {
		return err
	}
	if t.then != nil {
		return t.then(v)
	}
	return nil
}
