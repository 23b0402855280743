package transcript

import (
	"errors"
	"slices"
	"time"

	"rewind/internal/jsonscan"
)

// Message is something that was said, for people to read. All of it is untrusted.
type Message struct {
	Who     string // user, assistant, tool, system
	Time    time.Time
	Text    string // up to ShownText, unless more was asked for
	Cut     bool   // there is more of it
	Calls   []Call
	Results []string
	At      int64 // where its first record begins, in bytes; what was put in front of another has that one's
	Line    int   // of its first record
	Turn    int   // in which it was said, from 1; 0: before the first
}

// Messages returns the last n messages of a session file that a person would read, in their order. What a person went
// back behind is not among them. Memory depends on n, not on the file.
func Messages(agent Agent, src Source, n int) ([]Message, error) {
	if n <= 0 {
		return nil, nil
	}
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	r := ring{n: n, text: maxText, tracker: newTracker(agent, d)}
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		r.take(l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.forget()
	return r.list(), nil
}

// list are the messages that it has, in their order.
func (r *ring) list() []Message {
	out := make([]Message, 0, len(r.said))
	for i := range r.said {
		if m := &r.said[(r.first+i)%len(r.said)]; m.says() {
			m.Turn = m.turn + 1
			out = append(out, m.Message)
		}
	}
	return out
}

// says reports whether there is something to read: one that has only thought says nothing.
func (m *said) says() bool { return m.Who != "assistant" || m.Text != "" || len(m.Calls) > 0 }

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

	text   int // bytes of each text that are kept
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
	who := speakers[l.Kind]
	if who == "" {
		return
	}
	if !r.within || len(r.c.Turns) >= sure {
		r.say(l, who, len(r.c.Turns)-1)
	}
}

// say takes a message that was said in a turn.
func (r *ring) say(l *line, who string, turn int) {
	if l.Side || l.Hidden {
		return
	}
	m := said{id: l.Message, after: l.Parent, turn: turn, Message: Message{
		Who: who, Time: l.Time, Text: l.Text, Cut: l.says.Cut, At: l.Offset, Line: l.Line,
		Calls: append([]Call(nil), l.Calls...), Results: append([]string(nil), l.Results...),
	}}
	if newest := r.newest(); newest != nil && m.id != "" && newest.id == m.id && newest.turn == m.turn {
		newest.join(m, r.text)
		return
	}
	r.push(m)
	if l.Kind == Prompt && l.ID != "" {
		r.early(l.ID)
	}
}

// speakers are who says what records of a kind do; of the others nobody.
var speakers = [...]string{Prompt: "user", Reply: "assistant", Result: "tool", Compact: "system", Broken: ""}

