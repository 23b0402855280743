package conversation

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/engine/sessions"
	"rewind/internal/osfile"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// maxKin is how many sessions that begin alike are compared with one: those first that have most of its turns.
const maxKin = 32

// kin are sessions that one may have been made of.
type kin struct {
	of    func(name string) *model.Session // the record of a session; nil: there is none
	list  []*model.Session
	below []*model.Session // sessions that were made of it, as rewind or their files say
}

// kinOf are the sessions that begin as s does, or have what it begins with, and that which its file names. The log's
// lock is held.
func (cs *Conversations) kinOf(s *model.Session, t *transcript.Trace) kin {
	k := kin{of: cs.log.Session}
	named := k.of(namedBy(s, t))
	other := named != nil && named.Name != s.Name && !named.Purged
	if other && !k.comesFrom(named, s.Name) {
		k.list = append(k.list, named)
	}
	for _, name := range cs.points.sharing(s.Name, t) {
		p := k.of(name)
		if len(k.list) == maxKin {
			break
		}
		unlike := p == nil || p.Agent != s.Agent || p.LaneOf != ""
		switch {
		case unlike || p.Purged || p.Cursor.Transcript.IsZero():
		case slices.Contains(k.list, p):
		case k.comesFrom(p, s.Name):
			k.below = append(k.below, p)
		default:
			k.list = append(k.list, p)
		}
	}
	return k
}

// namedBy is the name of the session that the file of s says it was made of; "": it says none.
func namedBy(s *model.Session, t *transcript.Trace) string {
	if t.Parent.Session == "" || t.Parent.Session == s.ID {
		return ""
	}
	return string(s.Agent) + "/" + t.Parent.Session
}

// comesFrom reports whether a session was made from another one, over any number of forks. Forks by rewind, or named in
// their files, count. Those found by comparing do not: that result may still change.
func (k kin) comesFrom(s *model.Session, name string) bool {
	for range MaxForks {
		if s == nil || s.Fork == nil || byLooks(s.Fork) {
			return false
		}
		if s.Fork.Session == name {
			return true
		}
		s = k.of(s.Fork.Session)
	}
	return true
}

// byLooks reports whether a lineage was found by comparing conversations.
func byLooks(l *model.Lineage) bool {
	byAgent := l != nil && l.Kind == model.ByAgent
	return byAgent && (l.How == value.FoundIDs || l.How == value.FoundContent)
}

// origin returns the session that s was made from, by its trace: of the kin the one with most of it. Records known by
// their ids count first, then the contents of records. Of several that have the same, that which was there first has
// what the others were made of. nil: s was made of none. open: s, or that which it was found by comparing to be made
// of, has nothing of its own yet, so that it is to be asked again when either goes on. A file that names its parent is
// believed.
func (k kin) origin(r *tracer, s *model.Session, t *transcript.Trace) (l *model.Lineage, open bool, err error) {
	named := namedBy(s, t)
	if named != "" {
		if p, same := k.nearer(r, s, t, named); p != nil {
			l := model.MadeByAgent(s.Agent, transcript.Parent{Session: p.ID, Message: same.Message}, t.First)
			l.Session, l.How = p.Name, value.FoundIDs
			share(l, p, t, same, t.Shown)
			return l, false, nil
		}
	}
	if t.Header && named != "" {
		l, err := k.ofNamed(r, s, t, named)
		return l, false, err
	}
	best, open, err := k.nearest(r, s, t, named)
	if err != nil {
		return nil, false, err
	}
	missing := best.of == nil || best.of.Name != named && best.same.Turn <= t.Shown // it may be gone, or cut
	says := named != "" && t.Own && t.Shown > 0
	if says && missing {
		l, err := k.ofNamed(r, s, t, named)
		return l, false, err
	}
	if best.of == nil {
		return nil, open, nil
	}
	l = model.MadeByAgent(s.Agent, transcript.Parent{Session: best.of.ID, Message: best.same.Message}, t.First)
	l.Session = best.of.Name
	shown := 0
	switch {
	case best.of.Name == named: // its records name it
		shown = t.Shown
	case best.same.Named > 0:
		l.How = value.FoundIDs
	default:
		l.How = value.FoundContent
	}
	share(l, best.of, t, best.same, shown)
	return l, best.open(l, t), nil
}

