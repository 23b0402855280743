package objstore

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	matchLen   = 16 // bytes compared by hash; the least copy found inside an edit
	minEdge    = 4  // a common head or tail shorter than this is not worth an instruction
	minMiddle  = 64 // an edit shorter than this is not worth indexing a base of over costlyBase bytes
	costlyBase = 16 << 10
	minStride  = 8       // distance of the indexed places of a small base
	maxPlaces  = 1 << 16 // indexed places of any base: the stride grows with it
)

// A deltaEncoder holds the index of a base's places. Encoders are pooled; the largest index is 512 KiB.
type deltaEncoder struct {
	table []uint32 // hash of matchLen bytes -> 1 + their place divided by the stride; 0: none
}

var deltaEncoders = sync.Pool{New: func() any { return new(deltaEncoder) }}

// encodeDelta appends to dst a delta that builds target from base: common head and tail first, then, for what is
// between them, copies found by hashing the base at regular places. Its time is linear in both lengths.
func encodeDelta(dst, base, target []byte) []byte {
	head := commonHead(base, target)
	if head < minEdge {
		head = 0
	}
	tail := commonTail(base[head:], target[head:])
	if tail < minEdge {
		tail = 0
	}
	w := deltaWriter{out: dst}
	w.copy(0, head)
	middle := target[:len(target)-tail]
	n := len(middle) - head
	if n < matchLen || len(base) < matchLen || n < minMiddle && len(base) > costlyBase {
		if n > 0 {
			w.put(middle[head:])
		}
	} else {
		e := deltaEncoders.Get().(*deltaEncoder)
		e.middle(&w, base, middle, head)
		deltaEncoders.Put(e)
	}
	w.copy(len(base)-tail, tail)
	w.flush()
	return w.out
}

// middle writes what builds target[from:], target being cut before the common tail.
func (e *deltaEncoder) middle(w *deltaWriter, base, target []byte, from int) {
	stride, shift := e.index(base)
	done := from // target[:done] is written or pending as copies
	shiftBy := 0 // place in the base minus place in the target, of the last copy
	for p := from; p+matchLen <= len(target); {
		// The place that keeps the last copy's distance comes first: an edit that replaces bytes leaves it true.
		q := p + shiftBy
		if q < 0 || q+matchLen > len(base) || !equal16(base[q:], target[p:]) {
			slot := e.table[hash16(target[p:])>>shift]
			if slot == 0 {
				p++
				continue
			}
			q = int(slot-1) * stride
			if !equal16(base[q:], target[p:]) {
				p++
				continue
			}
		}
		back := commonTail(base[:q], target[done:p])
		n := matchLen + commonHead(base[q+matchLen:], target[p+matchLen:])
		if p-back > done {
			w.put(target[done : p-back])
		}
		w.copy(q-back, n+back)
		p += n
		done, shiftBy = p, q+n-p
	}
	if done < len(target) {
		w.put(target[done:])
	}
}

// index fills the table with the base's places, the first of equal ones winning, and gives their distance and the
// shift that turns a hash into a slot.
func (e *deltaEncoder) index(base []byte) (stride int, shift uint) {
	stride = minStride
	for len(base)/stride > maxPlaces {
		stride *= 2
	}
	logSize := max(bits.Len(uint(len(base)/stride)), 4) + 1
	size := 1 << logSize
	if cap(e.table) < size {
		e.table = make([]uint32, size)
	}
	e.table = e.table[:size]
	clear(e.table)
	shift = uint(64 - logSize)
	for i := (len(base) - matchLen) / stride; i >= 0; i-- {
		e.table[hash16(base[i*stride:])>>shift] = uint32(i) + 1
	}
	return stride, shift
}

func hash16(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15
	y := binary.LittleEndian.Uint64(b[8:]) * 0xc2b2ae3d27d4eb4f
	return (x ^ bits.RotateLeft64(y, 29)) * 0x165667b19e3779f9
}

func equal16(a, b []byte) bool {
	return binary.LittleEndian.Uint64(a) == binary.LittleEndian.Uint64(b) &&
		binary.LittleEndian.Uint64(a[8:]) == binary.LittleEndian.Uint64(b[8:])
}

// commonHead gives the length of the longest common beginning.
func commonHead(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for ; i < n && a[i] == b[i]; i++ {
	}
	return i
}

// commonTail gives the length of the longest common end.
func commonTail(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64(a[len(a)-i-8:]) ^ binary.LittleEndian.Uint64(b[len(b)-i-8:])
		if x != 0 {
			return i + bits.LeadingZeros64(x)/8
		}
	}
	for ; i < n && a[len(a)-1-i] == b[len(b)-1-i]; i++ {
	}
	return i
}
