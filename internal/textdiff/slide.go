package textdiff

import "bytes"

// slide moves a change whose place is ambiguous to where a reader expects it: in
// "}, blank, func b, }" added after another function, the added lines should
// begin at func, not at the brace. The script stays as long as it was.
func (e *script) slide(a, b [][]byte) {
	slideSide(a, e.old, e.new)
	slideSide(b, e.new, e.old)
}

// slideSide moves the runs of marked lines of one side. A run may move by a line
// where the line that it loses equals the one that it gains: the unmarked lines
// then read as before. o is the place on the other side where the run stands; a
// run beside a change there is a replacement and stays, and none moves past one.
func slideSide(lines [][]byte, marks, other []bool) {
	sl := &slider{lines, marks, other}
	o := 0
	for s := 0; s < len(marks); s++ {
		if !marks[s] {
			for o < len(other) && other[o] {
				o++
			}
			o++
			continue
		}
		end := s
		for end < len(marks) && marks[end] {
			end++
		}
		if sl.replaces(o) {
			s = end - 1
			continue
		}
		by := sl.best(s, end, o)
		for i := s; i < end; i++ {
			marks[i] = false
		}
		for i := s + by; i < end+by; i++ {
			marks[i] = true
		}
		// Go on behind the run where it stands now; o follows the lines that
		// matched on the way.
		o += by
		s = end + by - 1
	}
}

// slider is one side of which runs are moved.
type slider struct {
	lines        [][]byte
	marks, other []bool
}

// replaces reports whether a run that stands at o on the other side is beside a change there.
func (sl *slider) replaces(o int) bool {
	return sl.isMarked(o) || sl.isMarked(o-1)
}

func (sl *slider) isMarked(o int) bool { return o >= 0 && o < len(sl.other) && sl.other[o] }

func (sl *slider) isFree(o int) bool { return o >= 0 && o < len(sl.other) && !sl.other[o] }

// best is by how many lines the run from s to end is moved.
func (sl *slider) best(s, end, o int) int {
	up := 0
	for up < maxSlide && sl.movesUp(s-up, end-up, o-up) {
		up++
	}
	down := 0
	for down < maxSlide && sl.movesDown(s+down, end+down, o+down) {
		down++
	}
	best, bestCost := 0, 1<<30
	for k := -up; k <= down; k++ {
		if c := cost(sl.lines, s+k, end+k); c <= bestCost {
			best, bestCost = k, c
		}
	}
	return best
}

func (sl *slider) movesUp(s, end, o int) bool {
	if s <= 0 || sl.marks[s-1] {
		return false
	}
	return sl.isFree(o-1) && bytes.Equal(sl.lines[s-1], sl.lines[end-1])
}

func (sl *slider) movesDown(s, end, o int) bool {
	if end >= len(sl.marks) || sl.marks[end] {
		return false
	}
	return sl.isFree(o) && bytes.Equal(sl.lines[s], sl.lines[end])
}

const (
	maxIndent   = 80 // columns
	maxSlide    = 50 // lines a run is moved at most, either way
	maxBlank    = 20 // empty lines looked over for the next indentation
	closerCost  = 5
	noBlankCost = 1
)

// cost judges the run [s, end): low where both of its ends lie at little
// indentation, before the opening of something rather than at its close, and
// behind an empty line.
func cost(lines [][]byte, s, end int) int {
	c := 2*edge(lines, s) + 2*edge(lines, end)
	if s > 0 && len(bytes.TrimSpace(lines[s-1])) > 0 {
		c += noBlankCost
	}
	return c
}

// edge is the cost of a boundary before line i: the indentation of the next line
// that is not blank.
func edge(lines [][]byte, i int) int {
	for stop := min(len(lines), i+maxBlank); i < stop; i++ {
		text := bytes.TrimLeft(lines[i], " \t")
		rest := bytes.TrimSpace(text)
		if len(rest) == 0 {
			continue
		}
		n := 0
		for _, ch := range lines[i][:len(lines[i])-len(text)] {
			if ch == '\t' {
				n += 8
			} else {
				n++
			}
		}
		n = min(n, maxIndent)
		if bytes.IndexByte([]byte("})]"), rest[0]) >= 0 || bytes.Equal(rest, []byte("end")) {
			n += closerCost
		}
		return n
	}
	return 0
}
