package transcript

import (
	"cmp"
	"encoding/binary"
	"hash"
	"hash/fnv"
	"slices"
	"time"
)

// A Trace is what tells of a conversation which others it was made of, and how far: of each record some bytes. It is
// read once and held against any number of others.
type Trace struct {
	Parent Parent // that the file names
	Header bool   // it names it as its parent, and not only by what its records say of themselves
	// Shown is the turn up to which the file itself says that its records are another session's; 0: it does not say.
	Shown   int
	First   time.Time // of its records
	Last    time.Time
	Own     bool // it has a message behind those that it says are another session's
	Summary bool // it begins with one of what was said in another session, as Droid's /compress writes it

	base  *Base
	named uint64          // Parent.Message
	sums  []uint64        // the records that summaries in front of its first message name
	ids   map[string]bool // of the sessions that the records are of
	steps []step
	began int64 // when its first message was said
	books int64 // when the first record without an id was written; 0: not known
	by    *known
}

// step is a record that tells a conversation from others.
type step struct {
	id, kept, said uint64 // its id, what stays of it under another, what it says
	inTurn         uint64 // the turn that it is of, where that has an id; of a message without one
	forked         uint64 // the record that it says that it is a copy of
	at             int64  // when, in milliseconds; 0: not said
	ordinal, end   int64
	turn, record   int32
	name           string
	message, again bool
	prompt         bool
	compact        bool // the model's memory was replaced here: a copy may begin with it
	rare           bool // a reply with an id that nothing else has
}

