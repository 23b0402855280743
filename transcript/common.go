package transcript

import (
	"cmp"
	"math"
	"slices"
)

// Same is how far two conversations are the same.
type Same struct {
	Turn int // the child's turn that the last thing is in which both have; 0: none
	// where Turn is 0 and both have something all the same, as an agent's summary of what came before: the parent's
	// turn of it
	Behind  int
	Turns   []int  // the parent's number of each of the child's turns up to that; nil: the same numbers
	Message string // the parent's id of the last thing; "": the agent's records have none
	// How many messages of the child are known by their ids, and by what else stays of one: the nearest of several
	// parents has most
	Named, Kept int
	// Which of the two was there first: negative, the parent; positive, the child; 0: that does not tell. Order is told
	// by when what both have was written in each, Looks by what only one has.
	Order, Looks int
}

// Common is how far two conversations of an agent are the same. A child need not have the turns that its parent had
// gone back behind, so the numbers may part.
//
// The common part is known by what an agent keeps when it makes a session from another. That is the ids of records,
// unchanged (Claude's /branch and --fork-session, Droid, Gemini) or named (Claude's forkedFrom). Or it is the place in
// the other's file (Codex's history_base), or what stays of a message under another id (lasting). Otherwise it is the
// same words in the same order (Codex's older forks). A child whose base is already in front of its own records is as
// good as one without. Whether one was made of the other is not asked.
func Common(agent Agent, parent, child Source) (Same, error) {
	p, err := TraceOf(agent, parent, "")
	if err != nil {
		return Same{}, err
	}
	c, err := TraceOf(agent, child, "")
	if err != nil {
		return Same{}, err
	}
	return c.Common(p), nil
}

// spot is a place in a conversation.
type spot struct {
	turn    int
	message string
}

// known is the parent's steps by what tells them.
type known struct {
	named, lasting map[uint64]int   // the step's number
	again          map[uint64]spot  // prompts that it names again
	plain          []int            // messages without an id, in order
	said           map[uint64]bool  // what they say
	turns          map[uint64][]int // messages of turns that have ids, in order
}

func (t *Trace) known() *known {
	if t.by != nil {
		return t.by
	}
	k := &known{
		named: map[uint64]int{}, lasting: map[uint64]int{}, again: map[uint64]spot{}, said: map[uint64]bool{},
		turns: map[uint64][]int{},
	}
	for i := range t.steps {
		s := &t.steps[i]
		switch {
		case s.again:
			if s.turn > 0 {
				k.again[s.id] = spot{turn: int(s.turn)}
			}
		case s.id != 0:
			if _, ok := k.named[s.id]; !ok {
				k.named[s.id] = i
			}
			if _, ok := k.lasting[s.kept]; !ok && s.message && s.kept != 0 {
				k.lasting[s.kept] = i
			}
		case s.message:
			k.plain, k.said[s.said] = append(k.plain, i), true
			if s.inTurn != 0 {
				k.turns[s.inTurn] = append(k.turns[s.inTurn], i)
			}
		}
	}
	t.by = k
	return k
}

// Common is how far t, the child, is the same as its parent.
func (t *Trace) Common(parent *Trace) Same {
	if t.base != nil {
		if !parent.ids[t.base.Session] {
			return Same{}
		}
		at := parent.before(t.base)
		return Same{Turn: at.turn, Message: at.message, Order: -1}
	}
	s := t.match(parent, true)
	// the same ids and words, said again at another time: a model that makes the same ones
	if s.Kept > 0 && s.Named == 0 && !s.copied(parent, t) {
		s = t.match(parent, false)
	}
	s.Order, s.Looks = s.order(), s.looks(parent, t)
	return s.Same
}

// matched is what two conversations have in common.
type matched struct {
	Same
	pairs []pair
}

// pair is a step of the parent and one of the child that are the same.
type pair struct{ parent, child *step }

// match pairs the steps of t, the child, with those of its parent. shifted: times need not be the same.
func (t *Trace) match(parent *Trace, shifted bool) *matched {
	m := &matcher{child: t, parent: parent, known: parent.known(), shifted: shifted, same: true}
	for i := range t.steps {
		m.take(&t.steps[i])
	}
	return m.result()
}

