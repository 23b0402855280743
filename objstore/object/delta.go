package object

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A delta is a sequence of instructions that build an object from a source, its base followed by the base's id
// (docs/format.md#delta). It carries no hash: applied to a wrong base it gives wrong bytes or an error, and only the
// hash of the result decides.

// IDLen is the length of an id in bytes.
const IDLen = len(ID{})

// DeltaSource appends to a base what makes it the source of deltas.
func DeltaSource(base []byte, id ID) []byte { return append(base, id[:]...) }

var (
	errDeltaInsert = errors.New("delta: insert follows insert")
	errDeltaCopy   = errors.New("delta: copy continues copy")
	errDeltaKept   = errors.New("delta: copy has an offset that goes without saying")
	errDeltaLead   = errors.New("delta: no insert where one was announced")
	errDeltaEmpty  = errors.New("delta: empty instruction")
	errDeltaRange  = errors.New("delta: copy from outside the source")
	errDeltaLength = errors.New("delta: length of the result differs")
)

// An instruction is an insert of data, or, with data nil, a copy of n bytes from offset off of the source.
type instruction struct {
	data   []byte
	off, n int
}

// A deltaReader yields the instructions of a delta in order, refusing everything that an encoder would have written
// differently. It keeps no copy: data points into the delta.
type deltaReader struct {
	rest      []byte
	sourceLen int
	end       int  // of the previous copy, in the source
	inserted  int  // bytes since that copy
	begun     bool // an instruction was read
	copies    bool // the previous instruction was a copy
}

// next gives the next instruction; more is false at the end.
func (r *deltaReader) next() (in instruction, more bool, err error) {
	if len(r.rest) == 0 {
		return in, false, nil
	}
	n, rest, err := uvarint(r.rest)
	if err != nil {
		return in, false, fmt.Errorf("delta: %w", err)
	}
	due := !r.copies               // a copy is, since no insert follows another
	if due && n == 0 && !r.begun { // but at the beginning, where it is announced
		if n, rest, err = uvarint(rest); err != nil {
			return in, false, fmt.Errorf("delta: %w", err)
		}
		if due = false; n&1 == 1 || n == 0 {
			return in, false, errDeltaLead
		}
	}
	size := n >> 1
	if size == 0 {
		return in, false, errDeltaEmpty
	}
	if n&1 == 0 && !due {
		if r.begun && !r.copies {
			return in, false, errDeltaInsert
		}
		if size > uint64(len(rest)) {
			return in, false, fmt.Errorf("delta: %w", errTruncated)
		}
		r.rest, r.begun, r.copies, r.inserted = rest[size:], true, false, int(size)
		return instruction{data: rest[:size:size], n: int(size)}, true, nil
	}
	off := int64(r.end) + int64(r.inserted)
	if n&1 == 1 {
		z, after, err := uvarint(rest)
		if err != nil {
			return in, false, fmt.Errorf("delta: %w", err)
		}
		kept := off
		off, rest = int64(r.end)+unzigzag(z), after // wraps to a negative number at worst
		switch {
		case r.copies && z == 0:
			return in, false, errDeltaCopy
		case due && off == kept:
			return in, false, errDeltaKept
		}
	}
	if off < 0 || off > int64(r.sourceLen) || size > uint64(int64(r.sourceLen)-off) {
		return in, false, errDeltaRange
	}
	r.rest, r.begun, r.copies, r.inserted = rest, true, true, 0
	r.end = int(off) + int(size)
	return instruction{off: int(off), n: int(size)}, true, nil
}

// deltaLength gives the number of bytes that a delta builds, at most limit, from a source of sourceLen bytes, and the
// end of what it copies of that.
func deltaLength(delta []byte, sourceLen int, limit int64) (length int64, end int, err error) {
	r := deltaReader{rest: delta, sourceLen: sourceLen}
	for {
		in, more, err := r.next()
		if err != nil || !more {
			return length, end, err
		}
		if length += int64(in.n); length > limit {
			return 0, 0, errDeltaLength
		}
		if in.data == nil {
			end = max(end, in.off+in.n)
		}
	}
}

// A Base is what a delta is applied to.
type Base struct {
	Kind Kind
	Raw  *[]byte
	ID   ID // Zero: it is found out if the delta asks
}

// applyDelta appends to dst the length bytes that delta builds from base, which it may lengthen by its id. Nothing is
// allocated when dst and base have room, and nothing before the delta was checked.
func applyDelta(dst []byte, base *Base, delta []byte, length int64) ([]byte, error) {
	source := *base.Raw
	built, end, err := deltaLength(delta, len(source)+IDLen, length)
	switch {
	case err != nil:
		return nil, err
	case built != length:
		return nil, errDeltaLength
	case end > len(source):
		if base.ID.IsZero() {
			base.ID = Sum(base.Kind, source)
		}
		source = DeltaSource(source, base.ID)
		*base.Raw = source
	}
	return patch(dst, source, delta, length)
}

// patch is applyDelta for a delta that was checked.
func patch(dst, source, delta []byte, length int64) ([]byte, error) {
	if int64(cap(dst)-len(dst)) < length {
		grown := make([]byte, len(dst), int64(len(dst))+length)
		copy(grown, dst)
		dst = grown
	}
	r := deltaReader{rest: delta, sourceLen: len(source)}
	for {
		in, more, err := r.next()
		if err != nil || !more {
			return dst, err
		}
		if in.data != nil {
			dst = append(dst, in.data...)
		} else {
			dst = append(dst, source[in.off:in.off+in.n]...)
		}
	}
}

// A deltaWriter writes instructions in their canonical form: it joins neighbours that one instruction can express.
type deltaWriter struct {
	out      []byte
	begun    bool
	copies   bool
	end      int    // of the last copy written, in the source
	inserted int    // bytes written since
	off, n   int    // the copy not yet written
	insert   []byte // not yet written, after that copy
}

// put takes data of the result; a copy stands between it and the put before it.
func (w *deltaWriter) put(data []byte) { w.insert = data }

func (w *deltaWriter) copy(off, n int) {
	if n == 0 {
		return
	}
	if w.n > 0 && len(w.insert) == 0 && off == w.off+w.n {
		w.n += n
		return
	}
	w.flush()
	w.off, w.n = off, n
}

func (w *deltaWriter) flush() {
	if w.n > 0 {
		if !w.copies && w.off == w.end+w.inserted {
			w.out = binary.AppendUvarint(w.out, uint64(w.n)<<1)
		} else {
			w.out = binary.AppendUvarint(w.out, uint64(w.n)<<1|1)
			w.out = binary.AppendUvarint(w.out, zigzag(int64(w.off-w.end)))
		}
		w.end, w.inserted, w.n, w.begun, w.copies = w.off+w.n, 0, 0, true, true
	}
	if len(w.insert) > 0 {
		if !w.begun {
			w.out = append(w.out, 0)
		}
		w.out = binary.AppendUvarint(w.out, uint64(len(w.insert))<<1)
		w.out = append(w.out, w.insert...)
		w.inserted, w.begun, w.copies = len(w.insert), true, false
		w.insert = nil
	}
}
