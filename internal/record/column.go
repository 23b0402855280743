package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Each kind of column is made with the field's tag and with where in a T its value is.

type integer interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint64
}

// Uint is a column of an integer that is not negative.
func Uint[T any, N integer](tag uint64, of func(*T) *N) Column[T] {
	return number(tag, math.MaxUint64, of)
}

// maxCount keeps every count exact in JSON.
const maxCount = 1 << 53

// Count is a column of a count or a size, at most 2^53.
func Count[T any, N integer](tag uint64, of func(*T) *N) Column[T] { return number(tag, maxCount, of) }

func number[T any, N integer](tag, most uint64, of func(*T) *N) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			if n := *of(v); n != 0 {
				dst = binary.AppendUvarint(dst, uint64(n))
			}
			return dst
		},
		decode: func(f []byte, v *T, _ Words) error {
			n, err := whole(f, most)
			to := of(v)
			if *to = N(n); err == nil && (*to < 0 || uint64(*to) != n) {
				err = fmt.Errorf("%w: integer field", ErrFormat)
			}
			return err
		},
	}
}

// whole reads an integer from 1 to most.
func whole(f []byte, most uint64) (uint64, error) {
	n, rest, err := uvarint(f)
	if err == nil && (len(rest) != 0 || n == 0 || n > most) {
		err = fmt.Errorf("%w: integer field", ErrFormat)
	}
	return n, err
}

// Time is a column of a time, in milliseconds since 1970.
func Time[T any](tag uint64, of func(*T) *time.Time) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			if ms := of(v).UnixMilli(); ms > 0 {
				dst = binary.AppendUvarint(dst, uint64(ms))
			}
			return dst
		},
		decode: func(f []byte, v *T, _ Words) error {
			ms, err := whole(f, maxCount)
			*of(v) = time.UnixMilli(int64(ms))
			return err
		},
	}
}

// Bool is a column of a flag.
func Bool[T any](tag uint64, of func(*T) *bool) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			if *of(v) {
				dst = append(dst, 1)
			}
			return dst
		},
		decode: func(f []byte, v *T, _ Words) error {
			*of(v) = true
			_, err := whole(f, 1)
			return err
		},
	}
}

// ID is a column of an id.
func ID[T any, I ~[32]byte](tag uint64, of func(*T) *I) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			if id := of(v); *id != (I{}) {
				dst = append(dst, (*id)[:]...)
			}
			return dst
		},
		decode: func(f []byte, v *T, _ Words) error { return setID(f, of(v)) },
	}
}

func setID[I ~[32]byte](f []byte, id *I) error {
	if copy((*id)[:], f); len(f) != len(*id) || *id == (I{}) {
		return fmt.Errorf("%w: id of %d bytes", ErrFormat, len(f))
	}
	return nil
}

// IDs is a column of a list of ids.
func IDs[T any, I ~[32]byte](tag uint64, of func(*T) *[]I) Column[T] {
	return list(tag, of, func(dst []byte, id *I) []byte { return append(dst, (*id)[:]...) }, setID)
}

// String is a column of a text.
func String[T any, S ~string](tag uint64, of func(*T) *S) Column[T] {
	return Column[T]{
		tag:    tag,
		encode: func(dst []byte, v *T) []byte { return append(dst, *of(v)...) },
		decode: func(f []byte, v *T, _ Words) error {
			*of(v) = S(f)
			return nil
		},
		texts: func(v *T, to func(string) string) { *of(v) = S(to(string(*of(v)))) },
	}
}

// Strings is a column of a list of texts.
func Strings[T any, L ~[]S, S ~string](tag uint64, of func(*T) *L) Column[T] {
	c := list(tag, of, func(dst []byte, s *S) []byte { return append(dst, *s...) }, func(f []byte, s *S) error {
		*s = S(f)
		return nil
	})
	c.texts = func(v *T, to func(string) string) { each(*of(v), func(s *S) { *s = S(to(string(*s))) }) }
	return c
}

func each[L ~[]E, E any](list L, fn func(*E)) {
	for i := range list {
		fn(&list[i])
	}
}

