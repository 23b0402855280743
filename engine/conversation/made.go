package conversation

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"rewind/internal/kv"
	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// A rule says what is made of a transcript: the file of a fork of it, which repeats nearly all of it. So what is stored
// of a fork is its rule, and what comes after it. transcript.WriteFork makes the bytes again, the same ones for ever:
// the files *.fork of its testdata have bytes of it. docs/format.md#transcript.
type rule struct {
	Agent  transcript.Agent
	Name   string // of the source's file, without its directory: its ending may tell how the agent writes it
	Fork   transcript.Fork
	Length int64         // bytes that are made
	Sums   []objstore.ID // of every madeWindow bytes of it, as of blobs, which are not stored
	End    objstore.ID   // of its last block, the same
	Depth  int           // rules that are needed for it, one after the other
}

// madeWindow is how many bytes of what is made are made and checked at once, whole blocks.
const madeWindow = 128 * TranscriptBlock

// maxDepth bounds how many rules are followed for one transcript. Where it would be one more, a fork is stored whole.
const maxDepth = 4

var ruleTable = record.New(
	record.String(1, func(r *rule) *transcript.Agent { return &r.Agent }).Required(),
	record.String(2, func(r *rule) *string { return &r.Name }),
	record.Count(3, func(r *rule) *int64 { return &r.Fork.Cut }).Required(),
	record.String(4, func(r *rule) *string { return &r.Fork.ID }).Required(),
	record.String(5, func(r *rule) *string { return &r.Fork.Title }),
	record.Time(6, func(r *rule) *time.Time { return &r.Fork.Time }),
	record.String(7, func(r *rule) *string { return &r.Fork.From }),
	record.Bool(8, func(r *rule) *bool { return &r.Fork.Clone }),
	record.String(9, func(r *rule) *string { return &r.Fork.Root }),
	record.String(10, func(r *rule) *string { return &r.Fork.To }),
	record.Count(11, func(r *rule) *int64 { return &r.Length }).Required(),
	record.IDs(12, func(r *rule) *[]objstore.ID { return &r.Sums }).Required(),
	record.ID(13, func(r *rule) *objstore.ID { return &r.End }).Required(),
	record.Count(14, func(r *rule) *int { return &r.Depth }).Required(),
).Then(func(r *rule) error {
	if fits := int64(len(r.Sums)) == (r.Length+madeWindow-1)/madeWindow; !fits || r.Depth > maxDepth {
		return fmt.Errorf("%w: rule of a transcript", record.ErrFormat)
	}
	return nil
})

// PutFork stores what write writes, the file that transcript.WriteFork makes of a transcript and f, and returns its id
// and its length in bytes. name is of the file of the source.
func PutFork(
	tx *objstore.Tx, of *Stored, agent transcript.Agent, name string, f transcript.Fork, write func(io.Writer) error,
) (objstore.ID, int64, error) {
	depth, err := of.depth()
	if err != nil {
		return objstore.ID{}, 0, err
	}
	if depth == maxDepth || min(f.Cut, of.Size) == 0 {
		return PutBytes(tx, objstore.ID{}, write)
	}
	s := summer{}
	out := bufio.NewWriterSize(&s, TranscriptBlock)
	if err := cmp.Or(write(out), out.Flush()); err != nil || s.n == 0 {
		return objstore.ID{}, 0, err
	}
	n := Node{Length: s.n, Made: true}
	if n.Parent, err = of.prefix(tx, min(f.Cut, of.Size)); err != nil {
		return objstore.ID{}, 0, err
	}
	if has, err := tx.Has(objstore.Transcript, n.Parent); err != nil || !has { // from here on gc leaves it
		return objstore.ID{}, 0, cmp.Or(err, objstore.ErrNotFound)
	}
	r := rule{Agent: agent, Name: path.Base(name), Fork: f, Length: s.n, Depth: depth + 1}
	r.Sums, r.End = s.done()
	if n.Tail, err = tx.Put(objstore.Blob, ruleTable.Encode(&r), objstore.ID{}); err != nil {
		return objstore.ID{}, 0, err
	}
	id, err := tx.Put(objstore.Transcript, n.Encode(), objstore.ID{})
	return id, n.Length, err
}

// making is the beginning of a transcript that a rule makes.
type making struct {
	get  objstore.Getter
	node *Node
	last int   // block
	rule *rule // nil: not read yet
	buf  []byte
	at   int64 // of buf, which of the windows it is
}

func newMaking(get objstore.Getter, n *Node) *making {
	return &making{get: get, node: n, last: int((n.Length - 1) / TranscriptBlock), at: -1}
}

// first is the record of the first bytes of what the rule makes.
func (m *making) first(length int64) *Node {
	n := *m.node
	n.Length = length
	return &n
}

