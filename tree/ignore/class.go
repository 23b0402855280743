package ignore

import "strings"

// class reads a bracket expression at the start of p: [abc], [a-z], [!x] or [^x], [[:alpha:]], with \ before any byte
// to take it as it is, and ] as a member when it comes first. It gives the set without the slash, and the length read.
// ok is false for one without an end or with an unknown [:name:]. Under fold the set is asked about lowered bytes only:
// as in git, a range and [:upper:] then match both cases, but a single capital in a set matches nothing.
func class(p string, fold bool) (*set, int, bool) {
	c := classReader{p: p, i: 1, fold: fold}
	negate := c.i < len(p) && (p[c.i] == '!' || p[c.i] == '^')
	if negate {
		c.i++
	}
	for first := true; ; first = false {
		if c.i >= len(p) {
			return nil, 0, false
		}
		if p[c.i] == ']' && !first {
			break
		}
		if !c.member() {
			return nil, 0, false
		}
	}
	if negate {
		for i := range c.in {
			c.in[i] = ^c.in[i]
		}
	}
	c.in['/'>>5] &^= 1 << ('/' & 31)
	return &c.in, c.i + 1, true
}

type classReader struct {
	p    string
	i    int
	fold bool
	in   set
	prev byte // the member before, from which a range can start; 0: none
}

// member reads one member and leaves i after it.
func (c *classReader) member() bool {
	switch b := c.p[c.i]; {
	case b == '-' && c.prev != 0 && c.i+1 < len(c.p) && c.p[c.i+1] != ']':
		c.i++
		hi, ok := c.byte()
		if !ok {
			return false
		}
		c.span(c.prev, hi)
		c.prev = 0
		return true
	case b == '[' && strings.HasPrefix(c.p[c.i+1:], ":"):
		return c.named()
	default:
		b, ok := c.byte()
		if !ok {
			return false
		}
		c.in.add(b)
		c.prev = b
		return true
	}
}

// byte reads a byte that a backslash may precede.
func (c *classReader) byte() (byte, bool) {
	if c.p[c.i] == '\\' {
		c.i++
	}
	if c.i >= len(c.p) {
		return 0, false
	}
	c.i++
	return c.p[c.i-1], true
}

func (c *classReader) span(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		c.in.add(byte(b))
		if c.fold {
			c.in.add(lower(byte(b)))
		}
	}
}

// named reads [:name:]; what does not end so is a plain [.
func (c *classReader) named() bool {
	start := c.i + 2
	n := strings.IndexByte(c.p[start:], ']')
	if n < 0 {
		return false
	}
	name, ok := strings.CutSuffix(c.p[start:start+n], ":")
	if !ok {
		c.in.add('[')
		c.prev = '['
		c.i++
		return true
	}
	is, ok := classes[name]
	if !ok {
		return false
	}
	for b := range 128 {
		if is(byte(b)) || c.fold && name == "upper" && isLower(byte(b)) {
			c.in.add(byte(b))
		}
	}
	c.i = start + n + 1
	c.prev = 0
	return true
}

// classes are the POSIX classes as git has them: ASCII whatever the locale, and no vertical tab or form feed among the
// spaces.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < 0x20 || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(c byte) bool { return isGraph(c) || c == ' ' },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' },
	"upper":  func(c byte) bool { return isAlpha(c) && !isLower(c) },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= lower(c) && lower(c) <= 'f' },
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isAlpha(c byte) bool { return isLower(lower(c)) }
func isGraph(c byte) bool { return 0x20 < c && c < 0x7f }
