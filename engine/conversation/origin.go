package conversation

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// hookOrigin is how much of conversations is read, in bytes, to look for an origin while a hook waits.
const hookOrigin = 1 << 20

// maxOrigin is how much is read otherwise, for one session.
const maxOrigin = maxSession

// needsOrigin reports whether to search for a session's origin; never if forks.detect is off. It does if the
// conversation is not known, or has grown by half since the last attempt. Any growth is enough while the session, or
// its presumed original, has nothing of its own. It also does if a possible original has come, or if something could
// not be read the last time. One that rewind made needs none. The log's lock is held.
func (cs *Conversations) needsOrigin(s *model.Session) bool {
	never := !cs.log.Config.Detects() || s.Purged || s.LaneOf != ""
	if never || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return false
	}
	p := cs.loadPoints()
	if f, failed := p.failed[s.Name]; failed {
		return !cs.log.Now().Before(f.next)
	}
	known := p.of[s.Name]
	switch {
	case known == nil, known.Transcript != s.Cursor.Transcript && s.Cursor.Length <= known.Length:
		return true
	case known.Open && s.Cursor.Length > known.Length, 2*s.Cursor.Length >= 3*known.Length:
		return true
	}
	return p.again[s.Name] && !made(s)
}

// made reports whether rewind made a session: its lineage is known.
func made(s *model.Session) bool { return s.Fork != nil && s.Fork.Kind != model.ByAgent }

// OriginInHook looks for the origin of a session whose conversation is captured for the first time, in tx, and sets it
// in s. It does so only as far as that costs a hook no time. It reports whether it learnt anything: then call
// ForgetOrigins if tx is not committed. The caller holds the log's lock.
func (cs *Conversations) OriginInHook(tx *objstore.Tx, s *model.Session) bool {
	p := cs.loadPoints()
	if p.of[s.Name] != nil || s.Fork.Resolved() || !cs.needsOrigin(s) {
		return false
	}
	r := newTracer(tx, hookOrigin)
	t, err := r.trace(s)
	if err != nil {
		return false // the daemon does it
	}
	l, open, err := cs.kinOf(s, t).origin(r, s, t)
	if err != nil {
		return false
	}
	p.learn(s, t)
	p.settle(s.Name, open)
	// an error fails the commit; a process that is no daemon ends with it
	_ = tx.Batch().Set(model.PointsKey(s.Name), p.learnt[s.Name].Encode())
	if l.Resolved() {
		s.ComesFrom(l)
	}
	return true
}

// ParentSource is the conversation of the session with the id, which s was made of: as it was captured (parent, nil: it
// was not), else the agent's file beside that of s. It has no reader if there is neither; else closed must be called.
func ParentSource(
	get objstore.Getter, s, parent *model.Session, id string,
) (src transcript.Source, closed func(), err error) {
	if parent != nil && !parent.Cursor.Transcript.IsZero() {
		st, err := OpenTranscript(get, parent.Cursor.Transcript)
		if err != nil {
			return src, nil, err
		}
		return transcript.Source{ReaderAt: st, Size: st.Size, Name: parent.Cursor.Path, Ended: true}, func() {}, nil
	}
	if !transcript.ValidID(id) || !strings.HasPrefix(filepath.Base(s.Transcript), s.ID) {
		return src, nil, nil
	}
	f, err := OpenSession(s.Agent, filepath.Join(filepath.Dir(s.Transcript), id+filepath.Ext(s.Transcript)))
	if err != nil {
		return src, nil, nil //nolint:nilerr // no file: the lineage stays a name
	}
	return f.Source(f.Info.Size()), func() { _ = f.Close() }, nil
}

// locked reads conversations with the log's lock held.
func locked(read func()) { read() }

// ResolveOrigin looks for the origin of a session, and of the sessions that it comes from, where needsOrigin says so.
// The log's lock is held. An error is dropped, since origins are looked for again.
func (cs *Conversations) ResolveOrigin(ctx context.Context, name string) {
	for range MaxBases {
		if cs.log.Session(name) == nil || cs.log.CheckWhole() != nil || cs.log.Damage() != nil {
			return
		}
		cs.resolve(ctx, name, locked)
		s := cs.log.Session(name)
		if s.Fork == nil {
			break
		}
		name = s.Fork.Session
	}
	cs.keepPoints(ctx)
}

// ResolveOriginsUnlocked is resolveOrigins that reads conversations without the log's lock, which it takes.
func (cs *Conversations) ResolveOriginsUnlocked(ctx context.Context, names []string) {
	cs.log.Lock()
	defer cs.log.Unlock()
	without := func(read func()) {
		cs.log.Unlock()
		defer cs.log.Lock()
		read()
	}
	for _, name := range names {
		cs.resolve(ctx, name, without)
	}
	cs.resolveAgain(ctx, without)
	cs.keepPoints(ctx)
}

// resolveOrigins is ResolveOrigin of all sessions. The log's lock is held.
func (cs *Conversations) resolveOrigins(ctx context.Context) {
	cs.loadPoints().retry()
	names := cs.log.SessionNames()
	for _, name := range names { // all are known before one is compared with others
		if ctx.Err() != nil {
			return
		}
		if s := cs.log.Session(name); s != nil && cs.needsOrigin(s) {
			if t, err := newTracer(cs.log.Objs, maxOrigin).trace(s); err == nil {
				cs.points.learn(s, t)
				cs.points.again[name] = true
			}
		}
	}
	cs.resolveAgain(ctx, locked)
	cs.keepPoints(ctx)
}

