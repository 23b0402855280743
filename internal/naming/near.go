package naming

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear bounds the length of names that are compared, in bytes.
const maxNear = 256

// farness is how little one name is like another, both in small letters; -1: not at all.
func farness(want, have string) int {
	shorter, longer := min(len(want), len(have)), max(len(want), len(have))
	switch {
	case shorter == 0 || longer > maxNear:
		return -1
	case strings.HasPrefix(have, want):
		return 0
	case len(have) >= MinDigits && strings.HasPrefix(want, have), len(want) >= MinDigits && strings.Contains(have, want):
		return 1
	}
	far := Distance(want, have)
	if len(want) >= MinDigits && len(want) < len(have) { // the beginning of an id, with a slip
		far = min(far, 1+Distance(want, have[:len(want)]))
	}
	if far > max(1, len(want)/4) || far >= len(want) {
		return -1
	}
	return far
}

// Nearest are those of names that are like one, the most alike first, at most so many: those that begin so, or have it
// in them, or are one slip of the finger in four bytes away. Case does not matter.
func Nearest(name string, names []string, most int) []string {
	type like struct {
		name string
		far  int
	}
	var found []like
	want := strings.ToLower(name)
	for _, n := range names {
		if far := farness(want, strings.ToLower(n)); far >= 0 {
			found = append(found, like{n, far})
		}
	}
	slices.SortFunc(found, func(a, b like) int { return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, f := range found[:min(len(found), most)] {
		out = append(out, f.name)
	}
	return out
}

// Distance is how many letters are to be put in, taken out, changed or exchanged with the next one to make b of a.
func Distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			inner := i > 0 && j > 0
			if inner && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
