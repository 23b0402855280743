package textdiff

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Span is a range of bytes of a line.
type Span struct{ Start, End int }

// minCommon is the share, in percent, of the longer line's bytes that two lines
// must have in common for their differences to be worth showing.
const minCommon = 30

// words compares two lines word by word and returns the ranges of each that
// differ, ascending, neither empty nor touching each other. Both are nil when the
// lines have too little in common, are equal or are longer than 4096 bytes.
func words(old, new []byte) (removed, added []Span) {
	if len(old) > maxWordLine || len(new) > maxWordLine || bytes.Equal(old, new) {
		return nil, nil
	}
	a, b := splitWords(old), splitWords(new)
	e := compare(intern(a, b))
	common := 0
	for i, w := range a {
		if !e.old[i] && !isBlank(w) {
			common += len(w)
		}
	}
	if common*100 < max(len(bytes.TrimSpace(old)), len(bytes.TrimSpace(new)))*minCommon {
		return nil, nil
	}
	return spans(a, e.old), spans(b, e.new)
}

// Spans returns, for every line of the hunk, what [Words] finds between it and
// its partner: lines are paired in order where a run of removed lines is
// followed by as many added ones. Other lines have nil.
func (h Hunk) Spans() [][]Span {
	out := make([][]Span, len(h.Lines))
	for i := 0; i < len(h.Lines); {
		minus := run(h.Lines[i:], '-')
		plus := run(h.Lines[i+minus:], '+')
		if minus == plus {
			for k := i; k < i+minus; k++ {
				out[k], out[k+minus] = words(h.Lines[k].Text, h.Lines[k+minus].Text)
			}
		}
		i += max(minus+plus, 1)
	}
	return out
}

func run(lines []Line, op Op) int {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return n
}

// spans joins marked words, over blanks between them too.
func spans(words [][]byte, marks []bool) []Span {
	var out []Span
	at, last := 0, 0 // offset; number of the last marked word
	for i, w := range words {
		if marks[i] {
			joined := len(out) > 0 && (last == i-1 || last == i-2 && isBlank(words[i-1]))
			if joined {
				out[len(out)-1].End = at + len(w)
			} else {
				out = append(out, Span{at, at + len(w)})
			}
			last = i
		}
		at += len(w)
	}
	return out
}

// splitWords cuts a line into words (letters, digits, underscores), runs of
// blanks, and single other characters.
func splitWords(line []byte) [][]byte {
	var out [][]byte
	for len(line) > 0 {
		first, n := class(line)
		for n < len(line) && first != other {
			c, k := class(line[n:])
			if c != first {
				break
			}
			n += k
		}
		out = append(out, line[:n])
		line = line[n:]
	}
	return out
}

type wordClass byte

const (
	other wordClass = iota
	blank
	word
)

func class(b []byte) (wordClass, int) {
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n == 1:
		return other, 1
	case r == ' ' || r == '\t':
		return blank, n
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
		return word, n
	}
	return other, n
}

func isBlank(w []byte) bool { return len(w) > 0 && (w[0] == ' ' || w[0] == '\t') }