// id is that of the record of the first k+1 blocks.
func (m *making) id(k int) objstore.ID {
	return objstore.Sum(objstore.Transcript, m.first(int64(k+1)*TranscriptBlock).Encode())
}

func (m *making) load() error {
	if m.rule != nil {
		return nil
	}
	raw, err := m.get.Get(objstore.Blob, m.node.Tail)
	if err != nil {
		return fmt.Errorf("transcript: %w", err)
	}
	r := &rule{}
	if err := ruleTable.Decode(raw, r); err != nil {
		return m.damaged(err)
	}
	if m.node.Length > r.Length {
		return m.damaged(fmt.Errorf("rule for %d bytes, wants %d", r.Length, m.node.Length))
	}
	m.rule = r
	return nil
}

func (m *making) damaged(err error) error {
	id := objstore.Sum(objstore.Transcript, m.node.Encode())
	return &value.OpError{Op: "transcript", Subject: id.Short(), Err: fmt.Errorf("%w: %w", kv.ErrCorrupt, err)}
}

// block gives a block of at most so many bytes; it is valid until the next call.
func (m *making) block(k int, length int64) ([]byte, error) {
	if err := m.load(); err != nil {
		return nil, err
	}
	const blocks = madeWindow / TranscriptBlock
	if w := int64(k) / blocks; m.at != w {
		if err := m.fill(w); err != nil {
			return nil, err
		}
	}
	from := int64(k) % blocks * TranscriptBlock
	if from+length > int64(len(m.buf)) {
		return nil, m.damaged(io.ErrUnexpectedEOF)
	}
	return m.buf[from : from+length], nil
}

// fill makes one of the windows.
func (m *making) fill(w int64) error {
	m.at, m.buf = -1, nil
	if w >= int64(len(m.rule.Sums)) {
		return m.damaged(io.ErrUnexpectedEOF)
	}
	win := window{make([]byte, 0, min(madeWindow, m.rule.Length-w*madeWindow))}
	if err := m.write(&skipping{&win, w * madeWindow}); err != nil && !errors.Is(err, errFull) {
		return err
	}
	if objstore.Sum(objstore.Blob, win.buf) != m.rule.Sums[w] {
		return m.damaged(errOther)
	}
	m.at, m.buf = w, win.buf
	return nil
}

// errOther is returned where a rule makes other bytes than it did, errDepth where it does not say how many others it
// needs.
var (
	errOther = errors.New("its rule makes other bytes")
	errDepth = errors.New("its rule needs too many others")
)

// CheckMade makes all that the rule of a record makes. The error is kv.ErrCorrupt where that is something else, or of
// what cannot be read.
func CheckMade(get objstore.Getter, n *Node) error {
	m := newMaking(get, n)
	if err := m.load(); err != nil {
		return err
	}
	return m.writeAll(io.Discard)
}

// write writes all that the rule makes. It is not checked.
func (m *making) write(w io.Writer) error {
	of, err := OpenTranscript(m.get, m.node.Parent)
	if err != nil {
		return err
	}
	if depth, err := of.depth(); err != nil || depth >= m.rule.Depth {
		return cmp.Or(err, m.damaged(errDepth))
	}
	src := transcript.Source{ReaderAt: of, Size: of.Size, Name: m.rule.Name, Ended: true}
	return transcript.WriteFork(w, m.rule.Agent, src, m.rule.Fork)
}

// writeAll writes all that the rule makes; where that is not what it was, it is an error at the end.
func (m *making) writeAll(w io.Writer) error {
	s := summer{to: w}
	if err := m.write(&s); err != nil {
		return err
	}
	if sums, _ := s.done(); !slices.Equal(sums, m.rule.Sums) {
		return m.damaged(errOther)
	}
	return nil
}

// end is the id that the last block would have as a blob.
func (m *making) end() (objstore.ID, error) {
	if err := m.load(); err != nil {
		return objstore.ID{}, err
	}
	if m.node.Length == m.rule.Length {
		return m.rule.End, nil
	}
	block, err := m.block(m.last, tailLength(m.node.Length))
	return objstore.Sum(objstore.Blob, block), err
}

// begins tells how many of the windows f begins with, of those that lie in the first length bytes.
func (m *making) begins(f io.ReaderAt, length int64) (same int64, err error) {
	if err := m.load(); err != nil {
		return 0, err
	}
	for _, sum := range m.rule.Sums {
		n := min(madeWindow, m.rule.Length-same)
		if same+n > length {
			break
		}
		h := objstore.NewHasher()
		_, err := io.Copy(h, io.NewSectionReader(f, same, n))
		if err != nil || h.Sum() != sum {
			return same, err
		}
		same += n
	}
	return same, nil
}

