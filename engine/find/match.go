package find

import (
	"bytes"
	"slices"
	"unicode"

	"rewind/internal/textdiff"
)

// A handing is what becomes of lines as a text goes back to the one before it: which of its lines that has, and where.
type handing struct {
	first, n int   // the lines between what both texts begin and end with alike
	mid      []int // what the older text has instead: which lines they are; -1: others
	news     []int // the lines that the older text has not
}

// over gives what now is for the older text. It may write to now.
func (h handing) over(now []int) []int { return slices.Replace(now, h.first, h.first+h.n, h.mid...) }

// match hands lines on: now says for each line of the newer text which line that is asked for it is.
func (b *blame) match(then, is []byte, now []int) handing {
	if b.anySpace {
		then, is = squeezed(then), squeezed(is)
	}
	// What both begin and end with is most of it.
	head := commonHead(then, is)
	tail := commonTail(then[head:], is[head:])
	a, c := then[head:len(then)-tail], is[head:len(is)-tail]
	h := handing{first: bytes.Count(then[:head], newline), n: countLines(c), mid: make([]int, countLines(a))}
	for i := range h.mid {
		h.mid[i] = none
	}
	d := textdiff.Diff(a, c, 0)
	if d.Kind != textdiff.Text {
		d.Hunks = []textdiff.Hunk{{OldStart: 1, OldLines: len(h.mid), NewStart: 1, NewLines: h.n}}
	}
	i, j := 0, h.first
	for _, hunk := range append(d.Hunks, textdiff.Hunk{OldStart: len(h.mid)}) {
		from := hunk.OldStart // lines before the hunk
		if hunk.OldLines > 0 {
			from--
		}
		for ; i < from; i, j = i+1, j+1 {
			h.mid[i] = now[j]
		}
		for range hunk.NewLines {
			h.news = append(h.news, j)
			j++
		}
		i += hunk.OldLines
	}
	return h
}

// commonHead is how many bytes of whole lines two texts begin with alike.
func commonHead(a, b []byte) int {
	n := 0
	for most := min(len(a), len(b)); n < most; {
		step := min(most-n, 4096)
		if bytes.Equal(a[n:n+step], b[n:n+step]) {
			n += step
			continue
		}
		for a[n] == b[n] {
			n++
		}
		break
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonTail is how many bytes of whole lines two texts, each of which begins with a line, end with alike.
func commonTail(a, b []byte) int {
	n := 0
	for most := min(len(a), len(b)); n < most; {
		step := min(most-n, 4096)
		if bytes.Equal(a[len(a)-n-step:len(a)-n], b[len(b)-n-step:len(b)-n]) {
			n += step
			continue
		}
		for a[len(a)-1-n] == b[len(b)-1-n] {
			n++
		}
		break
	}
	if n == len(a) && n == len(b) || n == len(a) && b[len(b)-n-1] == '\n' || n == len(b) && a[len(a)-n-1] == '\n' {
		return n // all of the one is whole lines of the other
	}
	if i := bytes.IndexByte(a[len(a)-n:], '\n'); i >= 0 {
		return n - i - 1
	}
	return 0
}

func countLines(b []byte) int {
	n := bytes.Count(b, newline)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

func splitLines(content []byte) (lines [][]byte) {
	for len(content) > 0 {
		var line []byte
		line, content = cutLine(content)
		lines = append(lines, line)
	}
	return lines
}

// squeezed is a text without the white space in its lines.
func squeezed(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		if c == '\n' || c >= 0x80 || !unicode.IsSpace(rune(c)) {
			out = append(out, c)
		}
	}
	return out
}
