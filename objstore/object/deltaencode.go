package object

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

const (
	matchLen   = 16 // bytes compared by hash
	nearLen    = 8  // the least copy found inside an edit: it keeps the distance of the copy before
	minEdge    = 4  // a common head or tail shorter than this is not worth an instruction
	minMiddle  = 64 // an edit shorter than this is not worth indexing a base of over costlyBase bytes
	costlyBase = 16 << 10
	minStride  = 8       // distance of the indexed places of a small source
	maxPlaces  = 1 << 16 // indexed places of any source: the stride grows with it
)

// A deltaEncoder holds the index of a source's places. Encoders are pooled; the largest index is 512 KiB.
type deltaEncoder struct {
	table []uint32 // hash of matchLen bytes -> 1 + their place divided by the stride; 0: none
}

var deltaEncoders = sync.Pool{New: func() any { return new(deltaEncoder) }}

// buildDelta appends to dst a delta that builds target from source, whose first n bytes are the base: common head and
// tail of that first, then, for what is between them, copies found by hashing the source at regular places. Its time is
// linear in both lengths.
func buildDelta(dst, source []byte, n int, target []byte) []byte {
	base := source[:n]
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
	if m := len(middle) - head; m < matchLen || n < matchLen || m < minMiddle && n > costlyBase {
		if m > 0 {
			w.put(middle[head:])
		}
	} else {
		e := deltaEncoders.Get().(*deltaEncoder)
		e.middle(&w, source, n, middle, head)
		deltaEncoders.Put(e)
	}
	w.copy(n-tail, tail)
	w.flush()
	return w.out
}

// middle writes what builds target[from:], target being cut before the common tail. The base has baseLen bytes.
func (e *deltaEncoder) middle(w *deltaWriter, source []byte, baseLen int, target []byte, from int) {
	stride, shift := e.index(source)
	done := from // target[:done] is written or pending as copies
	shiftBy := 0 // place in the base minus place in the target, of the last copy
	for p := from; p+nearLen <= len(target); {
		// The place that keeps the last copy's distance comes first: an edit that replaces bytes leaves it true.
		q := p + shiftBy
		if q < 0 || q+nearLen > len(source) || !equal8(source[q:], target[p:]) {
			if p+matchLen > len(target) {
				p++
				continue
			}
			slot := e.table[hash16(target[p:])>>shift]
			if slot == 0 {
				p++
				continue
			}
			q = int(slot-1) * stride
			if !equal16(source[q:], target[p:]) {
				p++
				continue
			}
		}
		back := commonTail(source[:q], target[done:p])
		n := nearLen + commonHead(source[q+nearLen:], target[p+nearLen:])
		if p-back > done {
			w.put(target[done : p-back])
		}
		w.copy(q-back, n+back)
		p += n
		done = p
		if q+n <= baseLen { // a copy of the id has no neighbours
			shiftBy = q + n - p
		}
	}
	if done < len(target) {
		w.put(target[done:])
	}
}

// index fills the table with the source's places, the first of equal ones winning, and gives their distance and the
// shift that turns a hash into a slot.
func (e *deltaEncoder) index(source []byte) (stride int, shift uint) {
	stride = minStride
	for len(source)/stride > maxPlaces {
		stride *= 2
	}
	logSize := max(bits.Len(uint(len(source)/stride)), 4) + 1
	size := 1 << logSize
	if cap(e.table) < size {
		e.table = make([]uint32, size)
	}
	e.table = e.table[:size]
	clear(e.table)
	shift = uint(64 - logSize)
	for i := (len(source) - matchLen) / stride; i >= 0; i-- {
		e.table[hash16(source[i*stride:])>>shift] = uint32(i) + 1
	}
	return stride, shift
}

func hash16(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15
	y := binary.LittleEndian.Uint64(b[8:]) * 0xc2b2ae3d27d4eb4f
	return (x ^ bits.RotateLeft64(y, 29)) * 0x165667b19e3779f9
}

func equal8(a, b []byte) bool { return binary.LittleEndian.Uint64(a) == binary.LittleEndian.Uint64(b) }

func equal16(a, b []byte) bool { return equal8(a, b) && equal8(a[8:], b[8:]) }

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
