package compare

import "math"

// Diverge is how far the sides are apart, from 0 to 1: the lines in which they differ, of all that they would differ in
// if they had changed nothing alike. lines says of each path that a side changed how many lines; what is no text counts
// as one. 0: both are the same, or nothing was changed; 1: they share no change, or, where nothing is common to them,
// they are not the same. It is the same whichever side is A.
func (res *Result) Diverge(lines [2]map[string]int) float64 {
	if res.Ancestor == nil {
		if res.Sides[0].Tip.Tree == res.Sides[1].Tip.Tree {
			return 0
		}
		return 1
	}
	all, apart := 0, 0
	for path, n := range lines[0] {
		both := n + lines[1][path]
		all += both
		if d, known := res.apart[path]; known {
			both = min(d, both)
		}
		apart += both
	}
	for path, n := range lines[1] {
		if _, both := lines[0][path]; !both {
			all, apart = all+n, apart+n
		}
	}
	if all == 0 {
		return 0
	}
	return math.Round(10000*float64(apart)/float64(all)) / 10000
}
