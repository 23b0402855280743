package objstore

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A delta is a sequence of instructions that build an object from a source, its base followed by the base's id
// (DESIGN.md 5.4). It carries no hash: applied to a wrong base it gives wrong bytes or an error, and only the hash of
// the result decides.

const idLen = len(ID{})

// deltaSource appends to a base what makes it the source of deltas.
func deltaSource(base []byte, id ID) []byte { return append(base, id[:]...) }

var (
	errDeltaInsert = errors.New("delta: insert follows insert")
	errDeltaCopy   = errors.New("delta: copy continues copy")
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
	end       int // of the previous copy, in the source
	inserts   bool
	copies    bool // the previous instruction was one of these
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
	size := n >> 1
	if size == 0 {
		return in, false, errDeltaEmpty
	}
	if n&1 == 0 {
		if r.inserts {
			return in, false, errDeltaInsert
		}
		if size > uint64(len(rest)) {
			return in, false, fmt.Errorf("delta: %w", errTruncated)
		}
		r.inserts, r.copies, r.rest = true, false, rest[size:]
		return instruction{data: rest[:size:size], n: int(size)}, true, nil
	}
	z, rest, err := uvarint(rest)
	if err != nil {
		return in, false, fmt.Errorf("delta: %w", err)
	}
	if r.copies && z == 0 {
		return in, false, errDeltaCopy
	}
	off := int64(r.end) + unzigzag(z) // wraps to a negative number at worst
	if off < 0 || off > int64(r.sourceLen) || size > uint64(int64(r.sourceLen)-off) {
		return in, false, errDeltaRange
	}
	r.inserts, r.copies, r.rest = false, true, rest
	r.end = int(off) + int(size)
	return instruction{off: int(off), n: int(size)}, true, nil
}

// checkDelta tells whether delta is well formed for a source of sourceLen bytes and gives exactly length bytes.
func checkDelta(delta []byte, sourceLen int, length int64) error {
	r := deltaReader{rest: delta, sourceLen: sourceLen}
	var total int64
	for {
		in, more, err := r.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if total += int64(in.n); total > length {
			return errDeltaLength
		}
	}
	if total != length {
		return errDeltaLength
	}
	return nil
}

// applyDelta appends to dst the length bytes that delta builds from source. Nothing is allocated when dst has room, and
// nothing before the delta was checked.
func applyDelta(dst, source, delta []byte, length int64) ([]byte, error) {
	if err := checkDelta(delta, len(source), length); err != nil {
		return nil, err
	}
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
	out    []byte
	end    int    // of the last copy written, in the source
	off, n int    // the copy not yet written
	insert []byte // not yet written, after that copy
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
		w.out = binary.AppendUvarint(w.out, uint64(w.n)<<1|1)
		w.out = binary.AppendUvarint(w.out, zigzag(int64(w.off-w.end)))
		w.end, w.n = w.off+w.n, 0
	}
	if len(w.insert) > 0 {
		w.out = binary.AppendUvarint(w.out, uint64(len(w.insert))<<1)
		w.out = append(w.out, w.insert...)
		w.insert = nil
	}
}
