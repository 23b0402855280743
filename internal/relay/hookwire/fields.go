package hookwire

// coder writes the fields of a message, or reads them. Each is named once, in ascending order of tags.
type coder struct {
	b     []byte // what was written; or what was not read yet
	reads bool
	bad   bool
}

// end is called when every field was named: what is left is unknown, or not in its place.
func (c *coder) end() error {
	if c.bad || len(c.b) > 0 {
		return ErrMalformed
	}
	return nil
}

func (c *coder) text(tag uint64, s *string) {
	if c.reads {
		*s = string(c.take(tag))
	} else {
		c.put(tag, *s)
	}
}

func (c *coder) number(tag uint64, n *uint64) {
	if !c.reads {
		var room [maxVarint]byte
		if *n != 0 {
			c.put(tag, string(appendVarint(room[:0], *n)))
		}
		return
	}
	if v := c.take(tag); len(v) > 0 {
		var rest []byte
		var ok bool
		*n, rest, ok = varint(v)
		c.bad = c.bad || !ok || *n == 0 || len(rest) > 0
	}
}

// put adds a field unless it is empty.
func (c *coder) put(tag uint64, v string) {
	if v != "" {
		c.b = append(appendVarint(appendVarint(c.b, tag), uint64(len(v))), v...)
	}
}

// take takes the next field, if it has that tag.
func (c *coder) take(tag uint64) []byte {
	t, rest, ok := varint(c.b)
	if !ok || t != tag {
		return nil
	}
	n, rest, ok := varint(rest)
	if !ok || n == 0 || n > uint64(len(rest)) {
		c.bad = true
		return nil
	}
	c.b = rest[n:]
	return rest[:n]
}

const maxVarint = 10 // bytes of 64 bits

func appendVarint(b []byte, v uint64) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// varint reads a number of the fewest bytes that it has.
func varint(b []byte) (v uint64, rest []byte, ok bool) {
	for i, c := range b {
		if i == maxVarint-1 && c > 1 || i > 0 && c == 0 {
			return 0, nil, false
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}