// open reports whether a session, or what it was found by comparing to be made of, has nothing of its own.
func (c candidate) open(l *model.Lineage, t *transcript.Trace) bool {
	return t.Ends(l.Both-l.Unsaid) || byLooks(l) && !c.t.Goes(t)
}

// ofNamed is the lineage of s where it was made of the session that its file names.
func (k kin) ofNamed(r *tracer, s *model.Session, t *transcript.Trace, named string) (*model.Lineage, error) {
	l := model.MadeByAgent(s.Agent, t.Parent, t.First)
	same, err := r.common(s, t, k.of(named), t.Parent.Session)
	if err != nil {
		return l, err
	}
	same.Behind = behind(r.is[named], t, same)
	share(l, k.of(named), t, same, t.Shown)
	return l, nil
}

// behind is the turn behind which t goes on of the session that its file names, where it takes nothing along: the one
// in which that was then. of is that one's trace, nil if it has none.
func behind(of, t *transcript.Trace, same transcript.Same) int {
	if nothing := same.Turn+same.Behind+t.Shown == 0; nothing && t.Header && of != nil {
		return of.TurnAt(t.First)
	}
	return same.Behind
}

// candidate is a session that another one may have been made of.
type candidate struct {
	of   *model.Session // nil: there is none
	t    *transcript.Trace
	same transcript.Same
}

// nearest is that of the kin which has most of s. open: another one begins as s does, and s has nothing of its own.
func (k kin) nearest(r *tracer, s *model.Session, t *transcript.Trace, named string) (
	best candidate, open bool, err error,
) {
	for _, p := range k.list {
		pt, err := r.trace(p)
		if err != nil {
			if errors.Is(err, ErrLater) || model.MayPass(err) {
				return best, false, err
			}
			continue // it is damaged for good
		}
		c := candidate{p, pt, t.Common(pt)}
		if c.same.Turn+c.same.Behind == 0 {
			continue
		}
		open = open || !t.Goes(pt)
		if p.Name != named && !k.mayBe(r, c, s, t) {
			continue
		}
		if c.isNearerThan(best, r, named) {
			best = c
		}
	}
	return best, open, nil
}

// mayBe reports whether s may have been made of a session that its file does not name.
func (k kin) mayBe(r *tracer, c candidate, s *model.Session, t *transcript.Trace) bool {
	return precedes(c.of, s, c.t, t, c.same) && !k.through(r, c.t, c.same) && !k.above(r, c.of, t, c.same)
}

func (c candidate) isNearerThan(best candidate, r *tracer, named string) bool {
	same, than := c.same, best.same
	switch {
	case best.of == nil, same.Named > than.Named, same.Named == than.Named && same.Kept > than.Kept:
		return true
	case same.Named < than.Named || same.Kept < than.Kept || best.of.Name == named:
		return false
	case c.of.Name == named:
		return true
	}
	bt, err := r.trace(best.of)
	return err == nil && precedes(c.of, best.of, c.t, bt, bt.Common(c.t))
}

// nearer is the session that s was made of where its file names an older one (Claude): a copy keeps what the copy that
// it was made of says of itself. Nothing but the ids tells: those of its records are that one's, and the older one has
// others. nil: there is none.
func (k kin) nearer(
	r *tracer, s *model.Session, t *transcript.Trace, named string,
) (of *model.Session, best transcript.Same) {
	copied := t.Copied()
	if copied == 0 {
		return nil, best
	}
	if p := k.of(named); p != nil {
		if pt, err := r.trace(p); err == nil && t.Ids(pt) > 0 {
			return nil, best
		}
	}
	for _, p := range k.list {
		pt, err := r.trace(p)
		no := p.Name == named || err != nil || pt.Parent.Session != t.Parent.Session
		if no || t.Ids(pt) < copied {
			continue
		}
		same := t.Common(pt)
		if !precedes(p, s, pt, t, same) {
			continue
		}
		if of != nil {
			if ot, err := r.trace(of); err != nil || !precedes(p, of, pt, ot, ot.Common(pt)) {
				continue
			}
		}
		of, best = p, same
	}
	return of, best
}

