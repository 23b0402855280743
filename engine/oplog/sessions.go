package oplog

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
)

// StoredSession reads a session's record from the store, for callers that do not hold the log's lock; nil: there is
// none that can be read.
func (l *Log) StoredSession(name string) (s *model.Session, err error) {
	err = l.DB.View(model.SessionKey(name), func(v []byte) (err error) {
		s, err = model.DecodeSession(name, v)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) || errors.Is(err, kv.ErrCorrupt) {
		return nil, nil //nolint:nilerr // a record that cannot be read begins anew
	}
	return s, err
}

// LoadSessions reads the records of all agents' sessions, once: before that the log has none in memory. Its lock is
// held.
func (l *Log) LoadSessions() error {
	if l.loaded {
		return nil
	}
	all := map[string]*model.Session{}
	err := l.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, v []byte) error {
		s, err := model.DecodeSession(string(k[1:]), v)
		if errors.Is(err, kv.ErrCorrupt) {
			return nil // the record begins anew: an agent's next event must not fail for it
		}
		all[s.Name] = s
		return err
	})
	if err != nil {
		return err
	}
	l.loaded = true
	for _, s := range all {
		l.Remember(s)
	}
	return nil
}

// Session is the record of a session, read only; nil: there is none, or they are not loaded. Safe for concurrent use:
// what must agree with other sessions' records, or with the log, is asked with its lock held.
func (l *Log) Session(name string) *model.Session {
	v, _ := l.records.Load(name)
	s, _ := v.(*model.Session)
	return s
}

// EachSession goes through the records of all sessions by name, in no order. Else it is as Session.
func (l *Log) EachSession() iter.Seq2[string, *model.Session] {
	return func(yield func(string, *model.Session) bool) {
		l.records.Range(func(name, s any) bool { return yield(name.(string), s.(*model.Session)) })
	}
}

// SessionNames are the names of all sessions, in order. Else it is as Session.
func (l *Log) SessionNames() (list []string) {
	for name := range l.EachSession() {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Remember has s be the record of its session in memory, where records are loaded: what it says besides the store's is
// stored with the session's next change. The log's lock is held; s is the log's from then on.
func (l *Log) Remember(s *model.Session) {
	if !l.loaded {
		return
	}
	l.records.Store(s.Name, s)
	if s.LaneOf != "" {
		l.lanes.Store(s.Name, s.LaneOf)
	}
}

// Lane is the session whose subagent a session is, "" for none; known says whether that is known. Safe for concurrent
// use.
func (l *Log) Lane(name string) (of string, known bool) {
	v, known := l.lanes.Load(name)
	of, _ = v.(string)
	return of, known
}

// KnowLane says whose subagent a session is; "": nobody's. Safe for concurrent use.
func (l *Log) KnowLane(name, of string) { l.lanes.Store(name, of) }

// Silence says that nothing more is to be captured of a session's conversation, for who reads its file without the
// log's lock; Unsilence takes that back. Safe for concurrent use.
func (l *Log) Silence(name string) { l.silent.Store(name, true) }

// Unsilence takes Silence back.
func (l *Log) Unsilence(name string) { l.silent.Delete(name) }

// Silenced reports whether a session was silenced. Safe for concurrent use.
func (l *Log) Silenced(name string) bool {
	_, is := l.silent.Load(name)
	return is
}

// Sessions lists the records of agents' sessions, that with the newest event first. It takes the log's lock.
func (l *Log) Sessions() ([]model.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.LoadSessions(); err != nil {
		return nil, err
	}
	return l.ListSessions(), nil
}

// ListSessions is Sessions with the log's lock held. Subagents' sessions are left out.
func (l *Log) ListSessions() []model.Session {
	records := l.inOrder()
	out := make([]model.Session, len(records))
	for i, s := range records {
		out[i] = *s
		out[i].Calls = slices.Clone(s.Calls)
	}
	return out
}

// SessionRecords is Sessions without copies: the records are read only, as that of Session.
func (l *Log) SessionRecords() ([]*model.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.LoadSessions(); err != nil {
		return nil, err
	}
	return l.inOrder(), nil
}

// inOrder returns the records of all sessions but subagents', that with the newest event first.
func (l *Log) inOrder() (list []*model.Session) {
	for _, s := range l.EachSession() {
		if s.LaneOf == "" { // what a subagent did is its caller's
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *model.Session) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