// matcher goes over the child's steps in order.
type matcher struct {
	matched
	child, parent *Trace
	known         *known
	shifted       bool
	last          spot
	turns         []int  // of the parent, by the child's
	plain         int    // how many of the messages without an id are the same
	same          bool   // all of those are, up to here
	held          uint64 // the turn with an id that the last message was of
	nth           int    // how many of that have been
}

func (m *matcher) take(in *step) {
	switch {
	case in.again:
		m.takeAgain(in)
	case !in.message:
		m.takeBehind(in)
	case m.takeNamed(in):
	case in.id != 0:
		if at, ok := m.known.lasting[in.kept]; ok && m.isTimeOf(at, in) {
			m.pair(at, in, &m.Kept)
		}
	case in.inTurn != 0 && len(m.known.turns) > 0:
		m.takeInTurn(in)
	default:
		m.takePlain(in)
	}
}

// isTimeOf reports whether the parent's step was at the time of the child's, if times have to be the same.
func (m *matcher) isTimeOf(at int, in *step) bool {
	return m.shifted || m.parent.steps[at].at == in.at
}

// know notes where the child's step is in the parent.
func (m *matcher) know(at spot, in *step) {
	m.last = at
	for len(m.turns) < int(in.turn) {
		m.turns = append(m.turns, at.turn)
	}
	if in.turn > 0 {
		m.turns[in.turn-1] = at.turn
	}
}

// pair notes that the parent's step is the child's.
func (m *matcher) pair(at int, in *step, kind *int) {
	of := &m.parent.steps[at]
	*kind++
	m.pairs = append(m.pairs, pair{of, in})
	m.know(spot{int(of.turn), of.name}, in)
}

// takeAgain takes a prompt that is named again.
func (m *matcher) takeAgain(in *step) {
	if at, ok := m.known.again[in.id]; ok {
		m.know(at.with(in.name), in)
	} else if at, ok := m.known.named[in.id]; ok {
		m.know(spot{int(m.parent.steps[at].turn), in.name}, in)
	}
}

// takeBehind takes a step that is no message: before the first turn it says behind what the child begins.
func (m *matcher) takeBehind(in *step) {
	if in.id == 0 || in.turn != 0 {
		return
	}
	if at, ok := m.known.named[in.id]; ok {
		of := &m.parent.steps[at]
		m.Behind = int(of.turn)
		m.pairs = append(m.pairs, pair{of, in})
	}
}

// takeNamed takes a message that the parent has under one of its ids, and reports whether it has.
func (m *matcher) takeNamed(in *step) bool {
	for _, id := range []uint64{in.forked, in.id} { // what its session said before is no copy for the next one
		if id == 0 {
			continue
		}
		if at, ok := m.known.again[id]; ok {
			m.Named++
			m.know(at.with(in.name), in)
			return true
		}
		if at, ok := m.known.named[id]; ok {
			m.pair(at, in, &m.Named)
			return true
		}
	}
	return false
}

// takeInTurn takes a message of a turn with an id: that says whether it is a copy, and the place within the turn of
// what.
func (m *matcher) takeInTurn(in *step) {
	if in.inTurn != m.held {
		m.held, m.nth = in.inTurn, 0
	}
	if of := m.known.turns[m.held]; m.nth < len(of) {
		m.pair(of[m.nth], in, &m.Kept)
		m.nth++
	}
}

// takePlain takes a message without any id: it is the same if all before it are. The same may be said in both later.
func (m *matcher) takePlain(in *step) {
	inShown := m.child.Shown == 0 || int(in.turn) <= m.child.Shown
	m.same = m.same && m.isNextPlain(in) && inShown
	if m.same {
		m.pair(m.known.plain[m.plain], in, &m.Kept)
		m.plain++
	}
}

func (m *matcher) isNextPlain(in *step) bool {
	if m.plain >= len(m.known.plain) {
		return false
	}
	at := m.known.plain[m.plain]
	return m.parent.steps[at].said == in.said && m.isTimeOf(at, in)
}

func (m *matcher) result() *matched {
	out := &m.matched
	if at, ok := m.known.named[m.child.named]; ok && m.last.turn == 0 && m.child.named != 0 {
		of := &m.parent.steps[at]
		out.Behind, out.Message = int(of.turn), of.name
		return out
	}
	out.Message = m.last.message
	if len(m.turns) == 0 {
		out.Behind = max(out.Behind, m.last.turn)
		return out
	}
	out.Turn, out.Behind = len(m.turns), 0
	for i, of := range m.turns {
		if of != i+1 {
			out.Turns = m.turns
		}
	}
	return out
}

