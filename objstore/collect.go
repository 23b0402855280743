package objstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"rewind/internal/kv"
	"rewind/objstore/object"
)

// A Collection finds out which objects of a store are live, and removes the others, while transactions go on beside it.
// It goes through three phases:
//
// Listing. The envelopes of all objects are read once. What is written behind the list's back is not in it, and nothing
// that is not in it is removed.
//
// Marking. The caller marks what is reachable. What a transaction, or anybody who asks Has, relies on meanwhile is
// recorded by the write barrier, and given to the caller to mark, too (TakeBarrier).
//
// Sweeping, from StartSweep on, which no transaction is open beside. Objects that are neither live nor needed by a live
// one are the sweep set. For Has and Put of every transaction they no longer exist, long before their bytes are
// deleted. Who puts it again has it written again, whole. So when it goes does not matter, and it goes in small
// batches, an object always before what it is built on: stopped anywhere, what is left can be read.
//
// One store has one collection at a time. Mark and what follows belong to one goroutine.
type Collection struct {
	s     *Store
	batch int                 // sweepBatch, but for tests
	items []item              // ascending by kind and key
	first map[Kind][]int32    // of each kind, where the keys of each beginning start in items
	shift map[Kind]uint       // of how many bits of a key's first 64 a beginning consists: 64 - shift
	more  map[int32][]int32   // further candidates where a base prefix stands for several objects
	live  bitmap              // reachable
	held  bitmap              // a live object is built on it
	asked bitmap              // recorded by the write barrier
	fresh map[Object]struct{} // marked, and not in the list: written since
	small smallStock          // until StartSweep

	mu       sync.Mutex
	phase    atomic.Int32 // changed under mu
	recorded []Object     // under mu
}

const (
	phaseList int32 = iota
	phaseMark
	phaseSweep
)

// An item is an object of the list: 32 bytes, for there may be millions.
type item struct {
	key    Key
	kind   Kind
	flags  itemFlags
	index  uint16 // position in its delta chain
	stored uint32 // bytes of the envelope
	base   int32  // in items; less than zero: none
}

type itemFlags byte

const (
	itemDelta  itemFlags = 1 << iota // is built on another
	itemChunks                       // is a list of chunks
	itemSmall                        // its envelope is kept
)

// A bitmap has a bit for each item. Safe for concurrent use.
type bitmap []uint32

func newBitmap(n int) bitmap { return make(bitmap, (n+31)/32) }

func (b bitmap) has(i int32) bool { return atomic.LoadUint32(&b[i/32])&(1<<(i%32)) != 0 }

// set tells whether the bit was not set before.
func (b bitmap) set(i int32) bool {
	return atomic.OrUint32(&b[i/32], 1<<(i%32))&(1<<(i%32)) == 0
}

// errCollecting is returned where a store has a collection already.
var errCollecting = errors.New("objects are being collected already")

// ErrBarrier is returned by StartSweep while the write barrier has something that is to be marked.
var ErrBarrier = errors.New("more is to be marked")

// Collect begins a collection; it takes no time. The errors are ErrOpenTx, for what a transaction that is open relies
// on already is not known, and errCollecting.
func (s *Store) Collect() (*Collection, error) {
	c := &Collection{s: s, batch: sweepBatch, more: map[int32][]int32{}, fresh: map[Object]struct{}{}}
	if !s.gate.TryLock() {
		return nil, fmt.Errorf("collect: %w", ErrOpenTx)
	}
	defer s.gate.Unlock()
	if !s.coll.CompareAndSwap(nil, c) {
		return nil, fmt.Errorf("collect: %w", errCollecting)
	}
	return c, nil
}

// End ends the collection. What was in the sweep set and is still there is an object like any other again.
func (c *Collection) End() { c.s.coll.CompareAndSwap(c, nil) }

// List reads the heads of all envelopes as they are at one moment; it comes first. pause is called every now and then,
// and may take its time; its error ends it. A *CorruptError says that an envelope cannot be read.
func (c *Collection) List(ctx context.Context, pause func(context.Context) error) error {
	var prefixes [][object.BasePrefix]byte
	c.stock()
	err := c.s.db.Scan(kv.Range{Prefix: []byte{kv.PrefixObject}}, func(key, val []byte) error {
		k, as, err := splitKey(key)
		if err != nil {
			return err
		}
		e, err := object.DecodeHead(val)
		if err != nil {
			return &CorruptError{k, as, err}
		}
		it := item{key: as, kind: k, index: uint16(e.Index), stored: uint32(len(val)), base: -1}
		switch {
		case e.Codec.IsDelta():
			it.flags |= itemDelta
		case e.Codec == CodecChunks:
			it.flags |= itemChunks
		}
		if c.small.add(len(c.items), k, val) {
			it.flags |= itemSmall
		}
		c.items, prefixes = append(c.items, it), append(prefixes, e.Prefix)
		return pause(ctx)
	})
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	c.beginnings()
	for i := range c.items {
		if c.items[i].flags&itemDelta != 0 {
			c.findBase(int32(i), prefixes[i])
		}
	}
	n := len(c.items)
	c.live, c.held, c.asked = newBitmap(n), newBitmap(n), newBitmap(n)
	c.mu.Lock()
	c.phase.Store(phaseMark)
	c.mu.Unlock()
	return nil
}

