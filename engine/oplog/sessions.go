package oplog

import (
	"errors"
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

// LoadSessions reads the records of all agents' sessions into Records, once. The log's lock is held.
func (l *Log) LoadSessions() error {
	if l.Records != nil {
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
	if err == nil {
		l.Records = all
		for name, s := range all {
			if s.LaneOf != "" {
				l.Lanes.Store(name, s.LaneOf)
			}
		}
	}
	return err
}

// Sessions lists the records of agents' sessions, that with the newest event first. It takes the log's lock.
func (l *Log) Sessions() ([]model.Session, error) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	if err := l.LoadSessions(); err != nil {
		return nil, err
	}
	return l.ListSessions(), nil
}

// ListSessions is Sessions with the log's lock held. Subagents' sessions are left out.
func (l *Log) ListSessions() []model.Session {
	var out []model.Session
	for _, s := range l.Records {
		if s.LaneOf != "" {
			continue // a subagent's: what it did is its caller's
		}
		c := *s
		c.Calls = slices.Clone(s.Calls)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b model.Session) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
