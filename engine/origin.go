package engine

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// An agent makes sessions of others by itself (/branch, --fork-session, a fork by reference). Their files name the other session, and how far both are the same is
// found by comparing them, once: the turn and the message stand in the session's lineage from then on, and turns up to there have the other one's checkpoints.

// byAgent is the kind of a lineage that an agent made.
const byAgent = "agent"

// placed reports whether it is known up to which turn both sessions are the same.
func (l *Lineage) placed() bool { return l != nil && (l.Kind != byAgent || l.Turn > 0) }

// of is the other session's number of turn n, which both have. It may have gone back behind turns that an agent did not take along.
func (l *Lineage) of(n uint64) uint64 {
	if n == 0 || n > uint64(len(l.Turns)) {
		return n
	}
	return uint64(l.Turns[n-1])
}

// There is the last turn that both have, as the other session counts.
func (l *Lineage) There() int { return int(l.of(uint64(l.Turn))) }

// hookOrigin is how long a conversation may be, in bytes, to be compared while a hook waits.
const hookOrigin = 2 << 20

// unplaced reports whether a session's origin is to be looked for: it is not known, and the conversation has become twice as long since that was tried last.
// e.mu is held.
func (e *Engine) unplaced(s *Session) bool {
	if s.Fork.placed() || s.Purged || !understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return false
	}
	tried, ok := e.origins[s.Name]
	return !ok || s.Cursor.Length >= 2*tried
}

func (e *Engine) tried(s *Session) {
	if e.origins == nil {
		e.origins = map[string]int64{}
	}
	e.origins[s.Name] = s.Cursor.Length
}