// through reports whether a session has more of one that was made of s than of s: then it has what s has by that one.
func (k kin) through(r *tracer, pt *transcript.Trace, same transcript.Same) bool {
	return slices.ContainsFunc(k.below, func(c *model.Session) bool {
		ct, err := r.trace(c)
		if err != nil {
			return false
		}
		of := ct.Common(pt)
		return of.Named+of.Kept > same.Named+same.Kept
	})
}

// above reports whether a session was made, as rewind or its file says, of one that has as much of t: then that one is
// meant.
func (k kin) above(r *tracer, p *model.Session, t *transcript.Trace, same transcript.Same) bool {
	for range MaxBases {
		if p.Fork == nil || byLooks(p.Fork) || k.of(p.Fork.Session) == nil {
			return false
		}
		p = k.of(p.Fork.Session)
		if pt, err := r.trace(p); err == nil {
			if of := t.Common(pt); of.Named >= same.Named && of.Kept >= same.Kept && of.Turn >= same.Turn {
				return true
			}
		}
	}
	return false
}

// share sets in l how far both conversations are the same. If the child's own file shows more, that counts: the parent
// may have been cut. What the parent, or the child t itself, has as a summary alone are turns of both, too.
func share(l *model.Lineage, parent *model.Session, t *transcript.Trace, same transcript.Same, shown int) {
	both, turns, before := same.Turn, same.Turns, parent.InSummary()
	if both < shown {
		if turns != nil {
			for of := turns[len(turns)-1] + 1; len(turns) < shown; of++ {
				turns = append(turns, of)
			}
		}
		both = shown
	}
	switch {
	case both > 0:
		l.Share(both, turns)
		l.Below(before)
	case t.Summary:
		l.Unsaid = before + same.Behind
		l.Share(l.Unsaid, nil)
	case same.Behind > 0:
		l.Share(0, []int{before + same.Behind})
	default:
		l.Share(0, turns)
	}
	l.Message = cmp.Or(same.Message, l.Message)
}

// common is how far s and the session with the id, whose record is parent (nil: not known), are the same.
func (r *tracer) common(
	s *model.Session, t *transcript.Trace, parent *model.Session, id string,
) (transcript.Same, error) {
	if parent != nil && !parent.Cursor.Transcript.IsZero() {
		pt, err := r.trace(parent)
		if err != nil {
			return transcript.Same{}, err
		}
		return t.Common(pt), nil
	}
	src, closed, err := ParentSource(r.get, s, parent, id)
	if err != nil || src.ReaderAt == nil {
		return transcript.Same{}, err
	}
	defer closed()
	pt, err := r.read(&model.Session{Name: string(s.Agent) + "/" + id, Agent: s.Agent, ID: id}, src)
	if err != nil {
		return transcript.Same{}, err
	}
	return t.Common(pt), nil
}

// precedes reports whether a session was there before another one that begins alike. What both say decides if it tells,
// then what their files' times do; so that the answer does not depend on who was heard of first, that is asked last.
func precedes(a, b *model.Session, at, bt *transcript.Trace, same transcript.Same) bool {
	if first := cmp.Or(named(a, b, at, bt), begun(a, b), same.Order); first != 0 {
		return first < 0
	}
	goes, other := at.Goes(bt), bt.Goes(at)
	x, y := stampsOf(a, at), stampsOf(b, bt)
	if first := cmp.Or(x.made(y), x.written(y, goes, other), summed(at, bt, goes, other), same.Looks); first != 0 {
		return first < 0
	}
	switch {
	case !x.born.Equal(y.born) && within(x.born, at) && within(y.born, bt):
		return x.born.Before(y.born)
	case a.Began != b.Began && !a.Imported && !b.Imported:
		return a.Began-1 < b.Began-1 // 0: this is its first event
	}
	return a.ID < b.ID
}

