package transcript

import (
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
	if err := d.lines(src, 0, newLine(maxText, false), r.take); err != nil {
		return nil, err
	}
	r.forget()
	out := make([]Message, 0, len(r.said))
	for i := range r.said {
		m := r.said[(r.first+i)%len(r.said)].Message
		m.Turn = r.said[(r.first+i)%len(r.said)].turn + 1
		if m.Who != "assistant" || m.Text != "" || len(m.Calls) > 0 { // one that has only thought says nothing
			out = append(out, m)
		}
	}
	return out, nil
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
}

func (r *ring) take(l *line) error {
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
		return nil
	}
	if l.Side || l.Hidden {
		return nil
	}
	m := said{id: l.Message, after: l.Parent, turn: len(r.c.Turns) - 1, Message: Message{
		Who: who, Time: l.Time, Text: l.Text, Cut: l.says.Cut, Line: l.Line,
		Calls: append([]Call(nil), l.Calls...), Results: append([]string(nil), l.Results...),
	}}
	if newest := r.newest(); newest != nil && m.id != "" && newest.id == m.id && newest.turn == m.turn {
		newest.join(m)
		return nil
	}
	r.push(m)
	if l.Kind == Prompt && l.ID != "" {
		r.early(l.ID)
	}
	return nil
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
		return
	}
	r.said[r.first] = m
	r.first = (r.first + 1) % r.n
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
