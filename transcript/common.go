package transcript

import (
	"fmt"
	"hash/maphash"
)

// Same is how far two conversations are the same.
type Same struct {
	Turn    int    // the child's turn that the last thing is in which both have; 0: nothing, or only what came before the first prompt
	Turns   []int  // the parent's number of each of the child's turns up to that; nil: the same numbers
	Message string // the parent's id of the last thing; "": the agent's records have none
	// How many messages of the child are known by their ids, and by what else stays of one: the nearest of several parents has most
	Named, Kept int
}

// Common is how far two conversations of an agent are the same. A child need not have the turns that its parent had gone back behind, so
// the numbers may part.
//
// What both have is known by what an agent keeps when it makes a session of another: the ids of records, which stay (Claude's /branch and
// --fork-session, Droid, Gemini) or are named (Claude's forkedFrom), the place in the other's file (Codex's history_base), what stays of a
// message under another id (lasting), else the same words in the same order (Codex's older forks). A child whose base is already in front
// of its own records is as good as one without. Whether one was made of the other is not asked.
func Common(agent Agent, parent, child Source) (Same, error) {
	base, err := BaseOf(agent, child)
	if err != nil {
		return Same{}, err
	}
	p := newShared(agent)
	if err := p.read(agent, parent, func(t *tracker, l *line) { p.know(t, l, base) }); err != nil {
		return Same{}, err
	}
	if base != nil {
		if p.ids[base.Session] {
			return Same{Turn: p.based.turn, Message: p.based.message}, nil
		}
		return Same{}, nil
	}
	var s Same
	var last spot
	var turns []int // of the parent, by the child's
	known := func(t *tracker, at spot, id string) {
		last = at.with(id)
		for len(turns) < len(t.c.Turns) {
			turns = append(turns, at.turn)
		}
		if n := len(t.c.Turns); n > 0 {
			turns[n-1] = at.turn
		}
	}
	n, same := 0, true // of the records without an id
	named := Parent{}
	err = p.read(agent, child, func(t *tracker, l *line) {
		named = t.c.Parent
		for _, again := range l.Again {
			if at, ok := p.byID[p.hash(again.ID)]; ok {
				known(t, at, again.ID)
			}
		}
		if !isMessage(l) {
			return
		}
		ids := []string{l.ID}
		if agent == Claude && l.Forked.Message != "" {
			// A copy names the record that it is of; what its session said before is no copy for its next one.
			ids = []string{l.Forked.Message, l.ID}
		}
		for _, id := range ids {
			if at, ok := p.byID[p.hash(id)]; ok && id != "" {
				s.Named++
				known(t, at, id)
				return
			}
		}
		if l.ID != "" {
			if at, ok := p.byKept[lasting(l)]; ok {
				s.Kept++
				known(t, at, at.message)
			}
			return
		}
		if same = same && n < len(p.order) && p.order[n] == p.content(l); same {
			s.Kept++
			known(t, spot{turn: p.turns[n]}, "")
			n++
		}
	})
	if err != nil {
		return Same{}, err
	}
	if at, ok := p.byID[p.hash(named.Message)]; ok && last.turn == 0 && named.Message != "" {
		s.Turn, s.Message = at.turn, named.Message
		return s, nil
	}
	s.Turn, s.Message = last.turn, last.message
	if last.turn == 0 || len(turns) == 0 {
		return s, nil
	}
	s.Turn = len(turns)
	for i, of := range turns {
		if of != i+1 {
			s.Turns = turns
		}
	}
	return s, nil
}

// spot is a place in a conversation.
type spot struct {
	turn    int
	message string
}

func (s spot) with(message string) spot { return spot{turn: s.turn, message: message} }

// shared is what is known of the parent: bounded by maxMessages, whatever there is.
type shared struct {
	seed maphash.Seed
	byID map[uint64]spot // of every record with an id
	// and of every message with one, by what stays of it under another id
	byKept map[uint64]spot
	order  []uint64        // what the messages without an id say
	turns  []int           // and their turns
	ids    map[string]bool // of the sessions that the records are of
	based  spot            // of the last record in front of the end of a base
}

func newShared(agent Agent) *shared {
	return &shared{seed: maphash.MakeSeed(), byID: map[uint64]spot{}, byKept: map[uint64]spot{}, ids: map[string]bool{}}
}

func (p *shared) read(agent Agent, src Source, fn func(*tracker, *line)) error {
	d, err := dialectOf(agent, src)
	if err != nil {
		return err
	}
	t := newTracker(agent, d)
	return d.lines(src, 0, newLine(maxText, false), func(l *line) error {
		t.add(l)
		fn(t, l)
		return nil
	})
}

// know takes a record of the parent.
func (p *shared) know(t *tracker, l *line, base *Base) {
	at := spot{turn: len(t.c.Turns)}
	if l.Session != "" && len(p.ids) < maxCalls {
		p.ids[l.Session] = true
	}
	for _, again := range l.Again {
		if i, ok := t.users[again.ID]; ok && len(p.byID) < maxMessages {
			p.byID[p.hash(again.ID)] = spot{turn: i + 1}
		}
	}
	if base != nil && isMessage(l) && p.before(l, base) {
		p.based = at.with(l.ID)
	}
	switch {
	case l.Side:
	case l.ID != "":
		if _, ok := p.byID[p.hash(l.ID)]; !ok && len(p.byID) < maxMessages {
			p.byID[p.hash(l.ID)] = at
		}
		if k := lasting(l); k != 0 && isMessage(l) && len(p.byKept) < maxMessages {
			if _, ok := p.byKept[k]; !ok {
				p.byKept[k] = at.with(l.ID)
			}
		}
	case isMessage(l) && len(p.order) < maxMessages:
		p.order, p.turns = append(p.order, p.content(l)), append(p.turns, at.turn)
	}
}

// before says whether a record stands in front of the end of a base. Ordinals tell it in a file that has another in front, too.
func (p *shared) before(l *line, base *Base) bool {
	if l.Ordinal > 0 && base.EndOrdinal > 0 {
		return l.Ordinal < base.EndOrdinal
	}
	return l.Offset+l.Size <= base.EndOffset
}

// isMessage says whether a record is a person's or the model's, in the main conversation.
func isMessage(l *line) bool {
	return !l.Side && !l.Hidden && (l.Kind == Prompt || l.Kind == Reply || l.Kind == Result)
}

func (p *shared) hash(id string) uint64 { return maphash.String(p.seed, id) }

// content is what a message says, as far as it is kept.
func (p *shared) content(l *line) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	_, _ = fmt.Fprintf(&h, "%d\x00%q\x00%q\x00%q", l.Kind, l.Text, l.Calls, l.Results)
	return h.Sum64()
}
