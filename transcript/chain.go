package transcript

import "hash/maphash"

// chain knows which records there are, where records name the one before them: the newest one's id, and of the others, which few ask for, a hash.
type chain struct {
	newest string
	seed   maphash.Seed
	seen   map[uint64]struct{}
	full   bool // there are more than are kept: nothing can be said of one that is not known
}

// breaks takes a record, and says whether the one that it names is not there.
func (c *chain) breaks(l *line) bool {
	if c.seen == nil {
		c.seed, c.seen = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	broken := false
	if l.Parent != "" && l.Parent != c.newest && !c.full && !l.Side {
		_, ok := c.seen[maphash.String(c.seed, l.Parent)]
		broken = !ok
	}
	if c.newest = l.ID; len(c.seen) < maxMessages {
		c.seen[maphash.String(c.seed, l.ID)] = struct{}{}
	} else {
		c.full = true
	}
	return broken
}
