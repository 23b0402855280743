package conversation

import (
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

// Others are the sessions that one may have been made of.
type Others map[string]*model.Session

// maxKin is how many sessions that begin alike are compared with one, the newest first.
const maxKin = 16

// rootOf is the root of a session, of a fork that of what it was made of.
func (o Others) rootOf(s *model.Session) uint64 {
	for range MaxBases {
		if s == nil || s.Root != 0 || s.Fork == nil {
			break
		}
		s = o[s.Fork.Session]
	}
	if s == nil {
		return 0
	}
	return s.Root
}

// comesFrom reports whether a session was made of another one, over any number of forks.
func (o Others) comesFrom(s *model.Session, name string) bool {
	for range MaxBases {
		if s == nil || s.Fork == nil {
			return false
		}
		if s.Fork.Session == name {
			return true
		}
		s = o[s.Fork.Session]
	}
	return true
}

// kin are the sessions that begin as s does and were there before it, the newest first.
func (o Others) kin(s *model.Session, root uint64) (list []*model.Session) {
	if root == 0 || s.LaneOf != "" {
		return nil
	}
	for _, p := range o {
		if p.Name == s.Name || p.Agent != s.Agent || p.LaneOf != "" || p.Purged || p.Cursor.Transcript.IsZero() ||
			o.rootOf(p) != root || !precedes(p, s) || o.comesFrom(p, s.Name) {
			continue
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *model.Session) int {
		if precedes(a, b) {
			return 1
		}
		return -1
	})
	return list[:min(len(list), maxKin)]
}

// precedes reports whether a session was there before another one: it was heard of first, or where events do not tell, its file was made
// first.
func precedes(a, b *model.Session) bool {
	if a.Imported || b.Imported {
		if x, y := born(a), born(b); !x.IsZero() && !y.IsZero() && !x.Equal(y) {
			return x.Before(y)
		}
	}
	return a.Began < b.Began
}

// born is when a session's file was made; zero: not known.
func born(s *model.Session) time.Time {
	if _, err := sessions.StatSession(s); err != nil {
		return time.Time{}
	}
	return osfile.Born(s.Transcript)
}

// nearest is where a session comes from whose file names none: of the sessions that begin alike, that with which it has most records in
// common, then most of what a record says. Of several that have the same, the oldest has what the others were made of. nil: of none. At
// most `most` bytes of each conversation are read.
func nearest(get objstore.Getter, s *model.Session, kin []*model.Session, said transcript.Source, most int64) (*model.Lineage, error) {
	var best transcript.Same
	var of *model.Session
	for _, p := range kin {
		same, err := sameAs(get, s, p, said, most)
		if errors.Is(err, ErrLater) {
			return nil, err
		}
		if err != nil || same.Turn == 0 {
			continue
		}
		if of == nil || same.Named > best.Named || same.Named == best.Named && same.Kept >= best.Kept {
			best, of = same, p
		}
	}
	if of == nil {
		return nil, nil
	}
	l := &model.Lineage{}
	l.Session, l.Kind, l.Time, l.Message = of.Name, model.ByAgent, s.First, best.Message
	if l.How = value.FoundContent; best.Named > 0 {
		l.How = value.FoundIDs
	}
	l.Share(best.Turn, best.Turns)
	return l, nil
}

func sameAs(get objstore.Getter, s, p *model.Session, said transcript.Source, most int64) (same transcript.Same, err error) {
	src, closed, err := ParentSource(get, s, p, p.ID)
	if err != nil {
		return same, err
	}
	defer closed()
	if src.Size > most {
		return same, ErrLater
	}
	return transcript.Common(s.Agent, src, said)
}
