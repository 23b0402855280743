package objstore

// Versions of one object form a line: version 0 is whole, version k is a delta against version k & (k-1), so that the
// number of deltas to apply is the number of one bits in k, and what a version costs grows with the logarithm of the
// distance to its base. Every base of version k-1 lies on the way from it to version 0, and the base of version k is
// one of them or version k-1 itself: it is found by walking base pointers.

// lineBase gives the index of the base of index k >= 1.
func lineBase(k int) int { return k & (k - 1) }

// A place is where the next version of a line goes.
type place struct {
	base  ID
	index int
}

// next finds the place of the version that follows prev. ok is false when the line ends there, or when prev cannot be
// followed to the base that is due: the next version is then stored whole.
func next(s source, k Kind, prev ID) (p place, ok bool) {
	n, e, err := headOf(s, k, prev)
	if err != nil || e.codec == CodecChunks || e.index >= MaxIndex {
		return p, false
	}
	p.index = e.index + 1
	// A base that was stored whole after the fact stands at 0, before the index that was looked for.
	for want := lineBase(p.index); e.index > want; {
		bases, err := s.bases(k, n, e)
		if err != nil || len(bases) != 1 {
			return p, false
		}
		n = bases[0]
		if e, err = decodeHead(n.env); err != nil {
			return p, false
		}
	}
	p.base = n.id
	return p, true
}
