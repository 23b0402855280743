package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/transcript"
)

// points knows where conversations may go on from others. The log's lock guards it.
type points struct {
	rewrites uint64 // of the log, when it was loaded
	of       map[string]*model.Points
	at       []point // all of all sessions; in order where sorted
	sorted   bool
	learnt   map[string]*model.Points // what the store has not yet; nil: to be removed
	again    map[string]bool          // sessions whose origin is to be looked for again: one came that it may be
	failed   map[string]failedLook    // sessions of which something could not be read when their origin was looked for
}

// failedLook is a look that failed: when it is repeated.
type failedLook struct {
	tries int
	next  time.Time
}

// fail notes that something could not be read when a session's origin was looked for. That is tried again, each time
// after twice as long; by another process at once, as what was learnt is not stored.
func (p *points) fail(name string, now time.Time) {
	f := p.failed[name]
	f.tries = min(f.tries+1, 12)
	f.next = now.Add(time.Second << f.tries)
	if p.failed == nil {
		p.failed = map[string]failedLook{}
	}
	p.failed[name], p.learnt[name] = f, nil
	delete(p.again, name)
}

// retry has all looks that failed repeated now.
func (p *points) retry() {
	for name := range p.failed {
		p.again[name] = true
	}
	clear(p.failed)
}

type point struct {
	number  uint64
	session string
}

// loadPoints reads the points that are stored, once until something is taken out of the log. What cannot be read is not
// known. The log's lock is held, and the records are loaded.
func (cs *Conversations) loadPoints() *points {
	p := &cs.points
	if p.of != nil && p.rewrites == cs.log.Rewrites() {
		return p
	}
	*p = points{rewrites: cs.log.Rewrites(), of: map[string]*model.Points{}, learnt: map[string]*model.Points{}, again: map[string]bool{}}
	prefix := model.PointsPrefix()
	// What was read until an error is enough to go on: what is missing is read from the conversations.
	_ = cs.log.DB.Scan(kv.Range{Prefix: prefix}, func(key, raw []byte) error {
		name := string(key[len(prefix):])
		known, err := model.DecodePoints(raw)
		if err != nil || known.Read != model.PointsRead || cs.log.Session(name) == nil {
			p.learnt[name] = nil
			return nil //nolint:nilerr // it is learnt again
		}
		p.add(name, known)
		return nil
	})
	return p
}

// ForgetOrigins forgets what OriginInHook learnt of sessions, for a change that failed: it is not in the store, and
// their origins are looked for again. The log's lock is held.
func (cs *Conversations) ForgetOrigins(names []string) {
	for _, name := range names {
		delete(cs.points.of, name)
		delete(cs.points.learnt, name)
		cs.points.at = slices.DeleteFunc(cs.points.at, func(a point) bool { return a.session == name })
	}
}

// add puts a session's points into the index; they stay in memory there alone, but for where it begins.
func (p *points) add(name string, known *model.Points) {
	if p.of[name] != nil {
		p.at = slices.DeleteFunc(p.at, func(a point) bool { return a.session == name })
	}
	for _, number := range known.Each {
		p.at, p.sorted = append(p.at, point{number, name}), false
	}
	short := *known
	short.Packed = known.Packed[:8*known.Starts]
	p.of[name] = &short
}

// learn takes what a session's conversation says, and notes which sessions it may be the origin of.
func (p *points) learn(s *model.Session, t *transcript.Trace) {
	at, starts := t.Points()
	known := &model.Points{
		Read: model.PointsRead, Transcript: s.Cursor.Transcript, Length: s.Cursor.Length, Packed: model.PackPoints(at), Starts: starts,
	}
	if old := p.of[s.Name]; old != nil {
		known.Open = old.Open
	}
	p.add(s.Name, known)
	p.learnt[s.Name] = known
	has := make(map[uint64]bool, len(at))
	for _, number := range at {
		has[number] = true
	}
	for name, other := range p.of {
		if name == s.Name {
			continue
		}
		for _, number := range other.Each {
			if has[number] {
				p.again[name] = true
				break
			}
		}
	}
}

// settle notes whether a conversation has nothing of its own yet.
func (p *points) settle(name string, open bool) {
	delete(p.again, name)
	delete(p.failed, name)
	if known := p.of[name]; known != nil && known.Open != open {
		known.Open = open
		if learnt := p.learnt[name]; learnt != nil {
			learnt.Open = open
		}
	}
}

// sharing are the sessions that have points of a conversation, the one with most of them first.
func (p *points) sharing(name string, t *transcript.Trace) []string {
	if !p.sorted {
		slices.SortFunc(p.at, func(a, b point) int {
			return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.session, b.session))
		})
		p.sorted = true
	}
	counts := map[string]int{}
	at, starts := t.Points()
	for n, number := range at {
		i, _ := slices.BinarySearchFunc(p.at, number, func(a point, number uint64) int { return cmp.Compare(a.number, number) })
		for ; i < len(p.at) && p.at[i].number == number; i++ {
			if of := p.at[i].session; n < starts || counts[of] > 0 {
				counts[of]++
			}
		}
	}
	delete(counts, name)
	list := make([]string, 0, len(counts))
	for of := range counts {
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return list
}

// keepPoints stores what was learnt. The log's lock is held. An error is dropped: it will be learnt again. Of a session
// whose origin is still to be looked for again nothing is stored, so that whoever opens the store next looks.
func (cs *Conversations) keepPoints(ctx context.Context) {
	p := &cs.points
	if len(p.learnt)+len(p.again) == 0 || cs.log.Damage() != nil || cs.log.CheckWhole() != nil {
		return
	}
	b := cs.log.DB.NewBatch()
	defer b.Close()             //nolint:errcheck // after a commit there is nothing to close
	for name := range p.again { // what is stored of it goes
		if _, learnt := p.learnt[name]; !learnt {
			p.learnt[name] = nil
		}
	}
	for name, known := range p.learnt {
		var err error
		s := cs.log.Session(name)
		gone := s == nil || s.Purged
		if known == nil || gone || p.again[name] {
			err = b.Delete(model.PointsKey(name))
		} else {
			err = b.Set(model.PointsKey(name), known.Encode())
		}
		if err != nil {
			return
		}
	}
	if b.Commit(ctx, kv.Written) == nil {
		maps.DeleteFunc(p.learnt, func(name string, known *model.Points) bool { return known == nil || !p.again[name] })
	}
}

// tracer reads traces of conversations, each once.
type tracer struct {
	get  objstore.Getter
	left int64 // bytes that it may still read
	is   map[string]*transcript.Trace
}

func newTracer(get objstore.Getter, most int64) *tracer {
	return &tracer{get: get, left: most, is: map[string]*transcript.Trace{}}
}

// trace is that of a session's conversation as it was captured.
func (r *tracer) trace(s *model.Session) (*transcript.Trace, error) {
	if t := r.is[s.Name]; t != nil {
		return t, nil
	}
	st, err := OpenTranscript(r.get, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	return r.read(s, transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Cursor.Path, Ended: true})
}

func (r *tracer) read(s *model.Session, src transcript.Source) (*transcript.Trace, error) {
	if r.left -= src.Size; r.left < 0 {
		return nil, ErrLater
	}
	t, err := transcript.TraceOf(s.Agent, src, s.ID)
	if err != nil {
		return nil, err
	}
	r.is[s.Name] = t
	return t, nil
}