// TraceOf reads the trace of a conversation. id is the session's own id, where the file's name tells it and its records
// may tell another.
func TraceOf(agent Agent, src Source, id string) (*Trace, error) {
	d, err := dialectOf(agent, src)
	if err != nil {
		return nil, err
	}
	t := &Trace{ids: map[string]bool{}}
	of := newTracker(agent, d)
	said := foreign{agent: agent, id: id}
	err = d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		of.add(l)
		t.take(of, l)
		if !l.Side {
			said.take(of, l)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := of.done()
	t.Parent, t.Header, t.First, t.Last = c.Parent, c.Parent.Session != "" && of.asked != c.Parent.Session, c.First, c.New
	if t.base, err = BaseOf(agent, src); err != nil {
		return nil, err
	}
	t.Shown, t.Own = said.turn, said.own
	known := agent == Claude && id != ""
	if known && said.session != "" && said.session != t.Parent.Session {
		// A copy may carry what the one that it is of says of itself: the newest is of the nearest.
		t.Parent, t.Header = Parent{Session: said.session}, false
	}
	if t.Parent.Message != "" {
		t.named = number64(t.Parent.Message)
		for i := range t.steps {
			if s := &t.steps[i]; s.id == t.named && !s.again {
				t.Shown = max(t.Shown, int(s.turn))
			}
		}
	}
	return t, nil
}

// foreign follows what records say of the session that they were copied from.
type foreign struct {
	agent   Agent
	id      string
	session string // the newest
	turn    int
	own     bool
	stamped time.Time // of Codex, which copies no times: when the newest record was copied; zero: no more were
}

// moment is longer than Codex takes between two records that it copies, and shorter than a person and a model take to
// say something.
const moment = 50 * time.Millisecond

func (f *foreign) take(t *tracker, l *line) {
	of := f.of(t, l)
	switch {
	case of != "" && of != f.id:
		f.session, f.own = of, false
		// behind a base that line names the parent, and the base how far
		if f.agent != Codex || l.Forked.Session == "" {
			f.turn = len(t.c.Turns)
		}
	case f.agent == Codex:
		f.own, f.stamped = f.own || isMessage(l), time.Time{}
	case isMessage(l):
		f.own = true
	}
}

// of is the session that a record says it was of; "": it says none.
func (f *foreign) of(t *tracker, l *line) (of string) {
	switch {
	case f.isOthers(l):
		return l.Session
	case l.Forked.Session != "" && l.Base == nil && f.namesParent():
		if f.agent == Codex && len(t.c.Turns) == 0 { // behind its base a file has no copies
			f.stamped = l.Time
		}
		return l.Forked.Session
	case asksOther(l):
		return l.Asked
	case f.agent == Codex && l.InTurn != "" && f.session != "":
		if f.stamped = (time.Time{}); l.Copied {
			return f.session
		}
	case !f.stamped.IsZero() && l.Time.Sub(f.stamped) <= moment:
		f.stamped = l.Time
		return f.session
	}
	return ""
}

// asksOther reports whether a record names another session than its own as that of its request.
func asksOther(l *line) bool { return l.Asked != "" && l.Asked != l.Session && ValidID(l.Asked) }

// isOthers reports whether a record of Claude's is of another session.
func (f *foreign) isOthers(l *line) bool {
	if f.agent != Claude || f.id == "" || l.ID == "" {
		return false
	}
	return l.Session != "" && l.Session != f.id && ValidID(l.Session)
}

// namesParent reports whether the agent's records name the session that they were forked from.
func (f *foreign) namesParent() bool { return f.agent == Claude || f.agent == Codex }

// take takes a record.
func (t *Trace) take(of *tracker, l *line) {
	if l.Session != "" && len(t.ids) < maxCalls {
		t.ids[l.Session] = true
	}
	if l.Side || len(t.steps) >= maxMessages {
		return
	}
	t.front(l)
	s := step{
		at: millis(l.Time), turn: int32(len(of.c.Turns)), record: int32(of.c.Records), //nolint:gosec // neither has so many
		ordinal: l.Ordinal, end: l.Offset + l.Size,
	}
	for _, again := range l.Again {
		a := s
		a.id, a.name, a.again = number64(again.ID), again.ID, true
		if i, ok := of.users[again.ID]; ok {
			a.turn = int32(i + 1) //nolint:gosec // as above
		}
		t.steps = append(t.steps, a)
	}
	if l.Forked.Message != "" && of.d == &claudeDialect {
		s.forked = number64(l.Forked.Message)
	}
	if s.message = isMessage(l); s.message {
		s.prompt, s.kept = l.Kind == Prompt, lasting(l)
		t.began = cmp.Or(t.began, s.at)
		s.rare = l.Kind == Reply && rareReply(l)
	}
	if l.Kind == Compact && s.at != 0 {
		s.compact, s.kept = true, compactAt(s.at)
	}
	switch {
	case l.ID != "":
		s.id, s.name = number64(l.ID), l.ID
	case s.message:
		s.said = content(l)
		if l.InTurn != "" {
			s.inTurn = number64(l.InTurn)
		}
	default:
		if s.at != 0 && (t.books == 0 || s.at < t.books) {
			t.books = s.at
		}
		return
	}
	t.steps = append(t.steps, s)
}

// front takes what a summary in front of the first message names, and that there is one.
func (t *Trace) front(l *line) {
	if l.Type == droidSummary {
		said := slices.ContainsFunc(t.steps, func(s step) bool { return s.message })
		t.Summary = t.Summary || !said
	}
	inFront := len(t.steps) == 0 && len(t.sums) < maxCalls
	if inFront && l.Type == "summary" && l.Summed != "" {
		t.sums = append(t.sums, number64(l.Summed))
	}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// isMessage says whether a record is a person's or the model's, in the main conversation.
func isMessage(l *line) bool {
	said := l.Kind == Prompt || l.Kind == Reply || l.Kind == Result
	return said && !l.Side && !l.Hidden
}

// lasting is a number for the part of a message that stays when it is copied under another id. A message of the model
// has its own id and its calls, a result has the calls that it answers. A prompt, and a message without ids of its own,
// have their time and their words. 0: nothing does. A copy may give messages another time (Claude 1.0's on resume does,
// its SDK to the last one), so that the model's are known without it.
func lasting(l *line) uint64 {
	h := fnv.New64a()
	switch {
	case l.Kind == Reply && rareReply(l):
		word(h, "reply")
		if rareMessage(l) {
			word(h, l.Message)
		}
		for _, c := range l.Calls {
			word(h, c.ID)
		}
		word(h, l.Text)
	case l.Kind == Result && len(l.Results) > 0 && rare(l.Results[0]):
		word(h, "result")
		for _, id := range l.Results {
			word(h, id)
		}
	case l.Time.IsZero():
		return 0
	default:
		word(h, "said")
		_ = binary.Write(h, binary.LittleEndian, l.Time.UnixMilli())
		word(h, l.Text)
	}
	return h.Sum64()
}

func compactAt(at int64) uint64 {
	h := fnv.New64a()
	word(h, "compact")
	_ = binary.Write(h, binary.LittleEndian, at)
	return h.Sum64()
}

// minRare is how long an id is that was made so that there is no other: models that number their calls make shorter
// ones.
const minRare = 16

func rare(id string) bool { return len(id) >= minRare }

// rareMessage reports whether a message of the model has an id of its own that is like no other: where the id is the
// record's, a copy has another one.
func rareMessage(l *line) bool { return l.Message != l.ID && rare(l.Message) }

func rareReply(l *line) bool { return rareMessage(l) || len(l.Calls) > 0 && rare(l.Calls[0].ID) }

// maxPoints bounds the numbers of one conversation.
const maxPoints = 4096

// mayPoint reports whether a conversation made of this one may begin at a step.
func (s *step) mayPoint() bool { return !s.again && (s.message || s.compact) }

// Points are numbers, in order, for the places at which a conversation made from this one may begin. Each turn has its
// prompt, by time and words, and the model's first message with a unique id. Compactions count by their times. A copy
// that names the id of its first prompt has that as well. starts of them are the conversation's own beginning: another
// one with one of these among its points may be what this one was made of.
func (t *Trace) Points() (points []uint64, starts int) {
	turn, replied, began := int32(0), false, 0
	for i := range t.steps {
		s := &t.steps[i]
		if !s.mayPoint() || len(points) == maxPoints {
			continue
		}
		if s.message && s.turn != turn {
			turn, replied = s.turn, false
			began++
		}
		switch {
		case s.compact, s.prompt && s.at != 0 && s.kept != 0:
		case s.rare && !replied:
			replied = true
		default:
			continue
		}
		if s.forked != 0 && began <= 1 && s.prompt { // of all copies those that were made of this one have its ids
			points = append(points, s.id)
		}
		points = append(points, s.kept)
		if began <= 2 {
			starts = len(points)
		}
	}
	return points, starts
}

// content is what a message says, as far as it is kept.
func content(l *line) uint64 {
	h := fnv.New64a()
	word(h, string(rune(l.Kind)))
	word(h, l.Text)
	for _, c := range l.Calls {
		word(h, c.ID)
		word(h, c.Name)
		word(h, c.Target)
	}
	for _, id := range l.Results {
		word(h, id)
	}
	return h.Sum64()
}

// word adds a string, so that no two lists of strings are the same bytes.
func word(h hash.Hash, s string) {
	_ = binary.Write(h, binary.LittleEndian, uint64(len(s)))
	_, _ = h.Write([]byte(s))
}

// number64 is a number for an id.
func number64(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// Has reports whether records of the conversation say that they are a session's.
func (t *Trace) Has(session string) bool { return t.ids[session] }

// Sums reports whether a summary in front of the conversation names a record of another one, which was there when that
// line was written.
func (t *Trace) Sums(other *Trace) bool {
	return slices.ContainsFunc(t.sums, func(id uint64) bool {
		_, there := other.known().named[id]
		return there
	})
}

// Summed reports whether summaries stand in front of the conversation, of whatever.
func (t *Trace) Summed() bool { return len(t.sums) > 0 }

// Ends reports whether nothing of the conversation's own stands behind its first turns: its newest message is in the
// last of them.
func (t *Trace) Ends(turns int) bool {
	for i := len(t.steps) - 1; i >= 0; i-- {
		if s := &t.steps[i]; s.message {
			return int(s.turn) <= turns
		}
	}
	return true
}

// TurnAt is the turn that a conversation was in at a time; 0: it had not begun.
func (t *Trace) TurnAt(at time.Time) (turn int) {
	for i := range t.steps {
		if s := &t.steps[i]; s.message && s.at != 0 && s.at <= millis(at) {
			turn = max(turn, int(s.turn))
		}
	}
	return turn
}