// resume is a writer behind all that the rule makes, where that is just the first length bytes of f; else nil.
func (m *making) resume(tx *objstore.Tx, f io.ReaderAt, length int64) (*Writer, error) {
	if err := m.load(); err != nil || m.rule.Length != length {
		return nil, err
	}
	if same, err := m.begins(f, length); err != nil || same < length {
		return nil, err
	}
	id, err := tx.Put(objstore.Transcript, m.first(length).Encode(), objstore.ID{})
	if err != nil {
		return nil, err
	}
	tail := make([]byte, tailLength(length))
	if _, err := f.ReadAt(tail, length-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	w := &Writer{Tx: tx, id: id, kept: true}
	w.standOn(m, length, tail)
	return w, nil
}

// standOn has w go on behind the first length bytes of what is made, which end with tail. Their whole blocks stay made,
// so that the same bytes have the same id, wherever captures ended.
func (w *Writer) standOn(m *making, length int64, tail []byte) {
	w.Length = length
	if of, err := readNode(m.get, m.node.Parent); err == nil && !of.Made { // a hint: what comes next was made of it
		w.Tail = of.Tail
	}
	w.tail = make([]byte, 0, TranscriptBlock)
	if rest := length % TranscriptBlock; rest > 0 {
		w.tail = append(w.tail, tail[:rest]...)
	}
	if whole := length - length%TranscriptBlock; whole > 0 {
		w.under = m.first(whole)
		w.Parent = objstore.Sum(objstore.Transcript, w.under.Encode())
	}
}

// under is the record of what is made up to block k, which may not be stored; nil: it is.
func (s *Stored) under(k int) *Node {
	if k < 0 || !s.isMade(k) {
		return nil
	}
	return s.made.first(int64(k+1) * TranscriptBlock)
}

// summer tells the sums of what is written to it, and writes it on.
type summer struct {
	to   io.Writer // nil: nowhere
	n    int64
	most int64            // bytes that are summed; 0: all
	all  *objstore.Hasher // of the window
	last *objstore.Hasher // of the block
	sums []objstore.ID
}

func (s *summer) Write(p []byte) (int, error) {
	if s.to != nil {
		if n, err := s.to.Write(p); err != nil {
			return n, err
		}
	}
	n := len(p)
	if s.most > 0 {
		p = p[:min(int64(n), s.most-s.n)]
	}
	for len(p) > 0 {
		if s.n%madeWindow == 0 {
			s.window()
			s.all = objstore.NewHasher()
		}
		if s.n%TranscriptBlock == 0 {
			s.last = objstore.NewHasher()
		}
		k := min(int64(len(p)), TranscriptBlock-s.n%TranscriptBlock)
		_, _ = s.all.Write(p[:k])
		_, _ = s.last.Write(p[:k])
		s.n += k
		p = p[k:]
	}
	return n, nil
}

func (s *summer) window() {
	if s.all != nil {
		s.sums = append(s.sums, s.all.Sum())
	}
}

// done gives the sums of the windows and that of the last block; something was written.
func (s *summer) done() (sums []objstore.ID, end objstore.ID) {
	s.window()
	s.all = nil
	return s.sums, s.last.Sum()
}

// writeBehind writes what write writes to w, which is at the beginning. Where that begins with what a rule makes of the
// transcript, it is written behind that, and write is called twice. The writer is what has it then.
func (s *Stored) writeBehind(w *Writer, write func(io.Writer) error) (*Writer, error) {
	out := bufio.NewWriterSize(w, 256<<10)
	if s.made != nil && w.Length == 0 {
		is, err := s.made.isBegun(write)
		if err != nil {
			return nil, err
		}
		if is {
			if w, err = s.AppendTo(w.Tx, s.made.node.Length); err != nil {
				return nil, err
			}
			out.Reset(&skipping{w, w.Length})
		}
	}
	return w, cmp.Or(write(out), out.Flush())
}

// isBegun reports whether what write writes begins with all that the rule makes.
func (m *making) isBegun(write func(io.Writer) error) (bool, error) {
	if err := m.load(); err != nil {
		return false, err
	}
	s := summer{most: m.rule.Length}
	if err := write(&s); err != nil || s.n != m.rule.Length {
		return false, err
	}
	sums, _ := s.done()
	return slices.Equal(sums, m.rule.Sums), nil
}

// skipping writes what comes behind the first bytes.
type skipping struct {
	w    io.Writer
	skip int64
}

func (b *skipping) Write(p []byte) (int, error) {
	k := min(b.skip, int64(len(p)))
	b.skip -= k
	n, err := b.w.Write(p[k:])
	return n + int(k), err
}

// errFull ends a making of which no more is needed.
var errFull = errors.New("enough")

// window keeps as much as buf has room for.
type window struct{ buf []byte }

func (w *window) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p[:min(len(p), cap(w.buf)-len(w.buf))]...)
	if len(w.buf) == cap(w.buf) {
		return len(p), errFull
	}
	return len(p), nil
}
