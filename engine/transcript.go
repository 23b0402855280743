package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/objstore"
)

// transcriptBlock is how many bytes of a transcript one of its records adds to the one before, docs/format.md#transcript. The id of a transcript
// depends on nothing but its bytes: it is their hash, and each of its prefixes that ends with a block is a record of its own. So an append
// stores what was appended, and the conversation of every checkpoint is there without a copy.
const transcriptBlock = 64 << 10

// node is the record of a transcript.
type node struct {
	length int64       // bytes of the transcript, >= 1
	parent objstore.ID // the whole blocks before the last; zero: there are none
	tail   objstore.ID // blob of the rest, 1 to transcriptBlock bytes
}

// Field tags of a transcript, docs/format.md#transcript.
const (
	tagNLength = iota + 1
	tagNParent
	tagNTail
)

func (n *node) encode() []byte {
	var e record.Encoder
	e.Uint(tagNLength, uint64(n.length))
	e.NonZero(tagNParent, n.parent[:])
	e.NonZero(tagNTail, n.tail[:])
	return e.Encoded()
}

func decodeNode(id objstore.ID, raw []byte) (*node, error) {
	n := &node{}
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagNLength:
			return decodeCount(f, &n.length)
		case tagNParent:
			return f.NonZero(n.parent[:])
		case tagNTail:
			return f.NonZero(n.tail[:])
		}
		return record.Unknown(tag)
	})
	if err == nil && (n.length == 0 || n.tail.IsZero() || n.parent.IsZero() != (n.length <= transcriptBlock)) {
		err = fmt.Errorf("%w: transcript without bytes, or with a parent that does not fit", record.ErrFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: transcript %s: %w: %w", id.Short(), kv.ErrCorrupt, err)
	}
	return n, nil
}

// tailLength is how many bytes lie behind the last whole block before the end.
func tailLength(length int64) int64 {
	if length == 0 {
		return 0
	}
	return (length-1)%transcriptBlock + 1
}

// writer appends to a transcript. What it stands on is put when it is closed.
type writer struct {
	tx     *objstore.Tx
	length int64
	parent objstore.ID // of the whole blocks
	tail   []byte
	id     objstore.ID
	blob   objstore.ID   // the newest tail that was put: the base of the next
	older  []objstore.ID // blobs of the version before, by block: bases for those here
}

// Write takes bytes in; whole blocks are put at once.
func (w *writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(w.tail) == transcriptBlock {
			if err := w.put(); err != nil {
				return 0, err
			}
			w.parent, w.tail, w.blob = w.id, w.tail[:0], objstore.ID{}
		}
		k := min(len(p), transcriptBlock-len(w.tail))
		w.tail = append(w.tail, p[:k]...)
		w.length += int64(k)
		p = p[k:]
	}
	return n, nil
}

// put stores the transcript as it is up to here.
func (w *writer) put() error {
	prev := w.blob
	if at := int((w.length - 1) / transcriptBlock); prev.IsZero() && at < len(w.older) {
		prev = w.older[at]
	}
	blob, err := w.tx.Put(objstore.Blob, w.tail, prev)
	if err != nil {
		return err
	}
	n := node{length: w.length, parent: w.parent, tail: blob}
	w.blob = blob
	w.id, err = w.tx.Put(objstore.Transcript, n.encode(), w.id)
	return err
}

// close gives the id of all that was written; zero for nothing.
func (w *writer) close() (objstore.ID, error) {
	if w.length == 0 {
		return objstore.ID{}, nil
	}
	err := w.put()
	return w.id, err
}

// stored is a transcript in the store. It is read by one goroutine at a time.
type stored struct {
	get   objstore.Getter
	size  int64
	nodes []objstore.ID // by block: the transcript that ends with it
	blobs []objstore.ID
	block []byte // the one that was read last
	at    int    // and which it is
}

// openTranscript reads which blocks a transcript has. The zero id is the empty one.
func openTranscript(get objstore.Getter, id objstore.ID) (*stored, error) {
	s := &stored{get: get, at: -1}
	want := int64(0) // length of the next record; what one says is believed when those before it are there
	for !id.IsZero() {
		raw, err := get.Get(objstore.Transcript, id)
		if err != nil {
			return nil, fmt.Errorf("engine: transcript: %w", err)
		}
		n, err := decodeNode(id, raw)
		if err != nil {
			return nil, err
		}
		if s.size == 0 {
			s.size = n.length
		} else if n.length != want {
			return nil, fmt.Errorf("engine: transcript %s: %w: its blocks do not follow each other", id.Short(), kv.ErrCorrupt)
		}
		s.nodes, s.blobs = append(s.nodes, id), append(s.blobs, n.tail)
		id, want = n.parent, n.length-tailLength(n.length)
	}
	slices.Reverse(s.nodes)
	slices.Reverse(s.blobs)
	return s, nil
}

