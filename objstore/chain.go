package objstore

import "rewind/objstore/object"

// Versions of one object form a delta chain: version 0 is whole, version k >= 1 is a delta against version k - 8^t, t
// being the number of zeros at the end of k in base 8. The lowest digit that is not 0 goes down by one, so that the
// number of deltas to apply is the sum of k's digits, and seven of eight versions have but one edit in them.
//
// The base of k is found by walking base pointers from k-1. The t lowest digits of k-1 are 7. Each step takes one off
// the lowest digit that is not 0. When all t are 0 (after 7t steps; none for t = 0), the position is k-1 - (8^t - 1).

// chainStep is the base of the number system above.
const chainStep = 8

// chainBase gives the index of the base of index k >= 1.
func chainBase(k int) int {
	step := 1
	for k%(step*chainStep) == 0 {
		step *= chainStep
	}
	return k - step
}

// A position is where the next version of a delta chain goes.
type position struct {
	base  name
	index int
}

// nextPosition finds the position of the version that follows prev. ok is false when the chain ends there, or when prev
// cannot be followed to the base that is due: the next version is then stored whole.
func nextPosition(s source, k Kind, prev name) (p position, ok bool) {
	n, e, err := headOf(s, k, prev)
	if err != nil || e.Codec == CodecChunks || e.Index >= object.MaxIndex {
		return p, false
	}
	p.index = e.Index + 1
	// A base that was stored whole after the fact stands at 0, before the index that was looked for.
	for want := chainBase(p.index); e.Index > want; {
		base, found, err := s.uniqueBase(k, n, e)
		if err != nil || found != 1 {
			return p, false
		}
		n = base
		if e, err = object.DecodeHead(n.env); err != nil {
			return p, false
		}
	}
	p.base = n.name
	return p, true
}
