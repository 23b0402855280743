package view

import (
	"cmp"
	"strconv"
	"strings"

	"rewind/api"
	"rewind/internal/render"
)

// Detail is one moment: what it changed, and the conversation there.
type Detail struct {
	ID, Short string // of the checkpoint
	Name      string // what goes back to it: the turn, or the checkpoint
	made      string // of a step what made it; "": it is a whole turn, or no agent's
	Of        string // the address of the turn that a step is of
	When      moment
	Session   string // its address
	Agent     string
	Turn      uint64
	Whose     string // what its session is called beside the turn; "": there is no other one
	Prompt    string
	Copy      string // the prompt, to be typed anew; "": CopyFrom has it
	CopyFrom  string // its address, where it is long
	Answer    said
	Message   string
	Commit    string
	Git       string // branch
	Tags      []tagged
	Since     string // the address of what has changed since
	Reverts   bool   // its change can be taken out
	Change    change
	Secrets   []secret // what it brought that looks like one
	Edited    []string // files that its turn edited and no checkpoint has, with the reason
	Whole     bool     // it is a turn, not one of its steps
	ReadOn    string   // the address of the conversation from the turn on
	Talk      talk
	NoTalk    string
	Current   bool
	Safety    bool
	NoCode    bool   // only the conversation is known
	Before    string // the name of the state in which its turn began; "": there is none
	where     string // its address
	from      string // the name of the state that it changed
}

// message is one of a conversation.
type message struct {
	Who   string
	Turn  int // 0: it comes before the first
	When  moment
	Fresh bool // it was said at another time than the one before it
	said
	First string // line of what a tool said, where there are more
	More  int    // lines behind it
	Calls []call
}

// call is one of a tool.
type call struct{ Name, Target string }

const (
	shownSecrets = 5 // are named
	shownTags    = 12
	shownEdited  = 12
)

// madeBy is what made a checkpoint; its tags and notes stand beside it.
func madeBy(r *api.ShowResponse) string {
	c := &r.Checkpoint
	if len(r.Changes) == 1 {
		c.Paths = []api.Text{r.Changes[0].Path}
	}
	c.Tags, c.Notes = nil, nil
	return render.StepText(c)
}

// Detail turns what show answers into one moment. end is that of one of several rows of a turn, which the turn's name
// does not mean.
func (f Frame) Detail(r *api.ShowResponse, end string) *Detail {
	c := &r.Checkpoint
	d := &Detail{
		ID: c.ID, Short: c.Short, Name: c.ID, When: f.moment(c.Time), Session: f.Path("s", c.Session),
		Agent: string(c.Agent), Turn: c.Turn,
		Whose: c.Whose, Prompt: prose(string(c.Prompt)), Message: prose(string(c.Message)),
		Secrets: secrets(r), NoTalk: string(r.Conversation),
		Current: c.Current, Safety: c.Safety, Tags: names(c.Tags),
	}
	session := c.Session
	if w := r.Whole; w != nil {
		session = w.Session
		d.When, d.Session, d.Agent, d.Turn, d.Prompt = f.moment(w.Time), f.Path("s", session), string(w.Agent),
			w.Turn, prose(string(w.Prompt))
		d.Current, d.Message, d.NoCode = w.Current, "", w.NoCode
		if end == "" {
			d.Name, d.Whole = api.TurnName(d.Turn, session), true
		}
	}
	if r.Whole == nil && len(c.By) == 0 { // what a person saved, or came from outside, is nobody's step
		d.Turn = 0
	}
	d.ofTurn(f, r, session)
	if r.Whole == nil && d.Message == "" {
		d.made = madeBy(r)
	}
	if c.Git != nil {
		d.Commit, d.Git = c.Git.Commit[:min(10, len(c.Git.Commit))], c.Git.Branch
	}
	for _, u := range r.NotCaptured {
		d.Edited = append(d.Edited, render.UncapturedPath(u))
	}
	d.Edited = briefs(d.Edited, shownEdited, briefWeight)
	d.where = f.Point(d.Name)
	d.Since = with(f.Path("diff"), "from", d.ID)
	changes := len(r.Files) > 0 && c.Event != "init"
	d.Reverts = changes && !d.NoCode && !d.Safety
	d.saidIn(f, r)
	if end != "" {
		d.where = with(f.Point(api.TurnName(d.Turn, session)), "end", end)
	}
	if d.from = d.Before; r.Whole == nil {
		d.from = d.ID + "~1"
	}
	d.Change = changed(r.Files, d.where, 0, roomOfChange)
	d.Change.contents(f, r.Files, d.from, d.ID)
	return d
}

