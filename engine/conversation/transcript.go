package conversation

import (
	"errors"
	"fmt"
	"io"

	"rewind/engine/model"
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
	Made   bool        // it is the first Length bytes of what the rule in Tail makes of the transcript Parent
}

// How it stands in the store, docs/format.md#transcript.
var nodeTable = record.New(
	record.Count(1, func(n *Node) *int64 { return &n.Length }).Required(),
	record.ID(2, func(n *Node) *objstore.ID { return &n.Parent }),
	record.ID(3, func(n *Node) *objstore.ID { return &n.Tail }).Required(),
	record.Bool(4, func(n *Node) *bool { return &n.Made }),
).Then(func(n *Node) error {
	if alone := n.Length <= TranscriptBlock && !n.Made; n.Parent.IsZero() != alone {
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
	older *Stored // the version before, whose blocks are bases for those here; nil: none
	under *Node   // the record of the blocks before, which is not stored yet; nil: it is
	kept  bool    // nothing was written: id is there
}

// Write appends p; whole blocks are put at once.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	w.kept = w.kept && n == 0
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
	if prev.IsZero() && w.older != nil {
		prev = w.older.base(int((w.Length - 1) / TranscriptBlock))
	}
	blob, err := w.Tx.Put(objstore.Blob, w.tail, prev)
	if err != nil {
		return err
	}
	w.Tail = blob
	if w.under != nil {
		if _, err := w.Tx.Put(objstore.Transcript, w.under.Encode(), objstore.ID{}); err != nil {
			return err
		}
		w.under = nil
	}
	w.id, err = w.Tx.Put(objstore.Transcript, w.Encode(), w.id)
	return err
}

// Close puts what is left and returns the transcript's id; zero if it is empty.
func (w *Writer) Close() (objstore.ID, error) {
	if w.Length == 0 || w.kept {
		return w.id, nil
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
	made  *making       // its first blocks, without records of their own; nil: none, or those behind are not read
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
	s.nodes = append(s.nodes, id)
	s.take(n)
	return s, nil
}

// take takes the next record, from the end on.
func (s *Stored) take(n *Node) {
	if n.Made {
		s.made = newMaking(s.Get, n)
		return
	}
	s.nodes, s.blobs = append(s.nodes, n.Parent), append(s.blobs, n.Tail)
}

// base is the blob of block k; zero: there is none, or its record is not read.
func (s *Stored) base(k int) (blob objstore.ID) {
	if at := s.last - k; at >= 0 && at < len(s.blobs) {
		blob = s.blobs[at]
	}
	return blob
}

// node is the record of block k, zero for -1; load has read the one behind.
func (s *Stored) node(k int) objstore.ID {
	if at := s.last - k; at < len(s.nodes) {
		return s.nodes[at]
	}
	if k < 0 {
		return objstore.ID{}
	}
	return s.made.id(k)
}

// isMade reports whether block k is made; its record is read, or one behind it.
func (s *Stored) isMade(k int) bool { return s.made != nil && k <= s.made.last }

// depth is how many rules are needed, one after the other, for its beginning. All its records are read.
func (s *Stored) depth() (int, error) {
	if s.made == nil {
		return 0, nil
	}
	if err := s.made.load(); err != nil {
		return 0, err
	}
	return s.made.rule.Depth, nil
}

// prefix is the transcript of the first length bytes, at least one. What is not there is put. All its records are read.
func (s *Stored) prefix(tx *objstore.Tx, length int64) (objstore.ID, error) {
	if length == s.Size {
		return s.nodes[0], nil
	}
	if s.made != nil && length <= s.made.node.Length {
		return tx.Put(objstore.Transcript, s.made.first(length).Encode(), objstore.ID{})
	}
	w, err := s.AppendTo(tx, length)
	if err != nil {
		return objstore.ID{}, err
	}
	return w.Close()
}

func readNode(get objstore.Getter, id objstore.ID) (*Node, error) {
	raw, err := get.Get(objstore.Transcript, id)
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	return DecodeNode(id, raw)
}

// load reads the records of the blocks from k on.
func (s *Stored) load(k int) error {
	for s.made == nil && len(s.blobs) <= s.last-k {
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
		s.take(n)
	}
	return nil
}

// Block is what names the bytes of block k, or of the last one if there are fewer: its blob, or where it is made, the
// record that ends with it. The records behind it are read.
func (s *Stored) Block(k int) (objstore.ID, error) {
	k = min(k, s.last)
	if k < 0 {
		return objstore.ID{}, nil
	}
	if err := s.load(k); err != nil {
		return objstore.ID{}, err
	}
	if s.isMade(k) {
		return s.node(k), nil
	}
	return s.blobs[s.last-k], nil
}

// IsThere reports whether the bytes of block k, or of the last one if there are fewer, are in the store. has looks for
// an object by its key.
func (s *Stored) IsThere(k int, has func(objstore.Kind, objstore.Key) (bool, error)) (bool, error) {
	blob, err := s.Block(k)
	if err != nil {
		return false, err
	}
	if k = min(k, s.last); s.isMade(k) {
		_, err := s.read(k)
		return err == nil, err
	}
	return has(objstore.Blob, blob.Key())
}

// read gives block k; it is valid until the next call.
func (s *Stored) read(k int) ([]byte, error) {
	if s.at == k {
		return s.block, nil
	}
	if err := s.load(k); err != nil {
		return nil, err
	}
	want := min(TranscriptBlock, s.Size-int64(k)*TranscriptBlock)
	if s.isMade(k) {
		return s.made.block(k, want)
	}
	raw, err := s.Get.Get(objstore.Blob, s.blobs[s.last-k])
	if err != nil {
		return nil, fmt.Errorf("transcript: %w", err)
	}
	if int64(len(raw)) != want {
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
	_, on, err := s.BeginsWith(of.nodes[0])
	return on, err
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

// WriteTo writes the whole transcript. What a rule makes is made once, and only known to be right at the end.
func (s *Stored) WriteTo(w io.Writer) (int64, error) {
	if s.last >= 0 && s.isMade(s.last) {
		if err := s.made.load(); err != nil {
			return 0, err
		}
		if s.Size == s.made.rule.Length {
			return s.Size, s.made.writeAll(w)
		}
	}
	return io.Copy(w, io.NewSectionReader(s, 0, s.Size))
}

// AppendTo is a writer that continues the first length bytes of the transcript. All its records are read.
func (s *Stored) AppendTo(tx *objstore.Tx, length int64) (*Writer, error) {
	w := &Writer{Tx: tx, older: s}
	if length == 0 {
		return w, nil
	}
	k := int((length - 1) / TranscriptBlock)
	block, err := s.read(k)
	if err != nil {
		return nil, err
	}
	if s.isMade(k) {
		w.standOn(s.made, length, block)
	} else {
		w.Length, w.tail = length, append(make([]byte, 0, TranscriptBlock), block[:tailLength(length)]...)
		w.Parent = s.node(k - 1)
		w.under = s.under(k - 1)
	}
	if length == s.Size {
		w.id, w.kept = s.node(k), true
		if !s.isMade(k) {
			w.Tail = s.blobs[s.last-k]
		}
	}
	return w, nil
}

// goOn is a writer that continues what a rule makes of the transcript, and how much that is. The first length bytes of
// f begin with it, else the writer is of a new transcript. What a rule makes is not stored whole. All its records are
// read.
func (s *Stored) goOn(tx *objstore.Tx, f io.ReaderAt, length int64) (w *Writer, from int64, err error) {
	none := &Writer{Tx: tx, older: s}
	if s.made == nil || length == 0 {
		return none, 0, nil
	}
	if w, err = s.made.resume(tx, f, length); w != nil || err != nil {
		return w, length, err
	}
	from = min(s.made.node.Length, length)
	same, err := s.Begins(f, from)
	switch {
	case model.IsLost(err): // what it is made of
		return none, 0, nil
	case err != nil || same < from:
		return none, 0, err
	}
	if from < length {
		w, err = s.AppendTo(tx, from)
		return w, from, err
	}
	id, err := s.prefix(tx, length)
	return &Writer{Tx: tx, Node: Node{Length: length}, id: id, kept: true}, length, err
}

// ResumeTranscript is a writer that continues a whole transcript. It reads only the last block.
func ResumeTranscript(tx *objstore.Tx, id objstore.ID) (*Writer, error) {
	s, err := OpenEnd(tx, id)
	if err != nil {
		return nil, err
	}
	return s.AppendTo(tx, s.Size)
}

// resumeAt is ResumeTranscript where the first at bytes of the file f end with the transcript's last block; nil: they
// do not.
func resumeAt(tx *objstore.Tx, id objstore.ID, f *SessionFile, at int64) (*Writer, error) {
	s, err := OpenEnd(tx, id)
	if err != nil {
		return nil, err
	}
	var w *Writer
	if s.made != nil && at >= tailLength(s.Size) {
		tail := make([]byte, tailLength(s.Size))
		if _, err := f.ReadAt(tail, at-int64(len(tail))); err != nil {
			return nil, f.reading(err)
		}
		end, err := s.end()
		if err != nil || objstore.Sum(objstore.Blob, tail) != end {
			return nil, err
		}
		w = &Writer{Tx: tx, id: id, kept: true}
		w.standOn(s.made, s.Size, tail)
		return w, nil
	}
	if w, err = s.AppendTo(tx, s.Size); err != nil {
		return nil, err
	}
	if same, err := endsWith(f, at, w.tail); err != nil || !same {
		return nil, err
	}
	return w, nil
}

// BeginsWith reports whether the transcript begins with the transcript id, and the length of that one in bytes. It
// reads at most a block.
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
	of := Stored{Get: s.Get, Size: n.Length, last: k, nodes: []objstore.ID{id}}
	of.take(n)
	switch {
	case s.node(k) == id:
		return n.Length, true, nil
	case s.node(k-1) != of.node(k-1):
		return n.Length, false, nil
	}
	end, err := of.end()
	if err != nil {
		return 0, false, err
	}
	block, err := s.read(k)
	if err != nil {
		return n.Length, false, err
	}
	return n.Length, objstore.Sum(objstore.Blob, block[:tailLength(n.Length)]) == end, nil
}

// end is the id that the last block has or would have as a blob.
func (s *Stored) end() (objstore.ID, error) {
	if s.isMade(s.last) {
		return s.made.end()
	}
	return s.blobs[0], nil
}

// Begins compares the first length bytes of the transcript with those of f, block by block, and returns how many bytes
// the equal blocks at
// the beginning have.
func (s *Stored) Begins(f io.ReaderAt, length int64) (same int64, err error) {
	buf := make([]byte, TranscriptBlock)
	if s.made != nil {
		if same, err = s.made.begins(f, length); err != nil || same == length {
			return same, err
		}
		same -= same % TranscriptBlock // what is made ends within the block
	}
	for same < length {
		k := int(same / TranscriptBlock)
		n := min(TranscriptBlock, length-same)
		if m, err := f.ReadAt(buf[:n], same); int64(m) < n {
			if err != nil && !errors.Is(err, io.EOF) {
				return same, err
			}
			return same, nil
		}
		if whole := min(TranscriptBlock, s.Size-same); n == whole && !s.isMade(k) {
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
