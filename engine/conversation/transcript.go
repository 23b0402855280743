package conversation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
)

// TranscriptBlock is how many bytes of a transcript one of its records adds to the one before,
// docs/format.md#transcript. The id of a transcript depends on nothing but its bytes: it is their hash, and each of its
// prefixes that ends with a block is a record of its own. So an append stores what was appended, and the conversation
// of every checkpoint is there without a copy.
const TranscriptBlock = 64 << 10

// Node is the record of a transcript.
type Node struct {
	Length int64       // bytes of the transcript, >= 1
	Parent objstore.ID // the whole blocks before the last; zero: there are none
	Tail   objstore.ID // blob of the rest, 1 to TranscriptBlock bytes
}

// How it stands in the store, docs/format.md#transcript.
var nodeTable = record.New(
	record.Count(1, func(n *Node) *int64 { return &n.Length }).Required(),
	record.ID(2, func(n *Node) *objstore.ID { return &n.Parent }),
	record.ID(3, func(n *Node) *objstore.ID { return &n.Tail }).Required(),
).Then(func(n *Node) error {
	if n.Parent.IsZero() != (n.Length <= TranscriptBlock) {
		return fmt.Errorf("%w: transcript with a parent that does not fit", record.ErrFormat)
	}
	return nil
})

// Encode gives the bytes of a node, docs/format.md#transcript.
func (n *Node) Encode() []byte { return nodeTable.Encode(n) }

// DecodeNode reads what encode wrote; the error is kv.ErrCorrupt.
func DecodeNode(id objstore.ID, raw []byte) (*Node, error) {
	n := &Node{}
	if err := nodeTable.Decode(raw, n); err != nil {
		return nil, &value.OpError{Op: "transcript", Subject: id.Short(), Err: fmt.Errorf("%w: %w", kv.ErrCorrupt, err)}
	}
	return n, nil
}

// tailLength is how many bytes of a transcript of that length lie behind its last whole block, or are that block: 1 to
// TranscriptBlock.
func tailLength(length int64) int64 {
	if length == 0 {
		return 0
	}
	return (length-1)%TranscriptBlock + 1
}

// Writer appends to a transcript. The last record is put by Close.
type Writer struct {
	Tx    *objstore.Tx
	Node  // of what was written; its tail is the newest that was put, which is the base of the next
	tail  []byte
	id    objstore.ID
	older []objstore.ID // blobs of the version before, by block: bases for those here
}

// Write appends p; whole blocks are put at once.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(w.tail) == TranscriptBlock {
			if err := w.put(); err != nil {
				return 0, err
			}
			w.Parent, w.tail, w.Tail = w.id, w.tail[:0], objstore.ID{}
		}
		k := min(len(p), TranscriptBlock-len(w.tail))
		w.tail = append(w.tail, p[:k]...)
		w.Length += int64(k)
		p = p[k:]
	}
	return n, nil
}

// put stores the buffered block and the record that ends with it.
func (w *Writer) put() error {
	prev := w.Tail
	if at := int((w.Length - 1) / TranscriptBlock); prev.IsZero() && at < len(w.older) {
		prev = w.older[at]
	}
	blob, err := w.Tx.Put(objstore.Blob, w.tail, prev)
	if err != nil {
		return err
	}
	w.Tail = blob
	w.id, err = w.Tx.Put(objstore.Transcript, w.Encode(), w.id)
	return err
}

// Close puts what is left and returns the transcript's id; zero if it is empty.
func (w *Writer) Close() (objstore.ID, error) {
	if w.Length == 0 {
		return objstore.ID{}, nil
	}
	err := w.put()
	return w.id, err
}

// Stored is a transcript in the store. It is read by one goroutine at a time.
type Stored struct {
	Get   objstore.Getter
	Size  int64
	last  int           // block
	nodes []objstore.ID // from the last block back, the record of the transcript that ends with the block, as far as they are named
	blobs []objstore.ID // as far as the records are read
	block []byte        // the block that was read last
	at    int           // its number
}