// maxAgain is how often an origin is looked for in a row, where what is found of others undoes it each time.
const maxAgain = 8

// resolveAgain looks for the origins of the sessions for which that is to be done again, until there is none.
func (cs *Conversations) resolveAgain(ctx context.Context, reading func(func())) {
	looks := map[string]int{}
	for ctx.Err() == nil {
		name := ""
		for of := range cs.loadPoints().again {
			if looks[of] < maxAgain && (name == "" || of < name) {
				name = of
			}
		}
		if name == "" {
			return
		}
		looks[name]++
		cs.resolve(ctx, name, reading)
		delete(cs.points.again, name)
	}
}

// readable reports whether nothing of the log is known to be missing or damaged.
func (cs *Conversations) readable() bool { return cs.log.CheckWhole() == nil && cs.log.Damage() == nil }

// resolve looks for the origin of a session where needsOrigin says so; reading runs what only reads. The log's lock is
// held.
func (cs *Conversations) resolve(ctx context.Context, name string, reading func(func())) {
	s := cs.log.Session(name)
	if s == nil || !cs.needsOrigin(s) || !cs.readable() {
		return
	}
	work := *s
	r := newTracer(cs.log.Objs, maxOrigin)
	var t *transcript.Trace
	var err error
	reading(func() { t, err = r.trace(&work) })
	if err != nil {
		cs.lookFailed(name, err)
		return
	}
	p := cs.loadPoints()
	if known := p.of[name]; known == nil || known.Transcript != work.Cursor.Transcript {
		p.learn(&work, t)
	}
	if made(&work) {
		delete(p.again, name)
		return
	}
	kin := cs.kinOf(&work, t)
	now := maps.Collect(cs.log.EachSession()) // they stay as they are while the lock is let go
	kin.of = func(name string) *model.Session { return now[name] }
	var l *model.Lineage
	open := false
	reading(func() { l, open, err = kin.origin(r, &work, t) })
	if err != nil {
		cs.lookFailed(name, err)
		return
	}
	p = cs.loadPoints()
	p.settle(name, open)
	if now := cs.log.Session(name); now != nil && !now.Purged && !made(now) {
		cs.tellOrigin(ctx, p, now, l)
	}
}

// lookFailed notes that a session's origin could not be looked for, unless that is so for good.
func (cs *Conversations) lookFailed(name string, err error) {
	if model.MayPass(err) {
		cs.loadPoints().fail(name, cs.log.Now())
	}
}

// tellOrigin records what a session was found to be made of, or that it no longer looks so. The log's lock is held.
func (cs *Conversations) tellOrigin(ctx context.Context, p *points, now *model.Session, l *model.Lineage) {
	name := now.Name
	if l.Resolved() {
		if from := cs.log.Session(l.Session); from != nil && byLooks(from.Fork) && cs.comesFrom(from, name) {
			// it was told the other way round before this one had anything of its own
			_ = cs.recordOrigin(ctx, from.Name, nil)
			p.again[from.Name] = true
		}
		_ = cs.recordOrigin(ctx, name, l)
	} else if byLooks(now.Fork) {
		_ = cs.recordOrigin(ctx, name, nil)
	}
}

// comesFrom reports whether a session was made of another one, over any number of forks.
func (cs *Conversations) comesFrom(s *model.Session, name string) bool {
	for range MaxForks {
		if s == nil || s.Fork == nil {
			return false
		}
		if s.Fork.Session == name {
			return true
		}
		s = cs.log.Session(s.Fork.Session)
	}
	return true
}

// PlaceOrigin stores which checkpoint the fork point of a session is. The log's lock is held.
func (cs *Conversations) PlaceOrigin(ctx context.Context, name string, cp *model.Checkpoint) error {
	stored := cs.log.Session(name)
	if stored == nil || stored.Fork == nil {
		return nil
	}
	s, from := *stored, *stored.Fork
	from.At(cp)
	s.Fork = &from
	c := cs.log.Begin()
	c.SetSession(&s)
	return c.CommitSilently(ctx, kv.Written)
}

// recordOrigin stores the lineage of a session, nil: that it has none. If that changes the number of its turn, the
// newest event of the turn is recorded again with the right number, so that the turn has an end. The log's lock is
// held.
func (cs *Conversations) recordOrigin(ctx context.Context, name string, l *model.Lineage) error {
	s := *cs.log.Session(name)
	if l.Same(s.Fork) {
		return nil
	}
	was := s.Turn
	s.ComesFrom(l)
	var again *refs.Operation
	if s.Turn != was {
		err := cs.log.Refs.Newest(0, func(op *refs.Operation) error {
			if !model.InTurn(op) || op.Kind != refs.KindCheckpoint && op.Cause.Event == model.EventScan {
				return nil
			}
			// the newest event stays the project's newest: another session's is not overtaken
			if op.Session == name && !op.Thinned {
				again = op
			}
			return kv.ErrStop
		})
		if err != nil {
			return err
		}
	}
	c := cs.log.Begin()
	c.SetSession(&s)
	if again == nil {
		return c.CommitSilently(ctx, kv.Written)
	}
	op := refs.Operation{
		Kind: refs.KindEvent, Time: again.Time, Session: name, Checkpoint: again.Checkpoint, Turn: s.Turn,
		Transcript: s.Cursor.Transcript, Cause: again.Cause,
	}
	if again.Kind == refs.KindCheckpoint {
		op.Cause = refs.Cause{Event: s.Event}
	}
	_, err := c.Commit(ctx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) { return op, nil, nil })
	return err
}
