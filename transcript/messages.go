package transcript

import (
	"errors"
	"time"

	"rewind/internal/jsonscan"
)

// Message is something that was said, for people to read. All of it is untrusted.
type Message struct {
	Who     string // user, assistant, tool, system
	Time    time.Time
	Text    string // up to 4 KiB
	Cut     bool   // there is more of it
	Calls   []Call
	Results []string
	Line    int // of its first record
	Turn    int // in which it was said, from 1; 0: before the first
}

// Messages returns the last n messages of a session file that a person would read, in their order. What a person went back behind is not
// among them. Memory depends on n, not on the file.
func Messages(agent Agent, src Source, n int) ([]Message, error) {
	if n <= 0 {
		return nil, nil
	}
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	r := ring{n: n, tracker: newTracker(agent, d)}
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		r.take(l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.list(), nil
}

// list are the messages, in their order.
func (r *ring) list() []Message {
	r.forget()
	out := make([]Message, 0, len(r.said))
	for i := range r.said {
		m := r.said[(r.first+i)%len(r.said)].Message
		m.Turn = r.said[(r.first+i)%len(r.said)].turn + 1
		if m.Who != "assistant" || m.Text != "" || len(m.Calls) > 0 { // one that has only thought says nothing
			out = append(out, m)
		}
	}
	return out
}

// said is a message with its place.
type said struct {
	Message
	id    string // of the model's message
	after string // the record that its first one names as the one before
	turn  int    // index in the turns; -1: before the first
}

// ring holds the newest n messages.
type ring struct {
	*tracker
	n     int
	first int // the oldest's index, once there are n
	said  []said

	pushed int
	full   bool // there were n at once, and none that could have come before another: who has read more before has the same
}

// maxEarly is how far in front of its prompt an answer may stand, in messages.
const maxEarly = 16

func (r *ring) take(l *line) {
	before := len(r.c.Turns)
	r.add(l)
	if r.moved && len(r.c.Turns) == before {
		r.forget()
	}
	who := ""
	switch l.Kind {
	case Prompt:
		who = "user"
	case Reply:
		who = "assistant"
	case Result:
		who = "tool"
	case Compact:
		who = "system"
	case Other, Context, Rewound, Broken:
		return
	}
	if l.Side || l.Hidden || r.within && len(r.c.Turns) < sure {
		return
	}
	m := said{id: l.Message, after: l.Parent, turn: len(r.c.Turns) - 1, Message: Message{
		Who: who, Time: l.Time, Text: l.Text, Cut: l.says.Cut, Line: l.Line,
		Calls: append([]Call(nil), l.Calls...), Results: append([]string(nil), l.Results...),
	}}
	if newest := r.newest(); newest != nil && m.id != "" && newest.id == m.id && newest.turn == m.turn {
		newest.join(m)
		return
	}
	r.push(m)
	if l.Kind == Prompt && l.ID != "" {
		r.early(l.ID)
	}
}

// early puts the newest message, a prompt, before an answer to it that was written first, as Claude 2.1.30 does when the disk is slow.
func (r *ring) early(prompt string) {
	n := len(r.said)
	at := func(i int) *said { return &r.said[(r.first+i)%n] }
	answer := 0
	for answer < n-1 && at(answer).after != prompt {
		answer++
	}
	for i := n - 1; i > answer; i-- {
		*at(i), *at(i - 1) = *at(i - 1), *at(i)
		at(i).turn = at(i - 1).turn
	}
}

func (r *ring) push(m said) {
	if len(r.said) < r.n {
		r.said = append(r.said, m)
	} else {
		r.said[r.first] = m
		r.first = (r.first + 1) % r.n
	}
	r.pushed++
	r.full = r.full || len(r.said) == r.n && r.pushed >= r.n+maxEarly
}

func (r *ring) newest() *said {
	if len(r.said) == 0 {
		return nil
	}
	return &r.said[(r.first+len(r.said)-1)%len(r.said)]
}

// forget leaves out the messages of turns that are gone.
func (r *ring) forget() {
	keep := make([]said, 0, len(r.said))
	for i := range r.said {
		m := r.said[(r.first+i)%len(r.said)]
		if m.turn < 0 || !r.c.Turns[m.turn].Gone {
			keep = append(keep, m)
		}
	}
	r.said, r.first = keep, 0
}

// join adds a further record of the same message.
func (m *said) join(more said) {
	text := jsonscan.Text{Limit: maxText, B: []byte(m.Text), Cut: m.Cut}
	if m.Text != "" && more.Text != "" {
		text.Add([]byte{'\n'})
	}
	text.Add([]byte(more.Text))
	m.Text, m.Cut = text.String(), text.Cut || more.Cut
	if room := maxCalls - len(m.Calls); room > 0 {
		m.Calls = append(m.Calls, more.Calls[:min(room, len(more.Calls))]...)
	}
}

// The end of a long conversation is read without what came before it. What a record is depends on few before it, and on none before the
// newest prompt but one; which turns are gone may depend on more: then all is read after all.

// sure is the number of a turn, of those that are read from the middle on, at which it does not matter any more what came before.
const sure = 2

const (
	leastWindow = 1 << 20 // bytes that are read first of the end
	moreWindow  = 8       // times as many are read next
)

// windowed reports whether an agent's file can be read from the middle on.
func windowed(agent Agent, src Source) bool {
	d, err := dialectOf(agent, src)
	return err == nil && d.within != nil
}

// LastMessages is Messages without the numbers of turns and lines, and reads no more of the end than it needs.
func LastMessages(agent Agent, src Source, n int) ([]Message, error) {
	return lastMessages(agent, src, n, leastWindow)
}

func lastMessages(agent Agent, src Source, n int, window int64) ([]Message, error) {
	for ; n > 0 && window < src.Size && windowed(agent, src); window *= moreWindow {
		r := ring{n: n}
		err := readWithin(agent, src, lineBehind(src, src.Size-window), maxText, func(t *tracker, l *line) {
			r.tracker = t
			r.take(l)
		})
		if err != nil {
			return nil, err
		}
		if r.full && !r.reaches {
			return unnumbered(r.list()), nil
		}
	}
	list, err := Messages(agent, src, n)
	return unnumbered(list), err
}

func unnumbered(list []Message) []Message {
	for i := range list {
		list[i].Line, list[i].Turn = 0, 0
	}
	return list
}

// lineBehind is the offset of the first line that begins behind off; the size if there is none.
func lineBehind(src Source, off int64) int64 {
	s := scanner(src, off)
	if s.Line() && s.EndLine() {
		return s.Offset()
	}
	return src.Size
}

// EndOfTurn is the offset of CutTurn. turns are those that are known of the conversation, which src may be the beginning of: no more is
// read than what is around the turn.
func EndOfTurn(agent Agent, src Source, turns []Turn, n int) (int64, error) {
	if n > sure && n <= len(turns) && windowed(agent, src) {
		part := src
		if n+1 < len(turns) {
			part.Size = min(src.Size, turns[n+1].Start)
		}
		from, at := turns[n-1-sure].Start, int64(0)
		err := readWithin(agent, part, from, maxSummaryText, func(t *tracker, l *line) {
			t.add(l)
			if len(t.c.Turns) == sure+1 {
				at = t.turn().End
			}
		})
		if err != nil {
			return 0, err
		}
		if end, err := cutWithin(agent, part, from, at, true); end > 0 || err != nil {
			return end, err
		}
	}
	cut, err := CutTurn(agent, src, n)
	return cut.Offset, err
}

// EndOfCall is the offset of CutCall, and reads no more of the end than it needs.
func EndOfCall(agent Agent, src Source, call string) (int64, error) {
	for window := int64(leastWindow); window < src.Size && windowed(agent, src); window *= moreWindow {
		from := lineBehind(src, src.Size-window)
		at, err := callEnd(agent, src, from, call)
		if err == nil {
			var end int64
			if end, err = cutWithin(agent, src, from, at, false); end > 0 {
				return end, err
			}
		}
		if err != nil && !errors.Is(err, ErrNoCall) {
			return 0, err
		}
	}
	cut, err := CutCall(agent, src, call)
	return cut.Offset, err
}

// readWithin reads records, with so much of their text, from one in the middle on.
func readWithin(agent Agent, src Source, from int64, text int, fn func(*tracker, *line)) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	t := newTracker(agent, d)
	t.within = true
	return readLines(src, from, d.within(), newLine(text, false), func(l *line) error {
		fn(t, l)
		return nil
	})
}

// cutWithin is cutAt of the records from one in the middle on; 0: what came before has to be read.
func cutWithin(agent Agent, src Source, from, at int64, answered bool) (int64, error) {
	c := cutter{at: at, answered: answered}
	err := readWithin(agent, src, from, maxSummaryText, func(t *tracker, l *line) {
		c.tracker = t
		c.take(l)
	})
	if err != nil || c.tracker == nil || c.reaches || c.best.Turn <= sure {
		return 0, err
	}
	return c.best.Offset, nil
}