// saidIn is the prompt of a turn, and how it was answered.
func (d *Detail) saidIn(f Frame, r *api.ShowResponse) {
	if m := r.Asked; m != nil {
		d.Prompt = prose(string(m.Text))
		if large := m.Cut || weight(string(m.Text)) > proseWeight; r.Whole != nil && large {
			d.CopyFrom = f.Point(api.TurnName(d.Turn, r.Whole.Session)) + "/prompt"
		} else if r.Whole != nil {
			d.Copy = string(m.Text)
		}
	}
	if m := r.Answered; m != nil {
		have := Room{nodes: answerNodes, bytes: answerWeight}
		d.Answer = f.said(m, answerWeight, &have, func(from int) string {
			if m.At == nil {
				return ""
			}
			return f.Point(d.Name) + "/talk?whole=" + strconv.FormatInt(*m.At, 10) + "&at=" + strconv.Itoa(from)
		})
	}
}

// How much of an answer stands above what changed. The conversation has it, too.
const (
	answerNodes  = 240
	answerWeight = 2_000
)

// said is what a message says, up to a weight. Of the model's it is Markdown, where there is room for its elements.
func (f Frame) said(m *api.Message, most int, r *Room, rest func(from int) string) said {
	whole := string(m.Text)
	one := said{Text: cut(whole, most)}
	if m.Cut || len(one.Text) < len(whole) {
		one.Text = one.Text[:lineEnd(one.Text)]
		one.Rest = rest(len(one.Text))
	}
	if !Marked(m) {
		return one
	}
	html, nodes, ok := markdown(one.Text, r.nodes/2)
	if bytes := len(html) - len(one.Text); ok && r.take(nodes, max(bytes, 0)) {
		one.HTML = html
	}
	return one
}

// Marked reports whether a message is Markdown: the model's is, what a person typed and tools say is not.
func Marked(m *api.Message) bool { return m.Who == "assistant" || m.Who == "system" }

// ofTurn names what was before a turn, and of a step the turn.
func (d *Detail) ofTurn(f Frame, r *api.ShowResponse, session string) {
	if d.Turn == 0 || !strings.Contains(session, "/") || d.NoCode {
		return
	}
	d.Before = "before:" + itoa(d.Turn) + "@" + session
	if r.Whole == nil {
		d.Of = f.Point(api.TurnName(d.Turn, session))
	}
}

// talk is a stretch of a conversation.
type talk struct {
	Messages []message
	Earlier  string // the address of what was said before; "": nothing was
	Later    string // and after
	OfTurn   bool   // Later is more of the turn
	Mark     string // what is behind the messages: the end of the turn, the checkpoint
	Behind   string // the address of what was said behind the mark
	Alone    bool   // the document is read to the end: what comes later is asked for as it comes into sight
	Href     string // of the turn with which that begins
}

// Said puts the conversation beside a moment: of a turn from its prompt on, else what was said before it.
func (f Frame) Said(d *Detail, r *api.MessagesResponse) {
	d.Talk = f.talkOf(d.Name, r, roomOfTalk, !d.Whole)
	if d.NoTalk == "" {
		d.NoTalk = string(r.Conversation)
	}
	if d.Whole && len(r.Messages) > 0 {
		d.ReadOn = f.Point(d.Name) + "/talk?read=1"
	}
	if len(r.Messages) > 0 { // whatever came later is told by who looks
		d.Talk.mark(f, d.Name, r, d.NoCode)
	}
}

// mark ends a stretch with the moment up to which it is, if it comes as far.
func (t *talk) mark(f Frame, name string, r *api.MessagesResponse, turn bool) {
	if t.Later != "" { // it is asked for as part of the moment
		t.Later, t.OfTurn = t.Later+"&within=1", true
		return
	}
	if t.Mark = "the checkpoint"; turn || strings.HasPrefix(name, "turn:") {
		t.Mark = "the end of the turn"
	}
	t.Behind = f.talkHref(name, r, "from", behindSaid(r))
}

// behindSaid is where what was said after some messages begins.
func behindSaid(r *api.MessagesResponse) int64 {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].At != nil {
		return *r.Messages[n-1].At + 1
	}
	return r.End
}

// talkOf is a stretch of a conversation, of which so many messages are shown that each can have some lines: the newest
// of those before a place, else the first.
func (f Frame) talkOf(name string, r *api.MessagesResponse, have Room, newest bool) talk {
	shown := *r
	if n := fitMessages(r.Messages, have, newest); n < len(r.Messages) && newest {
		shown.Messages = r.Messages[len(r.Messages)-n:]
		shown.Older = shown.Messages[0].At
	} else if n < len(r.Messages) {
		shown.Messages, shown.Newer = r.Messages[:n], r.Messages[n].At
	}
	*r = shown
	t := talk{Messages: f.messages(name, r, have)}
	if r.Older != nil {
		t.Earlier = f.talkHref(name, r, "before", *r.Older)
	}
	if r.Newer != nil {
		t.Later = f.talkHref(name, r, "from", *r.Newer)
	}
	return t
}

func (f Frame) talkHref(name string, r *api.MessagesResponse, which string, at int64) string {
	return f.Point(name) + "/talk?" + which + "=" + strconv.FormatInt(at, 10) + "&generation=" + itoa(r.Generation) +
		"&session=" + query(r.Session)
}

// Asked is how a page of a conversation was asked for.
type Asked int