// OpenTranscript reads the records of a transcript, and none of its blocks. The zero id is the empty transcript.
func OpenTranscript(get objstore.Getter, id objstore.ID) (*Stored, error) {
	s, err := OpenEnd(get, id)
	if err == nil {
		err = s.load(0)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenEnd is OpenTranscript for one whose end is read: the records of the blocks before are read when those are.
func OpenEnd(get objstore.Getter, id objstore.ID) (*Stored, error) {
	s := &Stored{Get: get, at: -1, last: -1}
	if id.IsZero() {
		return s, nil
	}
	n, err := readNode(get, id)
	if err != nil {
		return nil, err
	}
	s.Size, s.last = n.Length, int((n.Length-1)/TranscriptBlock)
	s.nodes, s.blobs = append(s.nodes, id, n.Parent), append(s.blobs, n.Tail)
	return s, nil
}

// blocks are the blobs of a transcript, whose records are read.
func (s *Stored) blocks() []objstore.ID {
	blobs := slices.Clone(s.blobs)
	slices.Reverse(blobs)
	return blobs
}

// node is the record of block k, zero for -1; load has read the one behind.
func (s *Stored) node(k int) objstore.ID { return s.nodes[s.last-k] }

func readNode(get objstore.Getter, id objstore.ID) (*Node, error) {
	raw, err := get.Get(objstore.Transcript, id)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	return DecodeNode(id, raw)
}

// load reads the records of the blocks from k on.
func (s *Stored) load(k int) error {
	for len(s.blobs) <= s.last-k {
		at := s.last - len(s.blobs)
		id := s.node(at)
		n, err := readNode(s.Get, id)
		if err != nil {
			return err
		}
		if n.Length != int64(at+1)*TranscriptBlock {
			return &value.OpError{
				Op: "transcript", Subject: id.Short(),
				Err: fmt.Errorf("%w: its blocks do not follow each other", kv.ErrCorrupt),
			}
		}
		s.nodes, s.blobs = append(s.nodes, n.Parent), append(s.blobs, n.Tail)
	}
	return nil
}

// Block is the blob of block k, or of the last one if there are fewer. The records behind it are read.
func (s *Stored) Block(k int) (objstore.ID, error) {
	k = min(k, s.last)
	if k < 0 {
		return objstore.ID{}, nil
	}
	if err := s.load(k); err != nil {
		return objstore.ID{}, err
	}
	return s.blobs[s.last-k], nil
}

// read gives block k; it is valid until the next call.
func (s *Stored) read(k int) ([]byte, error) {
	if s.at == k {
		return s.block, nil
	}
	if err := s.load(k); err != nil {
		return nil, err
	}
	raw, err := s.Get.Get(objstore.Blob, s.blobs[s.last-k])
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if want := min(TranscriptBlock, s.Size-int64(k)*TranscriptBlock); int64(len(raw)) != want {
		return nil, &value.OpError{
			Op: "transcript", Subject: s.node(k).Short(),
			Err: fmt.Errorf("%w: block of %d bytes, wants %d", kv.ErrCorrupt, len(raw), want),
		}
	}
	s.block, s.at = raw, k
	return raw, nil
}

// GoesOn reports whether the transcript begins with all of another one.
func (s *Stored) GoesOn(of *Stored) (bool, error) {
	if of.Size == 0 || of.Size > s.Size {
		return of.Size == 0, nil
	}
	k := of.last
	if err := s.load(k); err != nil {
		return false, err
	}
	if s.node(k-1) != of.node(k-1) {
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
func (s *Stored) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("transcript: negative offset")
	}
	for n < len(p) {
		if off >= s.Size {
			return n, io.EOF
		}
		block, err := s.read(int(off / TranscriptBlock))
		if err != nil {
			return n, err
		}
		k := copy(p[n:], block[off%TranscriptBlock:])
		n += k
		off += int64(k)
	}
	return n, nil
}

// AppendTo is a writer that continues the first length bytes of the transcript.
func (s *Stored) AppendTo(tx *objstore.Tx, length int64) (*Writer, error) {
	w := &Writer{Tx: tx, older: s.blocks()}
	if length == 0 {
		return w, nil
	}
	k := int((length - 1) / TranscriptBlock)
	block, err := s.read(k)
	if err != nil {
		return nil, err
	}
	w.Length, w.tail = length, append(make([]byte, 0, TranscriptBlock), block[:tailLength(length)]...)
	if k > 0 {
		w.Parent = s.node(k - 1)
	}
	if length == s.Size {
		w.id, w.Tail = s.node(k), s.blobs[s.last-k]
	}
	return w, nil
}

// ResumeTranscript is a writer that continues a whole transcript. It reads only the last block.
func ResumeTranscript(tx *objstore.Tx, id objstore.ID) (*Writer, error) {
	if id.IsZero() {
		return &Writer{Tx: tx}, nil
	}
	n, err := readNode(tx, id)
	if err != nil {
		return nil, err
	}
	tail, err := tx.Get(objstore.Blob, n.Tail)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if int64(len(tail)) != tailLength(n.Length) {
		return nil, &value.OpError{
			Op: "transcript", Subject: id.Short(),
			Err: fmt.Errorf("%w: block of %d bytes, wants %d", kv.ErrCorrupt, len(tail), tailLength(n.Length)),
		}
	}
	w := &Writer{Tx: tx, Node: *n, id: id}
	w.tail = append(make([]byte, 0, TranscriptBlock), tail...)
	return w, nil
}

// BeginsWith reports whether the transcript begins with the transcript id, and the length of that one in bytes. It
// reads at most a block of
// each.
func (s *Stored) BeginsWith(id objstore.ID) (length int64, begins bool, err error) {
	n, err := readNode(s.Get, id)
	if err != nil {
		return 0, false, err
	}
	k := int((n.Length - 1) / TranscriptBlock)
	if n.Length > s.Size {
		return n.Length, false, nil
	}
	if err := s.load(k); err != nil {
		return 0, false, err
	}
	switch {
	case s.node(k-1) != n.Parent:
		return n.Length, false, nil
	case s.node(k) == id:
		return n.Length, true, nil
	}
	tail, err := s.Get.Get(objstore.Blob, n.Tail)
	if err != nil {
		return 0, false, fmt.Errorf("transcript: %w", err)
	}
	block, err := s.read(k)
	return n.Length, err == nil && bytes.HasPrefix(block, tail), err
}

// Begins compares the first length bytes of the transcript with those of f, block by block, and returns how many bytes
// the equal blocks at
// the beginning have.
func (s *Stored) Begins(f io.ReaderAt, length int64) (same int64, err error) {
	buf := make([]byte, TranscriptBlock)
	for same < length {
		k := int(same / TranscriptBlock)
		n := min(TranscriptBlock, length-same)
		if m, err := f.ReadAt(buf[:n], same); int64(m) < n {
			if err != nil && !errors.Is(err, io.EOF) {
				return same, err
			}
			return same, nil
		}
		if whole := min(TranscriptBlock, s.Size-same); n == whole {
			if objstore.Sum(objstore.Blob, buf[:n]) != s.blobs[s.last-k] {
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

// Common is Begins to the byte: how many bytes at the beginning are the same.
func (s *Stored) Common(f io.ReaderAt, length int64) (int64, error) {
	same, err := s.Begins(f, length)
	if err != nil || same >= length {
		return same, err
	}
	block, err := s.read(int(same / TranscriptBlock))
	if err != nil {
		return same, err
	}
	buf := make([]byte, min(TranscriptBlock, length-same))
	n, err := f.ReadAt(buf, same)
	if err != nil && !errors.Is(err, io.EOF) {
		return same, err
	}
	for i := 0; i < n && buf[i] == block[i]; i++ {
		same++
	}
	return same, nil
}