// originOf finds what an agent has made a session of; nil: of nothing that its file names. parent is what is known of the other one, nil: nothing. It reads at most
// `most` bytes of each.
func originOf(get objstore.Getter, s *Session, parent func(name string) *Session, most int64) (*Lineage, error) {
	st, err := openTranscript(get, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	if st.size > most {
		return nil, errLater
	}
	// What stands in front of the file's first record is the other session's, and says what that one was made of.
	own := transcript.Source{ReaderAt: io.NewSectionReader(st, s.Cursor.Base, st.size-s.Cursor.Base), Size: st.size - s.Cursor.Base, Name: s.Cursor.Path, Ended: true}
	c, err := transcript.Scan(transcript.Agent(s.Agent), own)
	if err != nil || c.Parent.Session == "" || c.Parent.Session == s.ID {
		return nil, err
	}
	l := &Lineage{Session: string(s.Agent) + "/" + c.Parent.Session, Message: c.Parent.Message, Time: c.First, Kind: byAgent}
	return l, l.place(get, s, parent(l.Session), transcript.Source{ReaderAt: st, Size: st.size, Name: s.Cursor.Path, Ended: true}, most)
}

// place finds how far the conversation of s and that of the session which the lineage names are the same. parent is what is known of that one, nil: nothing. It reads
// at most `most` bytes of it.
func (l *Lineage) place(get objstore.Getter, s, parent *Session, said transcript.Source, most int64) error {
	of, closed, err := parentSource(get, s, parent, strings.TrimPrefix(l.Session, string(s.Agent)+"/"))
	if err != nil || of.ReaderAt == nil {
		return err
	}
	defer closed()
	if of.Size > most {
		return errLater
	}
	same, err := transcript.Common(transcript.Agent(s.Agent), of, said)
	if err != nil {
		return err
	}
	l.Turn, l.Turns = same.Turn, same.Turns
	if same.Message != "" {
		l.Message = same.Message
	}
	return nil
}

// parentSource is the conversation that a session was made of: as it was captured, else the agent's file beside the session's own.
func parentSource(get objstore.Getter, s, parent *Session, id string) (src transcript.Source, closed func(), err error) {
	if parent != nil && !parent.Cursor.Transcript.IsZero() {
		st, err := openTranscript(get, parent.Cursor.Transcript)
		if err != nil {
			return src, nil, err
		}
		return transcript.Source{ReaderAt: st, Size: st.size, Name: parent.Cursor.Path, Ended: true}, func() {}, nil
	}
	if !transcript.ValidID(id) || !strings.HasPrefix(filepath.Base(s.Transcript), s.ID) {
		return src, nil, nil
	}
	f, err := openSession(transcript.Agent(s.Agent), filepath.Join(filepath.Dir(s.Transcript), id+filepath.Ext(s.Transcript)))
	if err != nil {
		return src, nil, nil //nolint:nilerr // it is gone: the session says where it comes from, and no more is known
	}
	return f.source(f.info.Size()), func() { _ = f.Close() }, nil
}

// comesFrom takes an origin into a session's record. Turns that were heard of before it was known were counted from the session's own first; they are those behind
// what both have.
func (s *Session) comesFrom(l *Lineage) {
	s.Fork = l
	switch both := uint64(l.Turn); {
	case s.Prompt == "":
		s.Turn = max(s.Turn, both)
	case s.Turn <= both:
		s.Turn += both
	}
}

// knownAs is a session by its name, as it stands now.
func (e *Engine) knownAs(name string) *Session { return e.sessions[name] }

// placeSession looks for a session's origin, and for those of the sessions that it was made of, as far as their conversations have come since that was done last; e.mu
// is held. What cannot be read or written now is for another time: it is no reason to refuse anything.
func (e *Engine) placeSession(ctx context.Context, name string) {
	for range maxBases {
		s := e.sessions[name]
		if s == nil || e.checkWhole() != nil || e.Damage() != nil {
			return
		}
		if e.unplaced(s) {
			e.tried(s)
			if l, err := originOf(e.objs, s, e.knownAs, maxSession); err == nil && l.placed() {
				_ = e.recordOrigin(ctx, name, l)
			}
		}
		if s = e.sessions[name]; s.Fork == nil {
			return
		}
		name = s.Fork.Session
	}
}

// placeLate is placeSession that reads without a lock.
func (e *Engine) placeLate(ctx context.Context, name string) {
	e.mu.Lock()
	s := e.sessions[name]
	if s == nil || !e.unplaced(s) {
		e.mu.Unlock()
		return
	}
	e.tried(s)
	work, parents := *s, make(map[string]*Session, len(e.sessions))
	for name, s := range e.sessions {
		parents[name] = s
	}
	e.mu.Unlock()
	l, err := originOf(e.objs, &work, func(name string) *Session { return parents[name] }, maxSession)
	if err != nil || !l.placed() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.sessions[name]; now != nil && !now.Fork.placed() && !now.Purged {
		_ = e.recordOrigin(ctx, name, l)
	}
}

// recordOrigin stores what a session was made of. If its turns were counted from its own first until now, the newest thing that was heard of it is recorded again
// under its number, so that the turn has an end; e.mu is held.
func (e *Engine) recordOrigin(ctx context.Context, name string, l *Lineage) error {
	s := *e.sessions[name]
	was := s.Turn
	s.comesFrom(l)
	tx := e.objs.Begin()
	put := func() error { return tx.Batch().Set(sessionKey(name), s.encode()) }
	var again *refs.Operation
	if s.Turn != was {
		err := e.refs.Newest(0, func(op *refs.Operation) error {
			if !inTurn(op) || op.Kind != refs.KindCheckpoint && op.Cause.Event == EventScan {
				return nil
			}
			if op.Session == name && !op.Thinned { // else another session is what was heard of last, and stays that
				again = op
			}
			return kv.ErrStop
		})
		if err != nil {
			tx.Discard()
			return err
		}
	}
	var err error
	if again == nil {
		if err = put(); err == nil {
			err = tx.Commit(ctx, kv.Written)
		}
	} else {
		op := refs.Operation{
			Kind: refs.KindEvent, Time: again.Time, Session: name, Checkpoint: again.Checkpoint, Turn: s.Turn, Transcript: s.Cursor.Transcript, Cause: again.Cause,
		}
		if again.Kind == refs.KindCheckpoint {
			op.Cause = refs.Cause{Event: s.Event}
		}
		_, err = e.refs.Commit(ctx, tx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) { return op, nil, put() })
	}
	if err != nil {
		tx.Discard()
		return err
	}
	e.sessions[name] = &s
	return nil
}
