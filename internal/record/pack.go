package record

import (
	"encoding/binary"
	"time"
)

// A Packer writes plain values one behind the other, or reads them in the same order: one function says both how they
// are written and how they are read. It is for what is derived and large; what is kept of a store's own is a table. For
// one goroutine.
type Packer struct {
	b     []byte // what was written
	text  string // what is read; texts share it
	at    int
	reads bool
	bad   bool // what was read is not what was written
}

// NewPacker writes.
func NewPacker() *Packer { return &Packer{} }

// NewUnpacker reads what another one has written.
func NewUnpacker(text string) *Packer { return &Packer{text: text, reads: true} }

// Bytes is what was written.
func (p *Packer) Bytes() []byte { return p.b }

// Done reports whether all was read, and was what had been written.
func (p *Packer) Done() bool { return !p.bad && p.at == len(p.text) }

// Number is a whole number.
func Number[T ~int | ~int32 | ~int64 | ~uint8](p *Packer, v *T) {
	if !p.reads {
		p.b = binary.AppendVarint(p.b, int64(*v))
		return
	}
	// a copy of so few bytes is not on the heap
	n, size := binary.Varint([]byte(p.text[p.at:min(p.at+binary.MaxVarintLen64, len(p.text))]))
	if size <= 0 || int64(T(n)) != n {
		p.fail()
		return
	}
	*v, p.at = T(n), p.at+size
}

func (p *Packer) fail() { p.bad, p.at = true, len(p.text) }

// Fixed is a number of 8 bytes.
func (p *Packer) Fixed(v *uint64) {
	switch {
	case !p.reads:
		p.b = binary.BigEndian.AppendUint64(p.b, *v)
	case len(p.text)-p.at < 8:
		p.fail()
	default:
		*v, p.at = binary.BigEndian.Uint64([]byte(p.text[p.at:p.at+8])), p.at+8
	}
}

// Texts are strings.
func (p *Packer) Texts(list ...*string) {
	for _, s := range list {
		n := len(*s)
		if Number(p, &n); !p.reads {
			p.b = append(p.b, *s...)
			continue
		}
		if n < 0 || n > len(p.text)-p.at {
			p.fail()
			return
		}
		*s, p.at = p.text[p.at:p.at+n], p.at+n
	}
}

// Flags are booleans.
func (p *Packer) Flags(list ...*bool) {
	for _, f := range list {
		n := 0
		if *f {
			n = 1
		}
		if Number(p, &n); p.reads {
			*f = n == 1
			if n != 0 && n != 1 {
				p.fail()
			}
		}
	}
}

// Times are moments, in UTC.
func (p *Packer) Times(list ...*time.Time) {
	for _, t := range list {
		sec, nsec := t.Unix(), t.Nanosecond()
		Number(p, &sec)
		if Number(p, &nsec); p.reads {
			*t = time.Unix(sec, int64(nsec)).UTC()
		}
	}
}

// List is a slice, each element by a function of it; nil stays nil.
func List[T any](p *Packer, list *[]T, each func(*T)) {
	n := len(*list) + 1
	if *list == nil {
		n = 0
	}
	Number(p, &n)
	if p.reads {
		if n < 0 || n-1 > len(p.text)-p.at { // an element has a byte at least
			p.fail()
			return
		}
		if *list = nil; n > 0 {
			*list = make([]T, n-1)
		}
	}
	for i := range *list {
		if each(&(*list)[i]); p.bad {
			return
		}
	}
}

// Map is a map; an empty one is read as nil.
func Map[K comparable, V any](p *Packer, m *map[K]V, key func(*K), value func(*V)) {
	n := len(*m)
	if Number(p, &n); !p.reads {
		for k, v := range *m {
			key(&k)
			value(&v)
		}
		return
	}
	if n < 0 || n > len(p.text)-p.at {
		p.fail()
		return
	}
	if *m = nil; n > 0 {
		*m = make(map[K]V, n)
	}
	for range n {
		var k K
		var v V
		if key(&k); p.bad {
			return
		}
		value(&v)
		(*m)[k] = v
	}
}