// Copied is how many messages say of which record they are a copy.
func (t *Trace) Copied() (n int) {
	for i := range t.steps {
		if s := &t.steps[i]; s.message && s.forked != 0 {
			n++
		}
	}
	return n
}

// Ids is how many of the messages that say that they are copies have an id that a record of the other conversation has.
func (t *Trace) Ids(other *Trace) (n int) {
	k := other.known()
	for i := range t.steps {
		if s := &t.steps[i]; s.message && s.forked != 0 {
			if _, ok := k.named[s.id]; ok {
				n++
			}
		}
	}
	return n
}

func (s spot) with(message string) spot { return spot{turn: s.turn, message: message} }

// before is the last message in front of the end of a base. Ordinals tell it in a file that has another in front, too.
func (t *Trace) before(base *Base) (at spot) {
	for i := range t.steps {
		s := &t.steps[i]
		in := s.end <= base.EndOffset
		if s.ordinal > 0 && base.EndOrdinal > 0 {
			in = s.ordinal < base.EndOrdinal
		}
		if s.message && !s.again && in {
			at = spot{int(s.turn), s.name}
		}
	}
	return at
}

// Which of two conversations that begin alike is the copy is not said in most files. What agents do when they make one
// of another shows it: a copy is written at once, some agents stamp its records with the time of the copy, and what an
// agent notes between messages stays behind.

// copied reports whether messages that the child has at other times than the parent were copied there: all at once, and
// not said again as they were the first time. A few at other times are those to which a copy gives its own.
func (m *matched) copied(parent, child *Trace) bool {
	moved := 0
	for _, p := range m.pairs {
		if p.parent.at != p.child.at {
			moved++
		}
	}
	if 2*moved <= len(m.pairs) {
		return true
	}
	was, is := int64(0), int64(0)
	for _, p := range m.pairs {
		was, is = max(was, p.parent.at-parent.began), max(is, p.child.at-child.began)
	}
	return 8*is <= was
}

// order tells by the time of what both have: a copy may be stamped later.
func (m *matched) order() int {
	earlier, later := 0, 0
	for _, p := range m.pairs {
		switch {
		case p.parent.at == 0 || p.child.at == 0:
		case p.parent.at < p.child.at:
			earlier++
		case p.parent.at > p.child.at:
			later++
		}
	}
	return cmp.Compare(later, earlier)
}

// looks tells by what only one of the two has. Between what both have it is what the agent has noted while it was said,
// and what was gone back behind. Else who has something of his own earlier, or has nothing of his own, was there first.
func (m *matched) looks(parent, child *Trace) int {
	if len(m.pairs) == 0 {
		return 0
	}
	between := func(side func(pair) *step) int32 {
		first, last := side(m.pairs[0]).record, side(m.pairs[len(m.pairs)-1]).record
		return last - first
	}
	if c := cmp.Compare(between(func(p pair) *step { return p.child }), between(func(p pair) *step { return p.parent })); c != 0 {
		return c
	}
	of, by := parent.alone(child), child.alone(parent)
	switch {
	case of == by:
		return 0
	case of == never || by != never && of < by:
		return -1
	}
	return 1
}

const never = math.MaxInt64

// alone is when t has something that other has not, at first; never: the other has all that it has.
func (t *Trace) alone(other *Trace) int64 {
	first := int64(never)
	if t.books != 0 && t.books != other.books {
		first = t.books
	}
	of := other.known()
	for i := range t.steps {
		if s := &t.steps[i]; s.at != 0 && s.at < first && of.lacks(s) {
			first = s.at
		}
	}
	return first
}

// Goes reports whether t has a message that other has not: somebody has gone on with it, or it had more from the
// beginning.
func (t *Trace) Goes(other *Trace) bool {
	of := other.known()
	return slices.ContainsFunc(t.steps, func(s step) bool { return of.lacks(&s) })
}

// lacks reports whether a step is a message that these have not.
func (k *known) lacks(s *step) bool {
	if s.again || !s.message {
		return false
	}
	_, named := k.named[s.id]
	_, copied := k.named[s.forked]
	_, lasts := k.lasting[s.kept]
	if named || copied || lasts {
		return false
	}
	return s.id != 0 || !k.said[s.said]
}