// early puts the newest message, a prompt, before an answer to it that was written first, as Claude 2.1.30 does when
// the disk is slow.
func (r *ring) early(prompt string) {
	n := len(r.said)
	at := func(i int) *said { return &r.said[(r.first+i)%n] }
	answer := 0
	for answer < n-1 && at(answer).after != prompt {
		answer++
	}
	for i := n - 1; i > answer; i-- {
		*at(i), *at(i - 1) = *at(i - 1), *at(i)
		at(i).turn, at(i).At, at(i-1).At = at(i-1).turn, at(i-1).At, at(i).At
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

// join adds a further record of the same message. Of its text so many bytes are kept.
func (m *said) join(more said, limit int) {
	text := jsonscan.Text{Limit: limit, B: []byte(m.Text), Cut: m.Cut}
	if m.Text != "" && more.Text != "" {
		text.Add([]byte{'\n'})
	}
	text.Add([]byte(more.Text))
	m.Text, m.Cut = text.String(), text.Cut || more.Cut
	if room := maxCalls - len(m.Calls); room > 0 {
		m.Calls = append(m.Calls, more.Calls[:min(room, len(more.Calls))]...)
	}
}

// The end of a long conversation is read without what came before it. What a record is depends on few before it, and on
// none before the newest prompt but one; which turns are gone may depend on more: then all is read after all.

// sure is the number of a turn, of those that are read from the middle on, at which it does not matter any more what
// came before.
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
		r := ring{n: n, text: maxText}
		err := readWithin(agent, src, lineBehind(src, src.Size-window), maxText, func(t *tracker, l *line) {
			r.tracker = t
			r.take(l)
		})
		if err != nil {
			return nil, err
		}
		r.forget()
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

// Page are messages of a conversation that follow each other, of those that Messages gives.
type Page struct {
	Messages []Message
	Older    bool  // there are some before them
	Next     int64 // where the first one behind them begins; the end of the source if there is none
}

const (
	leastPage = 256 << 10 // bytes in front of a place that are read first for the messages there
	nearby    = 1 << 20   // bytes at most that are read in front of those, since what a record is depends on few before it
)

// How many bytes of a message's text are read.
const (
	ShownText = maxText // of each of a page
	WholeText = 1 << 20 // where one is asked for
)

// MessagesBefore gives the last n messages that begin in front of a place, with so many bytes of text each. turns are
// those of the whole conversation, which src may be the beginning of: they say what was gone back behind. What is read
// is around the messages.
func MessagesBefore(agent Agent, src Source, turns []Turn, at int64, n, text int) (Page, error) {
	return messagesBefore(agent, src, turns, at, n, text, leastPage)
}

func messagesBefore(agent Agent, src Source, turns []Turn, at int64, n, text int, window int64) (Page, error) {
	for at = min(at, src.Size); ; window *= moreWindow {
		low := at - window
		if !windowed(agent, src) {
			low = 0
		}
		p, err := messagesIn(agent, src, turns, stretch{max(low, 0), at, 0, text})
		if err != nil {
			return p, err
		}
		if more := len(p.Messages) - n; more > 0 {
			p.Messages, p.Older = p.Messages[more:], true
			return p, nil
		}
		if low <= 0 {
			return p, nil
		}
	}
}

// MessagesFrom gives the first n messages that begin at a place or behind it; turns and text are as for MessagesBefore.
func MessagesFrom(agent Agent, src Source, turns []Turn, at int64, n, text int) (Page, error) {
	p, err := messagesIn(agent, src, turns, stretch{at, src.Size, n, text})
	if err == nil && len(p.Messages) > n {
		p.Next = p.Messages[n].At
		p.Messages = p.Messages[:n]
	}
	return p, err
}

// stretch is what is read of a conversation: the messages that begin between two places. With n there are at least n+1
// of them, or all; of each text so many bytes.
type stretch struct {
	from, to int64
	n, text  int
}

// messagesIn are the messages of a stretch, without the numbers of their lines.
func messagesIn(agent Agent, src Source, turns []Turn, in stretch) (p Page, err error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return p, err
	}
	begin, parse := int64(0), d.parser()
	if windowed(agent, src) {
		if begin = beginFor(src, turns, in.from); begin > 0 {
			parse = d.within()
		}
	}
	r, inside, behind := ring{n: 1 << 30, text: in.text}, 0, 0
	err = d.records(src, begin, parse, newLine(in.text, false), func(l *line) error {
		k, pushed := turnAt(turns, l.Offset), r.pushed
		if who := speakers[l.Kind]; who != "" && (k < 0 || !turns[k].Gone) {
			r.say(l, who, k)
		}
		if r.pushed == pushed {
			return nil
		}
		if pushed > 0 && r.said[pushed-1].At >= in.from && r.said[pushed-1].says() { // it is whole
			inside++
		}
		if r.newest().At >= in.to || in.n > 0 && inside > in.n {
			behind++
		}
		if behind > maxEarly {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return p, err
	}
	p.Older, p.Next = begin > 0, src.Size
	for _, m := range r.list() {
		switch m.Line = 0; {
		case m.At < in.from:
			p.Older = true
		case m.At < in.to:
			p.Messages = append(p.Messages, m)
		case p.Next == src.Size:
			p.Next = m.At
		}
	}
	return p, nil
}

// beginFor is where reading begins for the messages from a place on: with the turn before the one before its own,
// unless that is far.
func beginFor(src Source, turns []Turn, at int64) (from int64) {
	if k := turnAt(turns, at) - sure; k > 0 {
		from = turns[k].Start
	}
	if near := at - nearby; near > from {
		from = lineBehind(src, near)
	}
	return from
}

// turnAt is the index of the turn that a record is in; -1: it comes before the first.
func turnAt(turns []Turn, off int64) int {
	k, _ := slices.BinarySearchFunc(turns, off, func(t Turn, off int64) int {
		if t.At <= off {
			return -1
		}
		return 1
	})
	return k - 1
}
