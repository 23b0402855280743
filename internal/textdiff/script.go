package textdiff

import (
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// script marks the lines (or words) of each side that have no partner on the
// other; the unmarked ones of both sides match in order.
type script struct {
	old, new []bool
}

func (e *script) removed(i int) bool { return i < len(e.old) && e.old[i] }
func (e *script) added(j int) bool   { return j < len(e.new) && e.new[j] }

// intern gives equal tokens equal numbers, counted from 0 without gaps.
func intern(a, b [][]byte) (x, y []int) {
	ids := make(map[string]int, len(a)+len(b)/4)
	number := func(tokens [][]byte) []int {
		out := make([]int, len(tokens))
		for i, t := range tokens {
			id, ok := ids[string(t)]
			if !ok {
				id = len(ids)
				ids[string(t)] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

// compare finds the script between two interned sequences. Common head and tail
// and tokens that only one side has are settled first: they cannot change what
// a minimal script is, and leave little to search in real edits.
func compare(x, y []int) *script {
	e := &script{old: make([]bool, len(x)), new: make([]bool, len(y))}
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	mx, my := x[head:len(x)-tail], y[head:len(y)-tail]
	inX, inY := set(mx), set(my)
	rx, px := keep(mx, inY, e.old[head:])
	ry, py := keep(my, inX, e.new[head:])

	i, j := 0, 0
	for _, piece := range search(rx, ry) {
		n := utf8.RuneCountInString(piece.Text)
		switch piece.Type {
		case diffmatchpatch.DiffEqual:
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			for ; n > 0; n-- {
				e.old[head+px[i]] = true
				i++
			}
		case diffmatchpatch.DiffInsert:
			for ; n > 0; n-- {
				e.new[head+py[j]] = true
				j++
			}
		}
	}
	return e
}

// search asks the library, which turns each piece of its answer into a string:
// the kind and the number of runes are what counts. Its own time limit brings
// shortcuts along that lengthen the script and are themselves unbounded on
// repetitive texts (20 s on 100,000 empty lines); its inner search takes a
// deadline without them.
func search(x, y []rune) []diffmatchpatch.Diff {
	var d diffmatchpatch.DiffMatchPatch
	if len(x)+len(y) < 3 { // DiffBisect panics
		return d.DiffMainRunes(x, y, false)
	}
	return d.DiffBisect(string(x), string(y), time.Now().Add(timeBound))
}

func set(ids []int) map[int]bool {
	m := make(map[int]bool, len(ids))
	for _, id := range ids {
		m[id] = true
	}
	return m
}

// keep returns, as runes, the tokens that the other side has too, and where they
// were; the others are marked.
func keep(ids []int, other map[int]bool, marks []bool) (runes []rune, positions []int) {
	for i, id := range ids {
		if !other[id] {
			marks[i] = true
			continue
		}
		runes = append(runes, toRune(id))
		positions = append(positions, i)
	}
	return runes, positions
}

const (
	surrogateLow  = 0xd800
	surrogateSpan = 0x800
)

// toRune maps a number to a rune that survives the way through a string.
// Surrogates do not: all of them would come back as U+FFFD, one and the same.
// The library's own line mode has that flaw in other forms, so it is not used.
func toRune(id int) rune {
	r := rune(id + 1)
	if r >= surrogateLow {
		r += surrogateSpan
	}
	return r
}
