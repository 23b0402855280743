package guard

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// A call is what a payload says of a tool call.
type call struct {
	tool, cwd string
	paths     []string // file_path, path, notebook_path
	commands  []string // command, cmd, script, input: a script of a shell, or a patch
	words     []string // of a command that is a list: the words of one command
}

// parseCall reads a payload; not ok: it is no JSON object. Of equal keys the last counts.
func parseCall(payload []byte) (c call, ok bool) {
	r := &reader{b: payload}
	if len(payload) >= 3 && string(payload[:3]) == "\xef\xbb\xbf" {
		r.at = 3
	}
	ok = r.object(func(key string) bool {
		switch key {
		case "tool_name":
			return r.text(&c.tool)
		case "cwd":
			return r.text(&c.cwd)
		case "tool_input":
			c.paths, c.commands, c.words = nil, nil, nil
			if r.next() != '{' {
				return r.skip(0)
			}
			return r.object(func(key string) bool { return c.member(r, key) })
		}
		return r.skip(0)
	})
	return c, ok
}

func (c *call) member(r *reader, key string) bool {
	var s string
	switch key {
	case "file_path", "path", "notebook_path":
		ok := r.text(&s)
		if s != "" {
			c.paths = append(c.paths, s)
		}
		return ok
	case "command", "cmd", "script", "input":
		if r.next() == '[' {
			var words []string
			ok := r.array(func() bool {
				var w string
				ok := r.text(&w)
				words = append(words, w)
				return ok
			})
			c.words = words
			return ok
		}
		ok := r.text(&s)
		if s != "" {
			c.commands = append(c.commands, s)
		}
		return ok
	}
	return r.skip(0)
}

const maxDepth = 1000 // of what is skipped

// A reader reads JSON front to back. Its methods report whether what they read was there.
type reader struct {
	b  []byte
	at int
}

// next skips white space and gives the byte that follows; 0 at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.b); r.at++ {
		switch c := r.b[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) token(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

func (r *reader) object(member func(key string) bool) bool {
	if !r.token('{') {
		return false
	}
	if r.token('}') {
		return true
	}
	for {
		key, ok := r.str()
		if !ok || !r.token(':') || !member(key) {
			return false
		}
		if !r.token(',') {
			return r.token('}')
		}
	}
}

func (r *reader) array(element func() bool) bool {
	if !r.token('[') {
		return false
	}
	if r.token(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if !r.token(',') {
			return r.token(']')
		}
	}
}

// text reads a string into to; another value empties it.
func (r *reader) text(to *string) bool {
	*to = ""
	if r.next() != '"' {
		return r.skip(0)
	}
	s, ok := r.str()
	*to = s
	return ok
}

func (r *reader) skip(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch r.next() {
	case '"':
		_, ok := r.str()
		return ok
	case '{':
		return r.object(func(string) bool { return r.skip(depth + 1) })
	case '[':
		return r.array(func() bool { return r.skip(depth + 1) })
	}
	from := r.at
	for r.at < len(r.b) {
		switch r.b[r.at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n', '"', ':', '{', '[':
			return r.at > from
		}
		r.at++
	}
	return r.at > from
}

// str reads a string. Lone surrogates become U+FFFD; bytes stay as they are.
func (r *reader) str() (string, bool) {
	if !r.token('"') {
		return "", false
	}
	from := r.at
	for r.at < len(r.b) && r.b[r.at] != '"' && r.b[r.at] != '\\' {
		r.at++
	}
	out := append([]byte(nil), r.b[from:r.at]...)
	for r.at < len(r.b) {
		c := r.b[r.at]
		r.at++
		switch c {
		case '"':
			return string(out), true
		case '\\':
			var ok bool
			if out, ok = r.escape(out); !ok {
				return "", false
			}
		default:
			out = append(out, c)
		}
	}
	return "", false
}

func (r *reader) escape(out []byte) ([]byte, bool) {
	if r.at == len(r.b) {
		return out, false
	}
	c := r.b[r.at]
	r.at++
	switch c {
	case 'n':
		return append(out, '\n'), true
	case 't':
		return append(out, '\t'), true
	case 'r':
		return append(out, '\r'), true
	case 'b':
		return append(out, '\b'), true
	case 'f':
		return append(out, '\f'), true
	case '"', '\\', '/':
		return append(out, c), true
	case 'u':
		return r.character(out)
	}
	return out, false
}

// character reads what stands behind \u: a character, or the first half of one with the second behind it.
func (r *reader) character(out []byte) ([]byte, bool) {
	n, ok := r.hex()
	if !ok {
		return out, false
	}
	high := n >= 0xd800 && n < 0xdc00
	if high && bytes.HasPrefix(r.b[r.at:], []byte(`\u`)) {
		back := r.at
		r.at += 2
		low, ok := r.hex()
		if !ok {
			return out, false
		}
		if low >= 0xdc00 && low < 0xe000 {
			return utf8.AppendRune(out, (n-0xd800)<<10+(low-0xdc00)+0x10000), true
		}
		r.at = back
	}
	return utf8.AppendRune(out, n), true
}

func (r *reader) hex() (rune, bool) {
	if r.at+4 > len(r.b) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(r.b[r.at:r.at+4]), 16, 16)
	r.at += 4
	return rune(n), err == nil
}
