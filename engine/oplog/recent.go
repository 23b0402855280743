package oplog

import (
	"rewind/objstore"
)

// Recent remembers the events that were recorded lately, by their ids.
type Recent struct {
	Ids  map[uint64]objstore.ID // to the checkpoint
	ring [RecentEvents]uint64
	next int
}

// RecentEvents is how many of them; an event is sent again within a second.
const RecentEvents = 1024

// Add remembers the checkpoint of an event, and forgets the oldest.
func (r *Recent) Add(id uint64, cp objstore.ID) {
	if id == 0 {
		return
	}
	delete(r.Ids, r.ring[r.next])
	r.ring[r.next], r.Ids[id] = id, cp
	r.next = (r.next + 1) % len(r.ring)
}
