package hooks

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// items is what objects and arrays have in common. Before is the space and the comments in front of an item, after
// those between it and its comma; the last one has a comma only if its after is not nil. Rest is what stands before the
// closing bracket.
type items interface {
	len() int
	before(i int) *hujson.Extra
	after(i int) *hujson.Extra
	rest() *hujson.Extra
	remove(i int)
}

type members struct{ *hujson.Object }

func (m members) len() int                   { return len(m.Members) }
func (m members) before(i int) *hujson.Extra { return &m.Members[i].Name.BeforeExtra }
func (m members) after(i int) *hujson.Extra  { return &m.Members[i].Value.AfterExtra }
func (m members) rest() *hujson.Extra        { return &m.AfterExtra }
func (m members) remove(i int)               { m.Members = slices.Delete(m.Members, i, i+1) }

type elements struct{ *hujson.Array }

func (e elements) len() int                   { return len(e.Elements) }
func (e elements) before(i int) *hujson.Extra { return &e.Elements[i].BeforeExtra }
func (e elements) after(i int) *hujson.Extra  { return &e.Elements[i].AfterExtra }
func (e elements) rest() *hujson.Extra        { return &e.AfterExtra }
func (e elements) remove(i int)               { e.Elements = slices.Delete(e.Elements, i, i+1) }

// style is how a file is written.
type style struct {
	newline string
	unit    string // one level of indentation
	colon   string // between colon and value
	comma   string // between a comma and the next item on the same line
}

// indentation is where a value stands: the indentation of its line, and whether everything around it is on one line.
type indentation struct {
	indent string
	inline bool
}

// styleOf takes the style from the first members of the root.
func styleOf(s *settings) style {
	st := style{newline: "\n", unit: "  ", colon: " ", comma: " "}
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		st.newline = "\r\n"
	}
	root := s.root.Value.(*hujson.Object)
	if len(root.Members) == 0 {
		return st
	}
	if colon := root.Members[0].Value.BeforeExtra; isSpace(colon) && !bytes.ContainsRune(colon, '\n') {
		st.colon, st.comma = string(colon), string(colon)
	}
	first := members{root}
	if unit, ok := indentOf(*first.before(0)); ok && unit != "" {
		st.unit = unit
	} else if first.len() > 1 && isSpace(*first.before(1)) && !ok {
		st.comma = string(*first.before(1))
	}
	return st
}

// within returns the indentation of the value of item i of l, which itself is at p.
func (p indentation) within(l items, i int) indentation {
	if indent, ok := indentOf(*l.before(i)); ok {
		return indentation{indent: indent}
	}
	return indentation{indent: p.indent, inline: true}
}

// room makes room for an item at the end of l, which is at p. It returns what comes before and after the new item, and
// the item's place.
func (st style) room(l items, p indentation) (before, after hujson.Extra, in indentation) {
	comments, space := cutSpace(*l.rest())
	if n := l.len(); n > 0 {
		gap := st.gap(l)
		if *l.after(n - 1) != nil {
			after = hujson.Extra{} // a comma at the end stays one
		}
		indent, multi := indentOf(gap)
		if !multi {
			indent = p.indent
		}
		*l.rest() = space
		return join(comments, gap, st.newline), after, indentation{indent, !multi}
	}
	if p.inline {
		*l.rest() = space
		return join(comments, nil, st.newline), nil, p
	}
	before = *l.rest()
	if bytes.ContainsRune(space, '\n') {
		before = comments
	} else {
		space = hujson.Extra(st.newline + p.indent)
	}
	*l.rest() = space
	indent := p.indent + st.unit
	return join(before, hujson.Extra(st.newline+indent), st.newline), nil, indentation{indent: indent}
}

// gap is the space in front of one more item of l, which has some.
func (st style) gap(l items) hujson.Extra {
	for i := l.len() - 1; i >= 0; i-- {
		if indent, ok := indentOf(*l.before(i)); ok {
			return hujson.Extra(st.newline + indent)
		}
	}
	if n := l.len(); n > 1 {
		_, space := cutSpace(*l.before(n - 1))
		return space
	}
	return hujson.Extra(st.comma)
}