// beginnings makes the index of the list: about eight keys have one beginning.
func (c *Collection) beginnings() {
	c.first, c.shift = map[Kind][]int32{}, map[Kind]uint{}
	for at := 0; at < len(c.items); {
		k, end := c.items[at].kind, at
		for end < len(c.items) && c.items[end].kind == k {
			end++
		}
		shift := uint(64 - max(1, bits.Len(uint((end-at)/8))))
		first := make([]int32, 1<<(64-shift)+1)
		n := 0
		for i := at; i < end; i++ {
			for ; uint64(n) <= beginning(c.items[i].key)>>shift; n++ {
				first[n] = int32(i)
			}
		}
		for ; n < len(first); n++ {
			first[n] = int32(end)
		}
		c.first[k], c.shift[k] = first, shift
		at = end
	}
}

// beginning gives the first 64 bits of a key.
func beginning(key Key) uint64 {
	var n uint64
	for _, b := range key[:8] {
		n = n<<8 | uint64(b)
	}
	return n
}

// find gives the first item of that name; less than zero: it is not in the list.
func (c *Collection) find(o Object) int32 {
	first := c.first[o.Kind]
	if first == nil {
		return -1
	}
	b := beginning(o.Key) >> c.shift[o.Kind]
	for i := first[b]; i < first[b+1]; i++ {
		if c.items[i].key == o.Key {
			return i
		}
	}
	return -1
}

// findBase looks up which item a delta is built on.
func (c *Collection) findBase(i int32, prefix [object.BasePrefix]byte) {
	it := &c.items[i]
	var low, high Key
	copy(low[:], prefix[:])
	copy(high[:], prefix[:])
	for k := len(prefix); k < len(high); k++ {
		high[k] = 0xff
	}
	first, shift := c.first[it.kind], c.shift[it.kind]
	for k, end := first[beginning(low)>>shift], first[beginning(high)>>shift+1]; k < end; k++ {
		b := &c.items[k]
		other := !bytes.HasPrefix(b.key[:], prefix[:]) || b.key == it.key
		if other || b.flags&itemChunks != 0 || b.index >= it.index {
			continue
		}
		if it.base < 0 {
			it.base = k
		} else {
			c.more[i] = append(c.more[i], k)
		}
	}
}

// Mark says that an object is reachable. first: it was not known to be, so what it refers to is to be marked as well.
// The error is ErrNotFound where there is no such object, a *GoneError where it was purged or lost, and a *CorruptError
// where something that it is built on is missing.
func (c *Collection) Mark(k Kind, id ID) (first bool, err error) {
	o := Object{k, id.Key()}
	i := c.find(o)
	if i >= 0 {
		return c.mark(i)
	}
	if _, seen := c.fresh[o]; seen {
		return false, nil
	}
	there, err := c.s.db.Has(appendKey(nil, k, o.Key))
	if err == nil && !there {
		err = c.s.absence(k, o.Key)
	}
	if err != nil {
		return false, wrap("mark", k, o.Key, err)
	}
	c.fresh[o] = struct{}{}
	return true, nil
}

// mark marks an item, with what it is built on.
func (c *Collection) mark(i int32) (first bool, err error) {
	if !c.live.set(i) {
		return false, nil
	}
	if err := c.hold(i); err != nil {
		return false, err
	}
	it := &c.items[i]
	if it.flags&itemChunks != 0 {
		chunks, err := c.s.Deps(it.kind, it.key)
		if err != nil {
			return false, err
		}
		for _, key := range chunks {
			j := c.find(Object{it.kind, key})
			if j < 0 {
				return false, &CorruptError{it.kind, it.key, fmt.Errorf("%w: %s", errNoChunk, key.Short())}
			}
			if _, err := c.mark(j); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// hold keeps what an item is built on.
func (c *Collection) hold(i int32) error {
	for c.items[i].flags&itemDelta != 0 {
		it := &c.items[i]
		if it.base < 0 {
			return &CorruptError{it.kind, it.key, errNoBase}
		}
		for _, j := range c.more[i] {
			if c.held.set(j) {
				if err := c.hold(j); err != nil {
					return err
				}
			}
		}
		if !c.held.set(it.base) {
			return nil
		}
		i = it.base
	}
	return nil
}

// TakeBarrier gives what the write barrier has recorded since it was asked last, and is not marked: what transactions
// rely on. The caller marks it, with all that it refers to.
func (c *Collection) TakeBarrier() []Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Object
	for _, o := range c.recorded {
		if i := c.find(o); i >= 0 && !c.live.has(i) {
			out = append(out, o)
		}
	}
	c.recorded = nil
	return out
}
