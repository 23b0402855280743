package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrPayload is wrapped by every error of Parse: the payload is not one whole JSON object.
var ErrPayload = errors.New("bad payload")

// scanner reads JSON once, front to back, through a buffer of fixed size. It keeps nothing: what a value says goes to
// the one who asked for it, in pieces. encoding/json holds a whole document and recurses, and a hook's payload may be
// 100 MB or a million levels deep.
//
// Objects that are asked for are read strictly. What is skipped is only read lexically: strings end where they end and
// brackets are counted, not matched. Control characters in strings are taken as they are.
type scanner struct {
	src  io.Reader
	buf  [8 << 10]byte
	r, w int       // buf[r:w] is read and not yet used
	used int64     // bytes of the input before buf[0]
	err  error     // why no more comes; io.EOF at the end
	sum  hash.Hash // unless nil, takes what is used, but for white space between tokens
	char [utf8.UTFMax]byte
}

// fail is the error for the byte that is next.
func (s *scanner) fail(why string) error {
	if s.r == s.w && s.err != nil {
		if s.err != io.EOF {
			return fmt.Errorf("%w: byte %d: %w", ErrPayload, s.used+int64(s.r), s.err)
		}
		why = "ends too early"
	}
	return fmt.Errorf("%w: byte %d: %s", ErrPayload, s.used+int64(s.r), why)
}

// need makes n bytes ready, n at most utf8.UTFMax; false if the input ends before.
func (s *scanner) need(n int) bool {
	for idle := 0; s.w-s.r < n; {
		if s.err != nil {
			return false
		}
		if s.r > 0 {
			s.used += int64(s.r)
			s.w = copy(s.buf[:], s.buf[s.r:s.w])
			s.r = 0
		}
		got, err := s.src.Read(s.buf[s.w:])
		s.w += got
		s.err = err
		if idle++; got > 0 {
			idle = 0
		} else if err == nil && idle == 100 {
			s.err = io.ErrNoProgress
		}
	}
	return true
}

// use takes the next n bytes, which are ready.
func (s *scanner) use(n int) []byte {
	p := s.buf[s.r : s.r+n]
	s.r += n
	if s.sum != nil {
		s.sum.Write(p)
	}
	return p
}

// next skips white space and returns the byte that follows without using it; 0 at the end, which no token begins with.
func (s *scanner) next() byte {
	for s.need(1) {
		switch c := s.buf[s.r]; c {
		case ' ', '\t', '\n', '\r':
			s.r++
		default:
			return c
		}
	}
	return 0
}

// token uses c, or fails.
func (s *scanner) token(c byte) error {
	if s.next() != c {
		return s.fail(fmt.Sprintf("wants %q", c))
	}
	s.use(1)
	return nil
}

// object reads an object; member is called behind each colon and reads the value. The key is valid until then, and cut
// to maxKey bytes.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.token('{'); err != nil {
		return err
	}
	if s.next() == '}' {
		s.use(1)
		return nil
	}
	key := text{limit: maxKey}
	for {
		key.reset()
		if err := s.str(&key); err != nil {
			return err
		}
		if err := s.token(':'); err != nil {
			return err
		}
		if err := member(key.b); err != nil {
			return err
		}
		if s.next() == ',' {
			s.use(1)
			continue
		}
		return s.token('}')
	}
}

// skip reads any value, without recursion.
func (s *scanner) skip() error {
	for depth := 0; ; {
		switch c := s.next(); c {
		case '"':
			if err := s.str(nil); err != nil {
				return err
			}
		case '{', '[':
			s.use(1)
			depth++
		case '}', ']', ',', ':':
			if depth == 0 {
				return s.fail("wants a value")
			}
			s.use(1)
			if c == '}' || c == ']' {
				depth--
			}
		default:
			if s.word() == "" {
				return s.fail("wants a value")
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// word uses a number or a literal and returns how it begins.
func (s *scanner) word() string {
	var b [8]byte
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

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.'
}

// sink takes a string in pieces, each of whole characters.
type sink interface{ add(p []byte) }

// str reads a string into to, which may be nil. Bad UTF-8 and lone surrogates become U+FFFD, as in encoding/json.
func (s *scanner) str(to sink) error {
	if err := s.token('"'); err != nil {
		return err
	}
	for {
		if !s.need(1) {
			return s.fail("")
		}
		if n := plain(s.buf[s.r:s.w], to == nil); n > 0 {
			if p := s.use(n); to != nil {
				to.add(p)
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
		default:
			s.need(utf8.UTFMax) // less only at the end
			_, n := utf8.DecodeRune(s.buf[s.r:s.w])
			p := s.use(n)
			if n == 1 {
				p = replacement
			}
			to.add(p)
		}
	}
}

var replacement = []byte("\uFFFD")

// plain counts the bytes at the front of p that stand for themselves: ASCII, or anything if nobody wants to know.
func plain(p []byte, any bool) int {
	if any {
		if n := bytes.IndexByte(p, '"'); n >= 0 {
			p = p[:n]
		}
		if n := bytes.IndexByte(p, '\\'); n >= 0 {
			p = p[:n]
		}
		return len(p)
	}
	for i, c := range p {
		if c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(p)
}

// escape reads a backslash and what belongs to it.
func (s *scanner) escape(to sink) error {
	s.use(1)
	if !s.need(1) {
		return s.fail("")
	}
	var r rune
	switch c := s.buf[s.r]; c {
	case '"', '\\', '/':
		r = rune(c)
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'u':
		s.use(1)
		return s.unicode(to)
	default:
		return s.fail("unknown escape")
	}
	s.use(1)
	s.emit(to, r)
	return nil
}

// unicode reads the four digits behind \u, and as many more of these as make one character.
func (s *scanner) unicode(to sink) error {
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

func (s *scanner) hex() (rune, error) {
	var r rune
	for range 4 {
		if !s.need(1) {
			return 0, s.fail("")
		}
		c := s.buf[s.r]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, s.fail("wants a hex digit")
		}
		s.use(1)
		r = r<<4 | rune(c)
	}
	return r, nil
}

// emit hands one character on; a lone surrogate is encoded as U+FFFD.
func (s *scanner) emit(to sink, r rune) {
	if to != nil {
		to.add(s.char[:utf8.EncodeRune(s.char[:], r)])
	}
}
