package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Skip reads any value, without recursion.
func (s *Scanner) Skip() error {
	for depth := 0; ; {
		if depth > 0 {
			depth = s.skim(depth)
		}
		switch c := s.Next(); c {
		case '"':
			if err := s.Str(nil); err != nil {
				return err
			}
		case '{', '[':
			s.use(1)
			depth++
		case '}', ']', ',', ':':
			if depth == 0 {
				return s.Fail("wants a value")
			}
			s.use(1)
			if c == '}' || c == ']' {
				depth--
			}
		default:
			if s.Word() == "" {
				return s.Fail("wants a value")
			}
		}
		if depth == 0 {
			return nil
		}
	}
}

// skim skips tokens inside of depth brackets as far as that goes within the buffer, and returns the brackets that are
// open behind them. It stops at whatever needs a closer look, and in front of the last bracket.
func (s *Scanner) skim(depth int) int {
	p := s.buf[:s.end]
	i := s.r
	for i < len(p) {
		switch class[p[i]] {
		case plainByte:
			i++
			continue
		case white:
			if s.Sum == nil {
				i++
				continue
			}
		case opens:
			depth++
			i++
			continue
		case closes:
			if depth > 1 {
				depth--
				i++
				continue
			}
		case quote:
			if n := wholeString(p, i); n > 0 {
				i = n
				continue
			}
		}
		break
	}
	if i > s.r {
		s.use(i - s.r)
	}
	return depth
}

// wholeString is where the string that begins at p[i] ends, or 0 if it needs a closer look: it does not end in p, or
// has an escape that is none.
func wholeString(p []byte, i int) int {
	for i++; i < len(p); {
		if p[i] == '"' {
			return i + 1
		}
		if p[i] != '\\' {
			i += plainAny(p[i:])
			continue
		}
		if i+6 > len(p) {
			return 0
		}
		switch {
		case shortEscape[p[i+1]] != 0:
			i += 2
		case p[i+1] == 'u' && isHex(p[i+2]) && isHex(p[i+3]) && isHex(p[i+4]) && isHex(p[i+5]):
			i += 6
		default:
			return 0
		}
	}
	return 0
}

// What a byte outside of strings is to skim.
const (
	strange   byte = iota
	plainByte      // of a number or a literal, or between values
	white
	opens
	closes
	quote
)

var class = func() (t [256]byte) {
	for c := range t {
		if isWord(byte(c)) || c == ',' || c == ':' {
			t[c] = plainByte
		}
	}
	for _, c := range " \t\n\r" {
		t[c] = white
	}
	t['{'], t['['], t['}'], t[']'], t['"'] = opens, opens, closes, closes, quote
	return t
}()

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.'
}

const ones, tops = 0x0101010101010101, 0x8080808080808080

// special marks, in its top bit, the first byte of x that is a quote or a backslash; marks above the first one may be
// wrong.
func special(x uint64) uint64 {
	q, b := x^ones*'"', x^ones*'\\'
	return ((q-ones)&^q | (b-ones)&^b) & tops
}

// plainAny counts the bytes at the front of p that are neither quote nor backslash.
func plainAny(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		if m := special(binary.LittleEndian.Uint64(p[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(p) && p[i] != '"' && p[i] != '\\'; i++ {
	}
	return i
}

// plainASCII is plainAny, and stops at what is not ASCII too.
func plainASCII(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x := binary.LittleEndian.Uint64(p[i:])
		if m := special(x) | x&tops; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(p) && p[i] != '"' && p[i] != '\\' && p[i] < 0x80; i++ {
	}
	return i
}