// Ascending is Strings of which none is empty and each is greater than the one before.
func Ascending[T any, L ~[]S, S ~string](tag uint64, of func(*T) *L) Column[T] {
	c := Strings(tag, of).Must(func(v *T) bool {
		last := S("")
		for _, s := range *of(v) {
			if s <= last {
				return false
			}
			last = s
		}
		return true
	})
	inOrder := c.texts
	c.texts = func(v *T, to func(string) string) {
		inOrder(v, to)
		slices.Sort(*of(v))
		*of(v) = slices.Compact(*of(v))
	}
	return c
}

// Decimals is a column of a list of integers from 1, in decimal.
func Decimals[T any, N integer](tag uint64, of func(*T) *[]N) Column[T] {
	put := func(dst []byte, n *N) []byte { return strconv.AppendUint(dst, uint64(*n), 10) }
	return list(tag, of, put, func(f []byte, n *N) error {
		v, err := strconv.ParseUint(string(f), 10, 63)
		*n = N(v)
		is := err == nil && v > 0 && uint64(*n) == v
		if !is || strconv.FormatUint(v, 10) != string(f) {
			return fmt.Errorf("%w: decimal %.20q", ErrFormat, f)
		}
		return nil
	})
}

// Words are texts that come again and again in records: who reads many has each once. nil: none is kept.
type Words map[string]string

// mostWords is how many are kept: the texts are untrusted.
const mostWords = 64

func (w Words) of(f []byte) string {
	if known, ok := w[string(f)]; ok {
		return known
	}
	text := string(f)
	if w != nil && len(w) < mostWords {
		w[text] = text
	}
	return text
}

// Word is a String that comes again and again.
func Word[T any](tag uint64, of func(*T) *string) Column[T] {
	c := String(tag, of)
	c.decode = func(f []byte, v *T, known Words) error {
		*of(v) = known.of(f)
		return nil
	}
	return c
}

// Record is a column of a record.
func Record[T, R any](tag uint64, table *Table[R], of func(*T) *R) Column[T] {
	return Column[T]{
		tag:    tag,
		encode: func(dst []byte, v *T) []byte { return table.append(dst, of(v)) },
		decode: func(f []byte, v *T, known Words) error { return table.DecodeWith(f, of(v), known) },
		texts:  func(v *T, to func(string) string) { table.Texts(of(v), to) },
	}
}

// Optional is a column of a record that may be absent: nil.
func Optional[T, R any](tag uint64, table *Table[R], of func(*T) **R) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			if r := *of(v); r != nil {
				dst = table.append(dst, r)
			}
			return dst
		},
		decode: func(f []byte, v *T, known Words) error {
			r := new(R)
			*of(v) = r
			return table.DecodeWith(f, r, known)
		},
		texts: func(v *T, to func(string) string) {
			if r := *of(v); r != nil {
				table.Texts(r, to)
			}
		},
	}
}

// Records is a column of a list of records.
func Records[T, R any](tag uint64, table *Table[R], of func(*T) *[]R) Column[T] {
	c := list(tag, of, table.append, func(f []byte, r *R) error { return table.Decode(f, r) })
	c.texts = func(v *T, to func(string) string) { each(*of(v), func(r *R) { table.Texts(r, to) }) }
	return c
}

// list is a column of a list of items, which encode appends, and decode reads or refuses.
func list[T any, L ~[]E, E any](
	tag uint64, of func(*T) *L, encode func(dst []byte, e *E) []byte, decode func(f []byte, e *E) error,
) Column[T] {
	return Column[T]{
		tag: tag,
		encode: func(dst []byte, v *T) []byte {
			list := *of(v)
			for i := range list {
				dst = append(dst, 0)
				at := len(dst)
				dst = measured(encode(dst, &list[i]), at)
			}
			return dst
		},
		decode: func(f []byte, v *T, _ Words) error {
			list := make(L, 0, few(f))
			for len(f) > 0 {
				item, rest, err := chunk(f)
				if err != nil {
					return err
				}
				var e E
				list = append(list, e)
				if err := decode(item, &list[len(list)-1]); err != nil {
					return err
				}
				f = rest
			}
			*of(v) = list
			return nil
		},
	}
}

// few is how many items a list has, or how many it is given room for at first: it may say of itself that it has any
// number.
func few(f []byte) (n int) {
	for n < 16 && len(f) > 0 {
		_, rest, err := chunk(f)
		if err != nil {
			break
		}
		n, f = n+1, rest
	}
	return n
}
