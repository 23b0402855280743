package jsonscan

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sink takes a string in pieces, each of whole characters.
type Sink interface{ Add(p []byte) }

// full is a Sink that may have enough before a string's end: nothing more is given to it then.
type full interface{ Full() bool }

// Text keeps the beginning of a string.
type Text struct {
	Limit int // bytes
	B     []byte
	Cut   bool // there is more
}

// Reset makes the text empty.
func (t *Text) Reset() { t.B, t.Cut = t.B[:0], false }

// Add appends what fits, in whole characters, as Fit.
func (t *Text) Add(p []byte) {
	if t.Cut {
		return
	}
	n := runes(p, t.Limit-len(t.B))
	t.B = append(t.B, p[:n]...)
	if t.Cut = n < len(p); t.Cut {
		t.B = whole(t.B, p[n:])
	}
}

func (t *Text) String() string { return string(t.B) }

// Fit returns the beginning of p, at most n bytes, in whole characters as a person counts them. It cuts no accent from
// its letter, and no part from a composed emoji.
func Fit(p []byte, n int) []byte {
	if n = runes(p, n); n == len(p) {
		return p
	}
	return whole(p[:n], p[n:])
}

// runes is how many bytes at the front of p, at most n, are whole runes.
func runes(p []byte, n int) int {
	if len(p) <= n {
		return len(p)
	}
	for n > 0 && !utf8.RuneStart(p[n]) {
		n--
	}
	return n
}

// maxCluster bounds in bytes what is taken for one character, and how much of a text is looked at for one: a longer
// pile of marks is cut anywhere.
const maxCluster = 64

// whole is b without the part of a character at its end that goes on in rest.
func whole(b, rest []byte) []byte {
	at := max(0, len(b)-maxCluster)
	for at < len(b) && !utf8.RuneStart(b[at]) {
		at++
	}
	from, near := at, slices.Concat(b[at:], rest[:min(len(rest), maxCluster)])
	for state := -1; at < len(b); {
		var one []byte
		if one, near, _, state = uniseg.FirstGraphemeCluster(near, state); at+len(one) > len(b) {
			break
		}
		at += len(one)
	}
	if at == from { // one character, as far as it is looked at
		at = len(b)
	}
	return b[:at]
}

// Str reads a string into to, which may be nil. Bad UTF-8 and lone surrogates become U+FFFD, as in encoding/json.
func (s *Scanner) Str(to Sink) error {
	if s.Next() != '"' {
		return s.token('"')
	}
	if n := 1 + s.plain(1, to == nil); s.r+n < s.end && s.buf[s.r+n] == '"' { // nearly every string
		if p := s.use(n + 1); to != nil && n > 1 {
			to.Add(p[1:n])
		}
		return nil
	}
	s.use(1)
	for {
		if !s.need(1) {
			return s.Fail("")
		}
		if f, ok := to.(full); ok && f.Full() {
			to = nil
		}
		if n := s.plain(0, to == nil); n > 0 {
			if p := s.use(n); to != nil {
				to.Add(p)
			}
			continue
		}
		switch s.buf[s.r] {
		case '"':
			s.use(1)
			return nil
		case '\\':
			if err := s.escape(to); err != nil {
				return err
			}
		default: // bad UTF-8, or it goes on behind the buffer
			to.Add(s.wide())
		}
	}
}

// wide reads a character of more than one byte; what is none is one byte, and is U+FFFD.
func (s *Scanner) wide() []byte {
	s.need(utf8.UTFMax) // less only at the end
	_, n := utf8.DecodeRune(s.buf[s.r:s.end])
	p := s.use(n)
	if n == 1 {
		return replacement
	}
	return p
}

var replacement = []byte("\uFFFD")

// plain counts the bytes that are ready, behind the next skip ones, and stand for themselves: whole characters, or
// anything if nobody wants to know.
func (s *Scanner) plain(skip int, anything bool) int {
	p := s.buf[s.r+skip : s.end]
	if anything {
		return plainAny(p)
	}
	n := plainASCII(p)
	for n < len(p) && p[n] >= utf8.RuneSelf {
		_, size := utf8.DecodeRune(p[n:])
		if size == 1 {
			break
		}
		n += size
		n += plainASCII(p[n:])
	}
	return n
}

// shortEscape is what the byte behind a backslash stands for; 0 if it is none of those.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads a backslash and what belongs to it.
func (s *Scanner) escape(to Sink) error {
	s.use(1)
	if !s.need(1) {
		return s.Fail("")
	}
	c := s.buf[s.r]
	if c == 'u' {
		s.use(1)
		return s.unicode(to)
	}
	if shortEscape[c] == 0 {
		return s.Fail("unknown escape")
	}
	s.use(1)
	s.emit(to, rune(shortEscape[c]))
	return nil
}

// unicode reads the four digits behind \u, and as many more of these as make one character.
func (s *Scanner) unicode(to Sink) error {
	r, err := s.hex()
	if err != nil {
		return err
	}
	for utf16.IsSurrogate(r) {
		if !s.need(2) || s.buf[s.r] != '\\' || s.buf[s.r+1] != 'u' {
			break
		}
		s.use(2)
		low, err := s.hex()
		if err != nil {
			return err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			s.emit(to, pair)
			return nil
		}
		s.emit(to, utf8.RuneError)
		r = low
	}
	s.emit(to, r)
	return nil
}

func (s *Scanner) hex() (rune, error) {
	var r rune
	for range 4 {
		if !s.need(1) {
			return 0, s.Fail("")
		}
		c := s.buf[s.r]
		if !isHex(c) {
			return 0, s.Fail("wants a hex digit")
		}
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		s.use(1)
		r = r<<4 | rune(c)
	}
	return r, nil
}

func isHex(c byte) bool {
	digit := '0' <= c && c <= '9'
	small, large := 'a' <= c && c <= 'f', 'A' <= c && c <= 'F'
	return digit || small || large
}

// emit hands one character on; a lone surrogate is encoded as U+FFFD.
func (s *Scanner) emit(to Sink, r rune) {
	if to != nil {
		to.Add(s.char[:utf8.EncodeRune(s.char[:], r)])
	}
}

// Word uses a number or a literal and returns how it begins; "" if there is none.
func (s *Scanner) Word() string {
	var b [24]byte
	s.Next()
	for n := 0; ; n++ {
		if !s.need(1) || !isWord(s.buf[s.r]) {
			return string(b[:min(n, len(b))])
		}
		c := s.use(1)[0]
		if n < len(b) {
			b[n] = c
		}
	}
}
