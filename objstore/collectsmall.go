package objstore

import "rewind/internal/memlimit"

const (
	// smallBytes is how much of the list's envelopes is kept in memory, at most, and where there is little of it no
	// more than a spill; what is beyond is read from the store.
	smallBytes = 48 << 20
	// smallEnvelope is the size of the largest that is: mostly deltas of some 50 bytes.
	smallEnvelope = 255
	// smallStep is for how many items one offset is kept.
	smallStep = 16
)

// A smallStock keeps the small envelopes of what is read while marking, as the list has met them: to look each up
// again, by a key that is random, would read a block of the store. They are in the order of the items; where each
// begins follows from the sizes of those before it.
type smallStock struct {
	raw []byte
	at  []uint32 // of every smallStep-th item: where its envelope begins, or would
}

// stock makes room for a store's small envelopes.
func (c *Collection) stock() {
	size, err := c.s.db.DataBytes()
	if err != nil {
		return
	}
	c.small.raw = make([]byte, 0, min(max(size, 64<<10), smallBytes, int64(spill(memlimit.Heap()))))
}

// add is told of each item, in order, before it is in the list; it tells whether the envelope is kept.
func (s *smallStock) add(i int, k Kind, env []byte) bool {
	if i%smallStep == 0 {
		s.at = append(s.at, uint32(len(s.raw)))
	}
	if k != Checkpoint && k != Tree && k != Transcript || len(env) > smallEnvelope || len(s.raw)+len(env) > cap(s.raw) {
		return false
	}
	s.raw = append(s.raw, env...)
	return true
}

// envelope gives the one of an item; nil: it is not kept.
func (c *Collection) envelope(i int32) []byte {
	if c.items[i].flags&itemSmall == 0 || c.small.raw == nil {
		return nil
	}
	at := c.small.at[i/smallStep]
	for j := i &^ (smallStep - 1); j < i; j++ {
		if c.items[j].flags&itemSmall != 0 {
			at += c.items[j].stored
		}
	}
	return c.small.raw[at : at+c.items[i].stored]
}