// read gives a block; it is valid until the next one is read.
func (s *stored) read(k int) ([]byte, error) {
	if s.at == k {
		return s.block, nil
	}
	raw, err := s.get.Get(objstore.Blob, s.blobs[k])
	if err != nil {
		return nil, fmt.Errorf("engine: transcript: %w", err)
	}
	if want := min(transcriptBlock, s.size-int64(k)*transcriptBlock); int64(len(raw)) != want {
		return nil, fmt.Errorf("engine: transcript %s: %w: block of %d bytes, wants %d", s.nodes[k].Short(), kv.ErrCorrupt, len(raw), want)
	}
	s.block, s.at = raw, k
	return raw, nil
}

// goesOn reports whether the transcript begins with all of another one.
func (s *stored) goesOn(of *stored) (bool, error) {
	if of.size == 0 || of.size > s.size {
		return of.size == 0, nil
	}
	k := len(of.nodes) - 1
	if k > 0 && s.nodes[k-1] != of.nodes[k-1] {
		return false, nil
	}
	end, err := of.read(k)
	if err != nil {
		return false, err
	}
	block, err := s.read(k)
	return err == nil && bytes.HasPrefix(block, end), err
}

// ReadAt implements io.ReaderAt.
func (s *stored) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("engine: transcript: negative offset")
	}
	for n < len(p) {
		if off >= s.size {
			return n, io.EOF
		}
		block, err := s.read(int(off / transcriptBlock))
		if err != nil {
			return n, err
		}
		k := copy(p[n:], block[off%transcriptBlock:])
		n += k
		off += int64(k)
	}
	return n, nil
}

// appendTo returns a writer that goes on behind the first length bytes of the transcript.
func (s *stored) appendTo(tx *objstore.Tx, length int64) (*writer, error) {
	w := &writer{tx: tx, older: s.blobs}
	if length == 0 {
		return w, nil
	}
	k := int((length - 1) / transcriptBlock)
	block, err := s.read(k)
	if err != nil {
		return nil, err
	}
	w.length, w.tail = length, append(make([]byte, 0, transcriptBlock), block[:tailLength(length)]...)
	if k > 0 {
		w.parent = s.nodes[k-1]
	}
	if length == s.size {
		w.id, w.blob = s.nodes[k], s.blobs[k]
	}
	return w, nil
}

// resumeTranscript returns a writer that goes on behind a whole transcript; it reads no more of it than its last block.
func resumeTranscript(tx *objstore.Tx, id objstore.ID) (*writer, error) {
	if id.IsZero() {
		return &writer{tx: tx}, nil
	}
	raw, err := tx.Get(objstore.Transcript, id)
	if err != nil {
		return nil, fmt.Errorf("engine: transcript: %w", err)
	}
	n, err := decodeNode(id, raw)
	if err != nil {
		return nil, err
	}
	tail, err := tx.Get(objstore.Blob, n.tail)
	if err != nil {
		return nil, fmt.Errorf("engine: transcript: %w", err)
	}
	if int64(len(tail)) != tailLength(n.length) {
		return nil, fmt.Errorf("engine: transcript %s: %w: block of %d bytes, wants %d", id.Short(), kv.ErrCorrupt, len(tail), tailLength(n.length))
	}
	w := &writer{tx: tx, length: n.length, parent: n.parent, id: id, blob: n.tail}
	w.tail = append(make([]byte, 0, transcriptBlock), tail...)
	return w, nil
}

// beginsWith reports whether the transcript begins with another one, and how many bytes that has. It reads no more than a block of each.
func (s *stored) beginsWith(id objstore.ID) (length int64, begins bool, err error) {
	raw, err := s.get.Get(objstore.Transcript, id)
	if err != nil {
		return 0, false, fmt.Errorf("engine: transcript: %w", err)
	}
	n, err := decodeNode(id, raw)
	if err != nil {
		return 0, false, err
	}
	k := int((n.length - 1) / transcriptBlock)
	switch {
	case n.length > s.size, k > 0 && s.nodes[k-1] != n.parent:
		return n.length, false, nil
	case s.nodes[k] == id:
		return n.length, true, nil
	}
	tail, err := s.get.Get(objstore.Blob, n.tail)
	if err != nil {
		return 0, false, fmt.Errorf("engine: transcript: %w", err)
	}
	block, err := s.read(k)
	return n.length, err == nil && bytes.HasPrefix(block, tail), err
}

// begins reports how many whole or partial blocks of the transcript, up to length bytes, a file begins with: the number of bytes that are the same
// when it is compared block by block.
func (s *stored) begins(f io.ReaderAt, length int64) (same int64, err error) {
	buf := make([]byte, transcriptBlock)
	for same < length {
		k := int(same / transcriptBlock)
		n := min(transcriptBlock, length-same)
		if m, err := f.ReadAt(buf[:n], same); int64(m) < n {
			if err != nil && !errors.Is(err, io.EOF) {
				return same, err
			}
			return same, nil
		}
		if whole := min(transcriptBlock, s.size-same); n == whole {
			if objstore.Sum(objstore.Blob, buf[:n]) != s.blobs[k] {
				return same, nil
			}
		} else {
			block, err := s.read(k)
			if err != nil {
				return same, err
			}
			if string(block[:n]) != string(buf[:n]) {
				return same, nil
			}
		}
		same += n
	}
	return same, nil
}
