// Package jsonscan reads JSON once, front to back, through a buffer of fixed size. It keeps nothing: what a value says
// goes to the one who asks for it, in pieces. encoding/json holds a whole document and recurses, and what agents write
// may be 100 MB or a million levels deep.
//
// Objects and arrays that are asked for are read strictly. What is skipped is only read lexically: strings end where
// they end and brackets are counted, not matched. Control characters in strings are taken as they are.
package jsonscan

import (
	"bytes"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"
)

// MaxKey is the length, in bytes, to which keys are cut: longer than every key that anybody looks for.
const MaxKey = 32

// minBuffer is the smallest buffer: every token that is read at once fits.
const minBuffer = 64

// Error says where JSON is none, or could not be read. It wraps the reader's error, if that is the cause.
type Error struct {
	offset int64 // bytes of the input before the one that is wrong
	why    string
	cause  error
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("byte %d: %v", e.offset, e.cause)
	}
	return fmt.Sprintf("byte %d: %s", e.offset, e.why)
}

func (e *Error) Unwrap() error { return e.cause }

// Scanner reads one input. It is not safe for concurrent use.
type Scanner struct {
	Sum hash.Hash // unless nil, takes what is read, but for white space between tokens

	src   io.Reader
	buf   []byte
	r, w  int   // buf[r:w] is read and not yet used
	end   int   // buf[r:end] may be used: up to w, or to the newline that ends the line
	used  int64 // bytes of the input before buf[0]
	err   error // why no more comes; io.EOF at the end
	lines bool  // a newline ends what can be read, until Line is called
	eol   bool  // buf[end] is that newline
	key   Text
	char  [utf8.UTFMax]byte
}

// New reads src through a buffer of size bytes. offset is what Offset says at the beginning.
func New(src io.Reader, size int, offset int64) *Scanner {
	return &Scanner{src: src, buf: make([]byte, max(size, minBuffer)), used: offset, key: Text{Limit: MaxKey}}
}

// Offset is the place in the input of the next byte that is read.
func (s *Scanner) Offset() int64 { return s.used + int64(s.r) }

// Fail is the error for the byte that is next.
func (s *Scanner) Fail(why string) error {
	e := &Error{offset: s.Offset(), why: why}
	if s.r == s.end && (s.eol || s.err != nil) {
		e.why = "ends too early"
		if !s.eol && s.err != io.EOF {
			e.cause = s.err
		}
	}
	return e
}

// Line makes the next line, without its newline, the whole of what can be read: whatever is wrong with it, the next one
// is read as if nothing had been. What is left of the line before is skipped. It is false at the end of the input; Err
// says why that is.
func (s *Scanner) Line() bool {
	s.EndLine()
	s.lines = true
	s.limit(s.r)
	return s.need(1) || s.eol
}

// EndLine skips what is left of the line with its newline, and says whether there was one: the last line of an input
// may have none.
func (s *Scanner) EndLine() bool {
	if !s.lines {
		return false
	}
	for !s.eol {
		s.r = s.end
		if !s.need(1) && !s.eol {
			return false
		}
	}
	s.r = s.end + 1
	s.lines, s.eol, s.end = false, false, s.w
	return true
}

// Err is why reading ended; nil at the end of the input and before.
func (s *Scanner) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// AtEnd says whether nothing but white space is left, of the line if there are lines.
func (s *Scanner) AtEnd() bool {
	s.Next()
	return s.r == s.end && (s.eol || s.err == io.EOF)
}

// Prefix skips mark if the input goes on with it; mark is at most utf8.UTFMax bytes.
func (s *Scanner) Prefix(mark string) {
	if s.need(len(mark)) && string(s.buf[s.r:s.r+len(mark)]) == mark {
		s.r += len(mark)
	}
}

// limit finds where the line ends in what is there behind from.
func (s *Scanner) limit(from int) {
	s.end = s.w
	if !s.lines {
		return
	}
	if n := bytes.IndexByte(s.buf[from:s.w], '\n'); n >= 0 {
		s.end, s.eol = from+n, true
	}
}

// need makes n bytes ready, n at most minBuffer; false if the input or the line ends before.
func (s *Scanner) need(n int) bool {
	if s.end-s.r >= n {
		return true
	}
	return s.fill(n)
}

func (s *Scanner) fill(n int) bool {
	for idle := 0; s.end-s.r < n; {
		if s.eol || s.err != nil {
			return false
		}
		if s.r > 0 {
			s.used += int64(s.r)
			s.w = copy(s.buf, s.buf[s.r:s.w])
			s.r = 0
		}
		from := s.w
		got, err := s.src.Read(s.buf[s.w:])
		s.w += got
		s.err = err
		s.limit(from)
		if idle++; got > 0 {
			idle = 0
		} else if err == nil && idle == 100 {
			s.err = io.ErrNoProgress
		}
	}
	return true
}

// use takes the next n bytes, which are ready.
func (s *Scanner) use(n int) []byte {
	p := s.buf[s.r : s.r+n]
	s.r += n
	if s.Sum != nil {
		s.sum(p)
	}
	return p
}

func (s *Scanner) sum(p []byte) { s.Sum.Write(p) }

// Next skips white space and returns the byte that follows without using it; 0 at the end, which no token begins with.
func (s *Scanner) Next() byte {
	for s.r < s.end || s.need(1) {
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
func (s *Scanner) token(c byte) error {
	if s.Next() != c {
		return s.Fail(fmt.Sprintf("wants %q", c))
	}
	s.use(1)
	return nil
}

// Object reads an object; member is called behind each colon and reads the value. The key is valid until the scanner is
// used, and cut to MaxKey bytes.
func (s *Scanner) Object(member func(key []byte) error) error {
	if err := s.token('{'); err != nil {
		return err
	}
	if s.Next() == '}' {
		s.use(1)
		return nil
	}
	for {
		key, err := s.member()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if s.Next() == ',' {
			s.use(1)
			continue
		}
		return s.token('}')
	}
}

// member reads a key and its colon.
func (s *Scanner) member() ([]byte, error) {
	if s.Next() == '"' {
		p := s.buf[s.r+1 : min(s.end, s.r+MaxKey+3)]
		if n := plainASCII(p); n+1 < len(p) && p[n] == '"' && p[n+1] == ':' {
			s.use(n + 3)
			return p[:n], nil
		}
	}
	s.key.Reset()
	if err := s.Str(&s.key); err != nil {
		return nil, err
	}
	return s.key.B, s.token(':')
}

// Array reads an array; element is called in front of each value, which it reads, with the number of those before it.
func (s *Scanner) Array(element func(i int) error) error {
	if err := s.token('['); err != nil {
		return err
	}
	if s.Next() == ']' {
		s.use(1)
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if s.Next() == ',' {
			s.use(1)
			continue
		}
		return s.token(']')
	}
}
