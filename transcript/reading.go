package transcript

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"rewind/internal/record"
)

// Scan reads a whole session file, in one pass and with memory by turns.
func Scan(agent Agent, src Source) (*Conversation, error) { return NewReading(agent).On(src) }

// A Reading is a conversation as far as its file was read. It goes on with what is appended: each record is read once.
// For one goroutine.
type Reading struct {
	agent Agent
	d     *dialect
	t     *tracker
	p     parser
	l     *line
	end   int64 // of the records that were read
	lines int
	whole bool // only whole records were read, so that the next one begins at end
}

// NewReading is one that has read nothing.
func NewReading(agent Agent) *Reading { return &Reading{agent: agent} }

// On reads the records of src behind those that were read before, and gives the conversation up to its end; what is
// read later does not change that. It is for the caller to know that src begins with what was read. What cannot be gone
// on with is read anew: a document, a last line without its end, what could not be read.
func (r *Reading) On(src Source) (*Conversation, error) {
	d, err := dialectOf(r.agent, src)
	if err != nil {
		return nil, err
	}
	if !r.whole || r.d != d || src.Size < r.end {
		*r = Reading{agent: r.agent, d: d, t: newTracker(r.agent, d), p: d.parser(), l: newLine(maxSummaryText, false)}
	}
	r.whole = false
	end := int64(-1) // of a document nothing can be gone on with
	if d.read == nil {
		end = linesEnd(src, r.end)
	}
	if end >= 0 && !src.Ended { // no line is to be parsed twice
		src.Size = end
	}
	before := r.lines
	err = d.records(src, r.end, r.p, r.l, func(l *line) error {
		l.Line += before
		r.lines, r.end = l.Line, l.Offset+l.Size
		r.t.add(l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.whole = src.Size == end
	return r.t.done(), nil
}

// linesEnd is the end of the last line that has one, of those behind from; from if there is none, -1 if that cannot be
// read.
func linesEnd(src Source, from int64) int64 {
	buf := make([]byte, 4<<10)
	for end := src.Size; end > from; {
		n := min(int64(len(buf)), end-from)
		if m, _ := src.ReadAt(buf[:n], end-n); int64(m) < n {
			return -1
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1
		}
		end -= n
	}
	return from
}

// ReadingVersion goes up whenever State writes something else, or the same file is read otherwise.
const ReadingVersion = 3

// State is what a Reading has to be gone on with in another process; nil: it has to begin anew there.
func (r *Reading) State() []byte {
	if !r.whole || r.d.within == nil {
		return nil
	}
	w := record.NewPacker()
	r.t.seen = placed{stored: r.t.seen.packed(), n: r.t.seen.n}
	r.state(w)
	return w.Bytes()
}

// ResumeReading is the Reading whose State that is, and the conversation as far as it has read; nil: it is none.
func ResumeReading(agent Agent, state string) (*Reading, *Conversation) {
	d, err := dialectOf(agent, Source{Name: "session.jsonl"})
	if err != nil || d.within == nil {
		return nil, nil
	}
	r := &Reading{agent: agent, d: d, t: newTracker(agent, d), p: d.parser(), l: newLine(maxSummaryText, false), whole: true}
	u := record.NewUnpacker(state)
	if r.state(u); !u.Done() || !r.sound() {
		return nil, nil
	}
	return r, r.t.done()
}

// state writes or reads all that is not the same in every Reading.
func (r *Reading) state(p *record.Packer) {
	t := r.t
	record.Number(p, &r.end)
	record.Number(p, &r.lines)
	record.Number(p, &t.titleRank)
	p.Texts(&t.asked, &t.called, &t.message, &t.newest)
	record.Number(p, &t.lead)
	p.Flags(&t.bare, &t.closed, &t.moved, &t.full)
	record.List(p, &t.lost, func(s *string) { p.Texts(s) })
	p.Times(&t.now)
	record.List(p, &t.live, func(n *int) { record.Number(p, n) })
	record.List(p, &t.left, func(n *int) { record.Number(p, n) })
	record.List(p, &t.words, p.Fixed)
	record.Map(p, &t.parents, func(k *string) { p.Texts(k) }, func(n *int) { record.Number(p, n) })
	p.Texts(&t.seen.stored)
	t.c.state(p)
	switch q := r.p.(type) {
	case *claudeParser:
		p.Texts(&q.message)
		p.Flags(&q.called, &q.spoke, &q.boundary)
	case *codexParser:
		record.Number(p, &q.metas)
		p.Texts(&q.thread, &q.current, &q.reply, &q.said[0], &q.said[1])
		p.Flags(&q.mute, &q.ahead)
		record.List(p, &q.parts, func(k *codexPart) {
			record.Number(p, &k.at)
			record.Number(p, &k.ordinal)
		})
	}
}

func (c *Conversation) state(p *record.Packer) {
	p.Texts(&c.ID, &c.Cwd, &c.Version, &c.Title, &c.Parent.Session, &c.Parent.Message, &c.Last)
	based := c.Base != nil
	if p.Flags(&based); based {
		if c.Base == nil {
			c.Base = new(Base)
		}
		p.Texts(&c.Base.Session)
		record.Number(p, &c.Base.EndOrdinal)
		record.Number(p, &c.Base.EndOffset)
	}
	record.List(p, &c.Turns, func(t *Turn) {
		for _, n := range []*int{&t.Index, &t.After, &t.Messages} {
			record.Number(p, n)
		}
		for _, n := range []*int64{&t.Start, &t.At, &t.End} {
			record.Number(p, n)
		}
		record.Number(p, &t.Back)
		p.Texts(&t.User, &t.Last, &t.Summary)
		p.Times(&t.Time, &t.Left)
		p.Flags(&t.Gone, &t.Answered)
	})
	record.List(p, &c.Compactions, func(k *Compaction) {
		record.Number(p, &k.Offset)
		record.Number(p, &k.Line)
		record.Number(p, &k.Turn)
	})
	record.List(p, &c.Breaks, func(k *Break) {
		record.Number(p, &k.Offset)
		record.Number(p, &k.Line)
		record.Number(p, &k.Turn)
	})
	record.List(p, &c.Broken, func(n *int) { record.Number(p, n) })
	record.List(p, &c.Pending, func(k *Call) { p.Texts(&k.ID, &k.Name, &k.Target) })
	record.Number(p, &c.Messages)
	record.Number(p, &c.Records)
	record.Number(p, &c.End)
	p.Times(&c.First, &c.New)
}

// sound reports whether a Reading that was stored is one that can be: nothing in it leads out of its turns, or in a
// circle.
func (r *Reading) sound() bool {
	t, turns := r.t, r.t.c.Turns
	within := func(n int) bool { return n >= 0 && n < len(turns) }
	live := make([]bool, len(turns))
	for _, i := range t.live {
		if !within(i) || live[i] || turns[i].Gone {
			return false
		}
		live[i] = true
	}
	for i, turn := range turns {
		follows := turn.Index == i+1 && turn.After >= 0 && turn.After <= i
		if !follows || !turn.Gone && !live[i] {
			return false
		}
	}
	for _, n := range t.parents {
		if n < 0 || n > len(turns) {
			return false
		}
	}
	if !t.seen.sound(func(n int) bool { return n >= unplaced && n <= len(turns) }) {
		return false
	}
	return len(t.words) == len(turns) && !slices.ContainsFunc(t.left, func(i int) bool { return !within(i) }) &&
		r.end >= 0 && r.lines >= 0 && len(t.lost) == len(t.c.Breaks) && t.lead < r.end
}

// placed has numbers by keys of 8 bytes: those that came, and those that were stored, which lie sorted in one text and
// are looked for there, so that to read them costs nothing.
type placed struct {
	came   map[uint64]int32
	stored string // placedSize bytes each: key, number, big-endian; of those that are in came, too, the number there counts
	n      int    // keys
}

const placedSize = 12

func (p *placed) of(key uint64) (n int, ok bool) {
	if k, ok := p.came[key]; ok {
		return int(k), true
	}
	if i, ok := p.find(key); ok {
		return p.number(i), true
	}
	return 0, false
}

func (p *placed) put(key uint64, n int) {
	if _, ok := p.of(key); !ok {
		p.n++
	}
	if p.came == nil {
		p.came = map[uint64]int32{}
	}
	p.came[key] = int32(n)
}

// find is where a stored key is, or would be.
func (p *placed) find(key uint64) (i int, there bool) {
	low, high := 0, len(p.stored)/placedSize
	for low < high {
		if mid := (low + high) / 2; p.key(mid) < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(p.stored)/placedSize && p.key(low) == key
}

func (p *placed) key(i int) uint64 {
	return binary.BigEndian.Uint64([]byte(p.stored[i*placedSize:][:8]))
}

func (p *placed) number(i int) int {
	return int(int32(binary.BigEndian.Uint32([]byte(p.stored[i*placedSize+8:][:4]))))
}

// packed is all as it is stored.
func (p *placed) packed() string {
	out := make([]byte, 0, p.n*placedSize)
	from := 0
	for _, key := range slices.Sorted(maps.Keys(p.came)) {
		i, there := p.find(key)
		out = append(out, p.stored[from*placedSize:i*placedSize]...)
		if from = i; there {
			from++
		}
		out = binary.BigEndian.AppendUint64(out, key)
		out = binary.BigEndian.AppendUint32(out, uint32(p.came[key]))
	}
	return string(append(out, p.stored[from*placedSize:]...))
}

// sound takes what was stored; not if it cannot be that: keys that do not follow each other, or a number that is not
// right.
func (p *placed) sound(right func(n int) bool) bool {
	p.n = len(p.stored) / placedSize
	if len(p.stored)%placedSize != 0 {
		return false
	}
	for i := range p.n {
		if i > 0 && p.key(i-1) >= p.key(i) || !right(p.number(i)) {
			return false
		}
	}
	return true
}