// named tells by what one of two files names of the other which was there first, as cmp.Compare; 0: that does not tell.
func named(a, b *model.Session, at, bt *transcript.Trace) int {
	switch {
	case bt.Parent.Session == a.ID:
		return -1
	case at.Parent.Session == b.ID:
		return 1
	}
	tells := func(of, by bool) int { // by: b names a
		switch {
		case of == by:
			return 0
		case by:
			return -1
		}
		return 1
	}
	// a copy took records along that say whose they are; a summary in front is of what the other one had by then
	return cmp.Or(tells(at.Has(b.ID), bt.Has(a.ID)), tells(at.Sums(bt), bt.Sums(at)))
}

// begun tells by the ids of two sessions, where their agent makes them in order of time, which was there first, as
// cmp.Compare; 0: that does not tell.
func begun(a, b *model.Session) int {
	if !transcript.InOrder(a.ID) || !transcript.InOrder(b.ID) {
		return 0
	}
	return cmp.Compare(a.ID, b.ID)
}

// summed tells by a summary in front of what has nothing of its own: clients that put one in front of a copy name no
// session.
func summed(at, bt *transcript.Trace, goes, other bool) int {
	switch is, by := at.Summed(), bt.Summed(); {
	case by && !is && !other:
		return -1
	case is && !by && !goes:
		return 1
	}
	return 0
}

// stamps are what the times of a session's file tell.
type stamps struct {
	born time.Time // when it was made; zero: not known
	live bool      // it was made as its conversation began
	last time.Time // when it was written last; zero: not known, or something was written that is not captured
	kept bool      // that is when its newest record says: nobody has put the file there later
}

func stampsOf(s *model.Session, t *transcript.Trace) (f stamps) {
	info, err := sessions.StatSession(s)
	if err != nil {
		return f
	}
	f.born = osfile.Born(s.Transcript)
	f.live = live(f.born, t)
	if info.Size() == s.Cursor.Length-s.Cursor.Base {
		f.last = info.ModTime()
		f.kept = f.last.Sub(t.Last).Abs() <= soon
	}
	return f
}

// made tells by when two files were made which was there first, as cmp.Compare; 0: that does not tell. A file that was
// made as its conversation began is no copy; of two, the copy was made later.
func (f stamps) made(g stamps) int {
	switch {
	case f.live != g.live && f.live:
		return -1
	case f.live != g.live:
		return 1
	case f.live:
		return f.born.Compare(g.born)
	}
	return 0
}

// written tells by when two files were written last, where that was kept (cp -a, rsync, tar). An agent writes what is
// said as it is said. So a file that was written later than its newest record says, and has nothing of its own, was put
// there: it is a copy that nobody has gone on with. goes and other: f, and g, has something of its own.
func (f stamps) written(g stamps, goes, other bool) int {
	switch {
	case f.last.IsZero() || g.last.IsZero():
		return 0
	case f.kept && !g.kept && !other:
		return -1
	case g.kept && !f.kept && !goes:
		return 1
	case !f.kept || !g.kept || goes != other:
		return 0
	case goes: // both were gone on with, and each was written last when it was
		return 0
	}
	return f.last.Compare(g.last)
}

// soon is how long after what it says first a session's file is made, at most, and after what it says last it is
// written.
const soon = 2 * time.Second

// live reports whether a file that was made then was written as its conversation was held, from the first record on: it
// is no copy.
func live(born time.Time, t *transcript.Trace) bool {
	return !born.IsZero() && !t.First.IsZero() && born.Before(t.First.Add(soon))
}

// within reports whether a file that was made then has been written since: it was not put there as a whole, with other
// files.
func within(born time.Time, t *transcript.Trace) bool {
	return !born.IsZero() && born.Before(t.Last.Add(soon))
}

// CommonTurns sets in l how far the conversation that src is, of s, and that of the session which l names, with this
// record, are the same.
func CommonTurns(l *model.Lineage, get objstore.Getter, s, parent *model.Session, src transcript.Source) error {
	r := newTracer(get, maxOrigin)
	t, err := r.read(s, src)
	if err != nil {
		return err
	}
	same, err := r.common(s, t, parent, parent.ID)
	if err == nil {
		same.Behind = behind(r.is[parent.Name], t, same)
		share(l, parent, t, same, t.Shown)
	}
	return err
}
