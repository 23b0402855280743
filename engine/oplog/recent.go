package oplog

import (
	"rewind/objstore"
)

// Recent has the events that were recorded lately.
type Recent struct {
	Ids  map[uint64]objstore.ID // checkpoint by event id
	ring [RecentEvents]uint64
	next int
}

// RecentEvents is how many events Recent has at most. An event is sent again within a second.
const RecentEvents = 1024

// Add notes the checkpoint of an event, and drops the oldest event.
func (r *Recent) Add(id uint64, cp objstore.ID) {
	if id == 0 {
		return
	}
	delete(r.Ids, r.ring[r.next])
	r.ring[r.next], r.Ids[id] = id, cp
	r.next = (r.next + 1) % len(r.ring)
}
