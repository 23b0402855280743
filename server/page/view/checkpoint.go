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
	Answer    string
	Message   string
	Commit    string
	Git       string // branch
	Tags      []string
	Change    change
	Secrets   []string // what it brought that looks like one
	Edited    []string // files that its turn edited and no checkpoint has, with the reason
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
	Text  string
	First string // line of what a tool said, where there are more
	More  int    // lines behind it
	Cut   bool
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
		Secrets: render.Secrets(r.Leaks, r.SaidLeaks, shownSecrets), NoTalk: string(r.Conversation),
		Current: c.Current, Safety: c.Safety, Tags: briefs(c.Tags, shownTags, tagWeight),
	}
	session := c.Session
	if w := r.Whole; w != nil {
		session = w.Session
		d.When, d.Session, d.Agent, d.Turn, d.Prompt = f.moment(w.Time), f.Path("s", session), string(w.Agent),
			w.Turn, prose(string(w.Prompt))
		d.Current, d.Message, d.NoCode = w.Current, "", w.NoCode
		if end == "" {
			d.Name = api.TurnName(d.Turn, session)
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
	if r.Asked != nil {
		d.Prompt = prose(string(r.Asked.Text))
	}
	if r.Answered != nil {
		d.Answer = prose(string(r.Answered.Text))
	}
	for _, u := range r.NotCaptured {
		d.Edited = append(d.Edited, render.UncapturedPath(u))
	}
	d.Edited = briefs(d.Edited, shownEdited, briefWeight)
	d.where = f.Point(d.Name)
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
}

// Said puts the conversation up to a moment beside it.
func (f Frame) Said(d *Detail, r *api.MessagesResponse) {
	d.Talk = f.talkOf(d.Name, r, roomOfTalk)
	if d.NoTalk == "" {
		d.NoTalk = string(r.Conversation)
	}
	if len(r.Messages) > 0 { // whatever came later is told by who looks
		d.Talk.Later = f.talkHref(d.Name, r, "from", r.End)
	}
}

func (f Frame) talkOf(name string, r *api.MessagesResponse, have Room) talk {
	t := talk{Messages: f.messages(r.Messages, have)}
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

// Talk is a page of a conversation: what was said before a moment, or after it.
func Talk(f Frame, name string, r *api.MessagesResponse, after bool) Page {
	t := f.talkOf(name, r, roomOfSaid)
	if after {
		t.Earlier = ""
	} else {
		t.Later = ""
	}
	f.At = "checkpoint"
	return Page{Frame: f, Title: "Conversation · " + f.Name, Data: t, name: "conversation"}
}

// messages are of a conversation, the oldest first. All are there; where their texts are too much for the room, the
// long ones are cut.
func (f Frame) messages(list []api.Message, r Room) []message {
	const each, eachNodes = 550, 8 // of a message without its text and calls
	out := make([]message, 0, len(list))
	weights := make([]int, 0, len(list))
	r.take(len(list)*eachNodes, len(list)*each)
	calls := make([][]call, len(list))
	ofCalls := Room{nodes: r.nodes, bytes: r.bytes / 2}
	for i, m := range list {
		for _, c := range m.Calls {
			one := call{clip(string(c.Name), 60), clip(string(c.Target), 200)}
			if bytes := 60 + weight(one.Name) + weight(one.Target); ofCalls.take(2, bytes) {
				calls[i] = append(calls[i], one)
				r.bytes -= bytes
			}
		}
		weights = append(weights, weight(string(m.Text)))
	}
	most := fair(weights, r.bytes)
	for i, m := range list {
		text := cut(string(m.Text), most)
		one := message{
			Who: m.Who, Turn: m.Turn, When: f.moment(m.Time), Text: text,
			Cut: m.Cut || len(text) < len(m.Text),
		}
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
