package transcript

import (
	"slices"
)

// tracker follows a conversation from record to record.
type tracker struct {
	c         Conversation
	d         *dialect
	titleRank int
	asked     string // the newest other session that a reply was asked in

	lead int64 // where the run of Lead records begins that the newest record is in; -1: it is in none
	past
	chain
	lost    []string // what the breaks name
	called  string   // the message of the model that the newest calls may be of
	message string   // the newest record's, of those that are a message's part
	bare    bool     // nothing has answered the newest prompt
	closed  bool     // the memory was replaced behind the newest turn: what follows is not in it, unless the model goes on

	given   bool // somebody has its turns, who must not see them change
	within  bool // it began behind other records
	reaches bool // and a record may say something of those
}

func newTracker(agent Agent, d *dialect) *tracker {
	return &tracker{c: Conversation{Agent: agent}, d: d, lead: -1}
}

// done is the conversation up to here. What comes next does not change it: it is copied when there is something.
func (t *tracker) done() *Conversation {
	c := t.c
	if c.Title == "" && len(c.Turns) > 0 {
		c.Title = c.Turns[0].Summary
	}
	if c.Parent.Session == "" && t.asked != c.ID {
		c.Parent.Session = t.asked
	}
	t.given = true
	return &c
}

// own makes what was given to somebody its own again.
func (t *tracker) own() {
	if !t.given {
		return
	}
	c := &t.c
	c.Turns, c.Compactions, c.Breaks = slices.Clone(c.Turns), slices.Clone(c.Compactions), slices.Clone(c.Breaks)
	c.Broken, c.Pending = slices.Clone(c.Broken), slices.Clone(c.Pending)
	t.given = false
}

// add takes the next record.
func (t *tracker) add(l *line) {
	t.own()
	t.moved = false
	t.reaches = t.reaches || l.UndoTo != "" || l.Reset || t.within && l.Undo > len(t.live)
	t.c.Records++
	t.c.End = l.Offset + l.Size
	t.facts(l)
	if l.Kind == Broken && len(t.c.Broken) < maxBroken {
		t.c.Broken = append(t.c.Broken, l.Line)
	}
	t.goBack(l)
	if !l.Side {
		t.main(l)
	}
	t.extend(l)
	if t.d.chain && l.ID != "" {
		t.late(l.ID)
		broken := t.breaks(l) && t.d.strict
		t.note(l)
		if broken && len(t.c.Breaks) < maxBroken {
			t.c.Breaks = append(t.c.Breaks, Break{Offset: l.Offset, Line: l.Line, Turn: len(t.c.Turns)})
			t.lost = append(t.lost, l.Parent)
		}
	}
	t.calls(l)
	t.answered(l)
}

// late takes a record that comes behind the one that names it: Claude 2.1.30 writes a reply before its prompt when the
// disk is slow.
func (t *tracker) late(id string) {
	if i := slices.Index(t.lost, id); i >= 0 {
		t.lost = slices.Delete(t.lost, i, i+1)
		t.c.Breaks = slices.Delete(t.c.Breaks, i, i+1)
	}
}

// facts takes what a record says about the session.
func (t *tracker) facts(l *line) {
	c := &t.c
	if l.Session != "" && (c.ID == "" || t.d.newestID) {
		c.ID = l.Session
	}
	if c.Cwd == "" {
		c.Cwd = l.Cwd
	}
	if l.Version != "" {
		c.Version = l.Version
	}
	if l.Title != "" && (c.Title == "" || l.TitleRank >= t.titleRank) {
		c.Title, t.titleRank = l.Title, l.TitleRank
	}
	if l.Forked.Session != "" && (c.Parent.Session == "" || c.Parent.Session == l.Forked.Session || t.d.newestID && !t.d.chain) {
		if l.Forked.Message == "" {
			l.Forked.Message = c.Parent.Message
		}
		c.Parent = l.Forked
	}
	if l.Asked != "" && l.Asked != l.Session && ValidID(l.Asked) {
		t.asked = l.Asked // copies of copies name the nearest last
	}
	if c.Base == nil {
		c.Base = l.Base
	}
	if l.ID != "" && !l.Side {
		c.Last = l.ID
	}
	if l.Time.IsZero() {
		return
	}
	t.now = l.Time
	if c.First.IsZero() || l.Time.Before(c.First) {
		c.First = l.Time
	}
	if l.Time.After(c.New) {
		c.New = l.Time
	}
}

// main takes a record of the main conversation.
func (t *tracker) main(l *line) {
	if l.Hidden {
		return
	}
	c := &t.c
	switch l.Kind {
	case Prompt:
		t.prompt(l)
	case Reply:
		if l.Message == "" || l.Message != t.message {
			t.count()
		}
		t.bare = false
	case Result:
		t.bare = false
	case Compact:
		c.Compactions = append(c.Compactions, Compaction{Offset: l.Offset, Line: l.Line, Turn: len(c.Turns)})
		t.message = "" // what goes on behind it is not seen with what came before
	case Other, Context, Rewound, Broken:
		return
	}
	if l.Message != "" {
		t.message = l.Message
	}
	if turn := t.turn(); turn != nil && l.ID != "" && l.Kind != Compact {
		turn.Last = l.ID
	}
}

