package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize returns untrusted text as one line that is safe to print: whatever
// would move the cursor, start an escape sequence, reorder or hide text becomes
// a visible escape (\n, \x1b, \u202e, \xff for a byte that is not UTF-8). The
// result is for people; it cannot be turned back, [Quote] can.
func Sanitize(s string) string { return sanitize(s, false) }

// SanitizeText is Sanitize for text of several lines: line feeds and tabs stay,
// a carriage return directly before a line feed is dropped.
func SanitizeText(s string) string { return sanitize(s, true) }

func sanitize(s string, multiline bool) string {
	if isPlainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	prev := rune(-1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case multiline && (r == '\n' || r == '\t'):
			b.WriteByte(s[i])
		case multiline && r == '\r' && strings.HasPrefix(s[i+n:], "\n"):
			// The line feed says it all.
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isShown(r) || joins(prev, r, s[i+n:]):
			b.WriteString(s[i : i+n])
		default:
			writeEscape(&b, r)
		}
		prev = r
		i += n
	}
	return b.String()
}

func isPlainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func writeEscape(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// invisible are runes of printable categories that show nothing, or a blank
// that is not a space. Controls, bidi overrides and zero-width spaces are not
// listed: no printable category holds them.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}, // variation selectors supplement
	},
}

// isShown reports whether a rune is printed as itself, wherever it stands.
func isShown(r rune) bool {
	return (unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)) && !unicode.Is(invisible, r)
}

// joins reports whether r is one of the two invisible runes that emoji are made
// of, at a place where it does make one: a presentation selector behind a
// symbol, a zero-width joiner between two symbols.
func joins(prev, r rune, rest string) bool {
	switch r {
	case 0xfe0e, 0xfe0f:
		base := isSymbol(prev) || prev == '#' || prev == '*'
		return base || '0' <= prev && prev <= '9'
	case 0x200d:
		next, _ := utf8.DecodeRuneInString(rest)
		return (isSymbol(prev) || prev == 0xfe0f) && isSymbol(next)
	}
	return false
}

func isSymbol(r rune) bool {
	return r >= 0x2190 && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}
