package objstore

import (
	"context"
	"fmt"
	"slices"

	"rewind/internal/kv"
)

// barrier is the write barrier: it is told of an object that is there and that somebody wants to rely on, and tells
// whether he may. While marking goes on he may, and it will be marked; what is in the sweep set is not there for him.
func (c *Collection) barrier(o Object) bool {
	if c.phase.Load() == phaseSweep {
		i := c.find(o)
		return i < 0 || c.live.has(i)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.phase.Load() {
	case phaseList:
		c.recorded = append(c.recorded, o)
	case phaseMark:
		if i := c.find(o); i >= 0 && !c.live.has(i) && c.asked.set(i) {
			c.recorded = append(c.recorded, o)
		}
	case phaseSweep:
		i := c.find(o)
		return i < 0 || c.live.has(i)
	}
	return true
}

// stays reports whether an object may be built on.
func (c *Collection) stays(o Object) bool {
	if c.phase.Load() != phaseSweep {
		return true
	}
	i := c.find(o)
	return i < 0 || c.live.has(i) || c.held.has(i)
}

// wrote is told of what is about to be written, under Store.write: it is not swept, nor what it is built on.
func (c *Collection) wrote(ready []readied) {
	for _, r := range ready {
		if c.phase.Load() == phaseSweep {
			if i := c.find(r.Object); i >= 0 {
				c.live.set(i)
			}
		} else {
			c.barrier(r.Object) // while the list is made nobody knows whether it will be in it
		}
		c.built(r.Kind, r.base)
	}
}

// built is told what something new is built on, by a transaction that is open.
func (c *Collection) built(k Kind, base Key) {
	if base.IsZero() {
		return
	}
	o := Object{k, base}
	if c.phase.Load() == phaseList {
		c.barrier(o)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase.Load() == phaseList {
		return
	}
	if i := c.find(o); i >= 0 && c.held.set(i) {
		_ = c.hold(i) // it has just been read: nothing is missing
	}
}

// StartSweep ends marking, and fixes the sweep set: from here on nobody relies on what is neither live nor needed. The
// errors are ErrOpenTx while a transaction is open, ErrBarrier while TakeBarrier has something to give; both mean:
// again, a little later.
func (c *Collection) StartSweep() error {
	if !c.s.gate.TryLock() {
		return fmt.Errorf("start sweep: %w", ErrOpenTx)
	}
	defer c.s.gate.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.recorded {
		if i := c.find(o); i >= 0 && !c.live.has(i) {
			return fmt.Errorf("start sweep: %w", ErrBarrier)
		}
	}
	c.recorded, c.asked, c.small = nil, nil, smallStock{} // nothing is read any more
	c.phase.Store(phaseSweep)
	return nil
}

// dead reports whether an item may go.
func (c *Collection) dead(i int32) bool { return !c.live.has(i) && !c.held.has(i) }

// A Swept says what a sweep removed, or would.
type Swept struct {
	Objects int
	Bytes   int64 // of envelopes; space is given back by the store's compaction
}

// Dead counts what Sweep would remove if it were called now, and what is kept only because live objects are built on
// it.
func (c *Collection) Dead() (dead, held Swept) {
	for i := range c.items {
		switch i := int32(i); {
		case c.live.has(i):
		case c.held.has(i):
			held.add(&c.items[i])
		default:
			dead.add(&c.items[i])
		}
	}
	return dead, held
}

func (s *Swept) add(it *item) {
	s.Objects++
	s.Bytes += int64(it.stored)
}

// sweepOrder is the order in which kinds go: what refers to others first.
var sweepOrder = []Kind{Checkpoint, Note, Tree, Transcript, Blob}

// order lists the dead objects, each before the objects that it refers to or is built on. So if the sweep is stopped,
// no remaining object lacks a base or a chunk.
func (c *Collection) order() []int32 {
	var list []int32
	for _, k := range sweepOrder {
		from := len(list)
		if first := c.first[k]; first != nil {
			for i := first[0]; i < first[len(first)-1]; i++ {
				if c.dead(i) {
					list = append(list, i)
				}
			}
		}
		slices.SortStableFunc(list[from:], func(x, y int32) int {
			a, b := &c.items[x], &c.items[y]
			if d := int(b.flags&itemChunks) - int(a.flags&itemChunks); d != 0 {
				return d
			}
			return int(b.index) - int(a.index)
		})
	}
	return list
}

// Sweep removes the sweep set, in batches, between which commits go on; pause is called after each. It may be stopped
// anywhere. The removals are written, not fsynced.
func (c *Collection) Sweep(ctx context.Context, pause func(context.Context) error) (Swept, error) {
	var swept Swept
	for list := c.order(); len(list) > 0; {
		n := min(len(list), c.batch)
		err := c.remove(ctx, list[:n], &swept)
		if list = list[n:]; err == nil {
			err = pause(ctx)
		}
		if err != nil {
			return swept, fmt.Errorf("sweep: %w", err)
		}
	}
	return swept, nil
}

// remove removes a batch, but for what was written again.
func (c *Collection) remove(ctx context.Context, list []int32, swept *Swept) error {
	s := c.s
	s.write.Lock()
	defer s.write.Unlock()
	b := s.db.NewBatch()
	defer b.Close()
	var removed []Object
	for _, i := range list {
		if !c.dead(i) {
			continue
		}
		it := &c.items[i]
		o := Object{it.kind, it.key}
		if err := b.Delete(appendKey(nil, o.Kind, o.Key)); err != nil {
			return err
		}
		swept.add(it)
		removed = append(removed, o)
	}
	if len(removed) == 0 {
		return nil
	}
	s.drop(removed)
	return b.Commit(ctx, kv.Written)
}

// mayRely is barrier where there may be no collection (nil). It is of the moment before the object was looked up: what
// is in its sweep set may go between the look and the question, and the collection end.
func (c *Collection) mayRely(o Object) bool { return c == nil || c.barrier(o) }