// drop removes item i of l with the space before it and its comma. The comments around it stay.
func (st style) drop(l items, i int) {
	kept, _ := cutSpace(*l.before(i))
	after := *l.after(i)
	if comments, _ := cutSpace(after); len(comments) > 0 {
		kept = join(kept, comments, st.newline)
	}
	l.remove(i)
	n := l.len()
	if i < n {
		*l.before(i) = join(kept, *l.before(i), st.newline)
		return
	}
	if n > 0 {
		last := l.after(n - 1)
		if after == nil {
			kept = join(*last, kept, st.newline)
			*last = nil
		} else if *last == nil {
			*last = hujson.Extra{}
		}
	}
	*l.rest() = join(kept, *l.rest(), st.newline)
	if n == 0 && isSpace(*l.rest()) {
		*l.rest() = nil
	}
}

// dropMember removes the member of o that has the value, unless a comment stands at its colon.
func (st style) dropMember(o *hujson.Object, value hujson.ValueTrimmed) bool {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Value.Value == value })
	if m := &o.Members[i]; !isSpace(m.Name.AfterExtra) || !isSpace(m.Value.BeforeExtra) {
		return false
	}
	st.drop(members{o}, i)
	return true
}

// set gives key of o, which is at p, a value; none removes it.
func (st style) set(o *hujson.Object, p indentation, key string, value hujson.ValueTrimmed) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return name(&m) == key })
	switch {
	case i >= 0 && value == nil:
		st.drop(members{o}, i)
	case i >= 0:
		o.Members[i].Value.Value = value
	case value != nil:
		st.add(o, p, key, func(indentation) hujson.ValueTrimmed { return value })
	}
}

// add appends a member to o, which is at p.
func (st style) add(o *hujson.Object, p indentation, key string, value func(indentation) hujson.ValueTrimmed) {
	before, after, in := st.room(members{o}, p)
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(key)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(st.colon), Value: value(in), AfterExtra: after},
	})
}

// push appends an element to a, which is at p.
func (st style) push(a *hujson.Array, p indentation, value func(indentation) hujson.ValueTrimmed) {
	before, after, in := st.room(elements{a}, p)
	a.Elements = append(a.Elements, hujson.Value{BeforeExtra: before, Value: value(in), AfterExtra: after})
}

// join puts two runs of space and comments together; a line comment at the end of the first one keeps its newline.
func join(a, b hujson.Extra, newline string) hujson.Extra {
	line, _, ok := bytes.Cut(b, []byte("\n"))
	if inLineComment(a) && (!ok || !isSpace(line)) {
		return slices.Concat(a, hujson.Extra(newline), b)
	}
	return slices.Concat(a, b)
}

// cutSpace cuts the space off the end.
func cutSpace(e hujson.Extra) (comments, space hujson.Extra) {
	n := len(bytes.TrimRight(e, " \t\r\n"))
	return e[:n:n], e[n:len(e):len(e)]
}

// indentOf returns the indentation of the line at which e ends; false when e has no newline.
func indentOf(e hujson.Extra) (string, bool) {
	line := -1
	for i := 0; i < len(e); i++ {
		if n := commentLen(e[i:]); n > 0 {
			i += n - 1
			if e[i] != '\n' {
				continue
			}
		}
		if e[i] == '\n' {
			line = i + 1
		}
	}
	if line < 0 {
		return "", false
	}
	rest := e[line:]
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))]), true
}

func isSpace(e hujson.Extra) bool { return len(bytes.TrimLeft(e, " \t\r\n")) == 0 }

// inLineComment reports whether e ends in a line comment that no newline has ended.
func inLineComment(e hujson.Extra) bool {
	for i := 0; i < len(e); i++ {
		n := commentLen(e[i:])
		last := n > 0 && i+n == len(e)
		if last && e[i+1] == '/' && e[len(e)-1] != '\n' {
			return true
		}
		i += max(0, n-1)
	}
	return false
}

// commentLen returns the length of the comment that b begins with, with the newline of a line comment; 0 when b begins
// with none.
func commentLen(b []byte) int {
	if len(b) < 2 || b[0] != '/' {
		return 0
	}
	end := ""
	switch b[1] {
	case '/':
		end = "\n"
	case '*':
		end = "*/"
	default:
		return 0
	}
	if i := bytes.Index(b[2:], []byte(end)); i >= 0 {
		return 2 + i + len(end)
	}
	return len(b)
}

// hasNoComment reports whether v has no comment in it.
func hasNoComment(v *hujson.Value) bool {
	for w := range v.All() {
		inner := hujson.Extra(nil)
		switch c := w.Value.(type) {
		case *hujson.Object:
			inner = c.AfterExtra
		case *hujson.Array:
			inner = c.AfterExtra
		}
		around := w == v || isSpace(w.BeforeExtra) && isSpace(w.AfterExtra)
		if !around || !isSpace(inner) {
			return false
		}
	}
	return true
}
