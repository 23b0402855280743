package find

import (
	"bytes"
	"unicode"

	"rewind/internal/textdiff"
)

// match hands lines on: for each line of the older text, which line that is asked for it is. news are the lines of the newer one that the
// older has not.
func (b *blame) match(then, is []byte, now []int) (older, news []int) {
	if b.anySpace {
		then, is = squeezed(then), squeezed(is)
	}
	// What both begin and end with is most of it.
	head := commonHead(then, is)
	tail := commonTail(then[head:], is[head:])
	a, c := then[head:len(then)-tail], is[head:len(is)-tail]
	same, n, m := bytes.Count(then[:head], newline), countLines(a), countLines(c)
	older = make([]int, same+n+len(now)-same-m)
	copy(older, now[:same])
	copy(older[same+n:], now[same+m:])
	for i := range n {
		older[same+i] = -1
	}
	d := textdiff.Diff(a, c, 0)
	if d.Kind != textdiff.Text {
		d.Hunks = []textdiff.Hunk{{OldStart: 1, OldLines: n, NewStart: 1, NewLines: m}}
	}
	i, j := 0, 0
	for _, h := range append(d.Hunks, textdiff.Hunk{OldStart: n}) {
		from := h.OldStart // lines before the hunk
		if h.OldLines > 0 {
			from--
		}
		for ; i < from; i, j = i+1, j+1 {
			older[same+i] = now[same+j]
		}
		for range h.NewLines {
			news = append(news, same+j)
			j++
		}
		i += h.OldLines
	}
	return older, news
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