// prompt begins a turn.
func (t *tracker) prompt(l *line) {
	start := l.Offset
	if t.lead >= 0 {
		start = t.lead
	}
	if parent := continues(l); t.d.chain && parent != "" {
		_, known := t.placed(parent)
		t.reaches = t.reaches || t.within && len(t.c.Turns) > 0 && !known
		t.rejoin(parent)
	}
	turn := Turn{User: l.ID, Last: l.ID, Summary: oneLine(l.Text, maxSummary), Time: l.Time, Start: start, At: l.Offset}
	t.begin(turn, saying(l))
	t.message, t.bare, t.closed = "", true, false
}

// begin begins a turn, words is a number for what its prompt says.
func (t *tracker) begin(turn Turn, words uint64) {
	t.rerun(words)
	if t.users != nil {
		t.users[turn.User] = len(t.c.Turns)
	}
	if n := len(t.live); n > 0 {
		turn.After = t.live[n-1] + 1
	}
	t.live = append(t.live, len(t.c.Turns))
	turn.Index = len(t.c.Turns) + 1
	t.c.Turns = append(t.c.Turns, turn)
	t.c.Pending = nil
	t.count()
}

func (t *tracker) turn() *Turn {
	if len(t.c.Turns) == 0 {
		return nil
	}
	return &t.c.Turns[len(t.c.Turns)-1]
}

func (t *tracker) count() {
	t.c.Messages++
	if turn := t.turn(); turn != nil {
		turn.Messages++
	}
}

// extend makes the record a part of the newest turn, unless it may belong to the next one.
func (t *tracker) extend(l *line) {
	if l.Lead && l.Kind != Prompt {
		if t.lead < 0 {
			t.lead = l.Offset
		}
		return
	}
	t.lead = -1
	turn := t.turn()
	if turn == nil {
		return
	}
	switch l.Kind {
	case Compact:
		t.closed = t.closed || turn.Answered && !l.Side
	case Reply, Result:
		t.closed = t.closed && l.Side
	case Other, Prompt, Context, Rewound, Broken:
	}
	if !t.closed {
		turn.End = l.Offset + l.Size
	}
}

// calls keeps the calls that are open. A prompt, a compaction and a message of the model that follows close those
// before it: the agent has gone on without their results, which may stand in a line that is broken.
func (t *tracker) calls(l *line) {
	if l.Side {
		return
	}
	c := &t.c
	switch {
	case l.Kind == Compact:
		c.Pending, t.called = c.Pending[:0], ""
	case l.Kind == Reply && !l.Hidden && l.Message != "":
		if t.called != l.Message && t.called != "" {
			c.Pending = c.Pending[:0]
		}
		t.called = l.Message
	}
	for _, call := range l.Calls {
		if len(c.Pending) == maxOpen {
			c.Pending = c.Pending[1:]
		}
		c.Pending = append(c.Pending, call)
	}
	for _, id := range l.Results {
		for i, call := range c.Pending {
			if call.ID == id {
				c.Pending = append(c.Pending[:i:i], c.Pending[i+1:]...)
				break
			}
		}
	}
}

// answered says of the newest turn whether the model has finished.
func (t *tracker) answered(l *line) {
	turn := t.turn()
	unseen := turn == nil || l.Side || l.Hidden
	if unseen || l.Kind != Reply && l.Kind != Result {
		return
	}
	turn.Answered = l.Kind == Reply && l.Text != "" && len(l.Calls) == 0 && len(t.c.Pending) == 0 && !l.Open
}

// chain knows which records there are, where records name the one before them, and the turn of each: the newest one's
// id, and of the others, which few ask for, a hash.
type chain struct {
	newest string
	seen   placed
	full   bool // there are more than are kept: nothing can be said of one that is not known
}

// unplaced is the turn of a record that names one which is not in the file, or comes behind it.
const unplaced = -1

// hash is the same in every process: a reading is gone on with by another one.
func (c *chain) hash(id string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// breaks says of a record whether the one that it names is not there.
func (c *chain) breaks(l *line) bool {
	follows := l.Parent == "" || l.Parent == c.newest
	if follows || c.full || l.Side {
		return false
	}
	_, there := c.seen.of(c.hash(l.Parent))
	return !there
}

// placed is the turn that a record is in, which a later one names.
func (c *chain) placed(id string) (turn int, ok bool) {
	n, ok := c.seen.of(c.hash(id))
	return n, ok && n != unplaced
}

// place notes the turn of a record.
func (c *chain) place(id string, turn int) {
	if c.seen.n < maxMessages {
		c.seen.put(c.hash(id), turn)
	} else {
		c.full = true
	}
}

// note notes the turn of a new record. What stands ahead of a prompt is where it was written from, and so is what names
// a record that comes later.
func (t *tracker) note(l *line) {
	turn := len(t.c.Turns)
	if parent := continues(l); parent != "" && parent != t.newest && l.Kind != Prompt && !l.Side {
		switch at, there := t.placed(parent); {
		case !there && parent != theRoot:
			turn = unplaced
		case there && l.Lead:
			turn = at
		}
	}
	t.newest = l.ID
	t.place(l.ID, turn)
}