// TalkBefore is what was said before a place, TalkAfter what was said from one on, TalkWithin more of a moment's own.
// TalkFrom is what is read from a turn on to the end, TalkOn more of that.
const (
	TalkBefore Asked = iota
	TalkAfter
	TalkWithin
	TalkFrom
	TalkOn
)

// Talk is a page of a conversation.
func Talk(f Frame, name string, r *api.MessagesResponse, how Asked) Page {
	t := f.talkOf(name, r, roomOfSaid, how == TalkBefore)
	switch how {
	case TalkBefore:
		t.Later = ""
	case TalkAfter:
		t.Earlier = ""
	case TalkWithin:
		t.Earlier = ""
		t.mark(f, name, r, false)
	case TalkFrom, TalkOn:
		if t.Alone = true; t.Later != "" {
			t.Later += "&on=1"
		}
		if how == TalkOn {
			t.Earlier = ""
		}
		t.Href = f.Point(name)
	}
	f.At = "checkpoint"
	return Page{Frame: f, Title: "Conversation · " + f.Name, Data: t, name: "conversation"}
}

const (
	messageBytes = 550   // of a message without its text and calls
	messageNodes = 8     // of the same
	restBytes    = 500   // of the address of the rest of one
	decent       = 2_600 // of a long message, at least, with its elements
)

// lengthy reports whether a message may be shown in part only.
func lengthy(m *api.Message) bool { return m.Cut || weight(string(m.Text)) > decent*3/4 }

// fitMessages is how many messages there is room for, from one end on; one at least.
func fitMessages(list []api.Message, r Room, newest bool) int {
	for n := range list {
		m := &list[n]
		if newest {
			m = &list[len(list)-1-n]
		}
		bytes := messageBytes + min(weight(string(m.Text))*4/3, decent) + min(len(m.Calls), 20)*60
		if lengthy(m) {
			bytes += restBytes
		}
		if !r.take(messageNodes, bytes) {
			return max(n, 1)
		}
	}
	return len(list)
}

// messages are of a conversation, the oldest first. All are there; where their texts are too much for the room, of the
// long ones the rest is asked for.
func (f Frame) messages(name string, of *api.MessagesResponse, r Room) []message {
	list := of.Messages
	out := make([]message, 0, len(list))
	weights := make([]int, 0, len(list))
	r.take(len(list)*messageNodes, len(list)*messageBytes)
	calls := make([][]call, len(list))
	ofCalls := Room{nodes: r.nodes, bytes: r.bytes / 2}
	for i, m := range list {
		for _, c := range m.Calls {
			one := call{clip(string(c.Name), 60), clip(string(c.Target), 200)}
			if bytes := 60 + weight(one.Name) + weight(one.Target); ofCalls.take(2, bytes) {
				calls[i] = append(calls[i], one)
				r.bytes -= bytes
				r.nodes -= 2
			}
		}
		if lengthy(&list[i]) {
			r.bytes -= restBytes
		}
		weights = append(weights, weight(string(m.Text)))
	}
	most := fair(weights, r.bytes*3/4)
	for i := range weights {
		r.bytes -= min(weights[i], most)
	}
	for i := range list {
		m := &list[i]
		one := message{Who: m.Who, Turn: m.Turn, When: f.moment(m.Time)}
		one.said = f.said(m, most, &r, func(from int) string {
			if m.At == nil {
				return ""
			}
			return f.talkHref(name, of, "whole", *m.At) + "&at=" + strconv.Itoa(from)
		})
		one.Fresh = len(out) == 0 || out[len(out)-1].When.Text != one.When.Text
		if first, rest, more := strings.Cut(strings.Trim(one.Text, "\n"), "\n"); more && m.Who == "tool" {
			one.First, one.More = clip(first, 160), 1+strings.Count(rest, "\n")
		}
		if one.Calls = calls[i]; len(one.Calls) < len(m.Calls) {
			one.Calls = append(one.Calls, call{Target: "and " + count(len(m.Calls)-len(one.Calls), "more call")})
		}
		if one.Text == "" && len(one.Calls) == 0 {
			continue
		}
		out = append(out, one)
	}
	return out
}

// Heading is what a moment is called.
func (d *Detail) Heading() string {
	return cmp.Or(d.Message, d.made, d.Prompt, "Turn "+itoa(d.Turn))
}

// Title is its heading as a tab of a browser and a bookmark have it: in one line, of a step with the turn's prompt.
func (d *Detail) Title() string {
	oneLine := func(text string) string { return clip(strings.Join(strings.Fields(text), " "), titleWeight) }
	title := oneLine(d.Heading())
	if d.made != "" && d.Of != "" {
		title = joined(" · ", title, oneLine(d.Prompt))
	}
	return title
}

// Checkpoint is the document of one moment.
func Checkpoint(f Frame, d *Detail) Page {
	f.At = "checkpoint"
	return Page{Frame: f, Title: d.Title() + " · " + f.Name, Data: d, name: "checkpoint"}
}
