package conversation

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// HookOrigin is how long a conversation may be, in bytes, for its origin to be looked for while a hook waits.
const HookOrigin = 2 << 20

// NeedsOrigin reports whether a session's origin is to be looked for: it is not known, and the conversation has become twice as long since
// the last attempt. The log's lock is held.
func (cs *Conversations) NeedsOrigin(s *model.Session) bool {
	if s.Fork.Resolved() || s.Purged || !model.Understood(s.Agent) || s.Cursor.Transcript.IsZero() {
		return false
	}
	tried, ok := cs.Origins[s.Name]
	return !ok || s.Cursor.Length >= 2*tried
}

// Tried notes the length of a session's conversation for NeedsOrigin. The log's lock is held.
func (cs *Conversations) Tried(s *model.Session) {
	if cs.Origins == nil {
		cs.Origins = map[string]int64{}
	}
	cs.Origins[s.Name] = s.Cursor.Length
}

// OriginOf looks for the session that an agent, or a tool beside it, made another one of, and says so in the lineage: its file names it, or
// one of the others begins as it does. nil: it was made of none. It sets the root of s. At most `most` bytes of each conversation are read.
func OriginOf(get objstore.Getter, s *model.Session, others Others, most int64) (*model.Lineage, error) {
	st, err := OpenTranscript(get, s.Cursor.Transcript)
	if err != nil {
		return nil, err
	}
	said := transcript.Source{ReaderAt: st, Size: st.Size, Name: s.Cursor.Path, Ended: true}
	if s.Root == 0 {
		if s.Root, err = transcript.RootOf(s.Agent, said); err != nil {
			return nil, err
		}
	}
	kin := others.kin(s, s.Root)
	if st.Size > most {
		return nil, ErrLater
	}
	// Records in front of the file's first one are the other session's, and name what that was made of.
	own := transcript.Source{
		ReaderAt: io.NewSectionReader(st, s.Cursor.Base, st.Size-s.Cursor.Base), Size: st.Size - s.Cursor.Base,
		Name: s.Cursor.Path, Ended: true,
	}
	c, err := transcript.Scan(s.Agent, own)
	if err != nil {
		return nil, err
	}
	if c.Parent.Session == "" || c.Parent.Session == s.ID {
		return nearest(get, s, kin, said, most)
	}
	l := model.MadeByAgent(s.Agent, c.Parent, c.First)
	return l, CommonTurns(l, get, s, others[l.Session], said, most)
}

// CommonTurns sets in l how far the conversation of s, which said is, and that of the session which l names are the same. parent is that
// session's record; nil: not known. At most `most` bytes of its conversation are read.
func CommonTurns(l *model.Lineage, get objstore.Getter, s, parent *model.Session, said transcript.Source, most int64) error {
	of, closed, err := ParentSource(get, s, parent, strings.TrimPrefix(l.Session, string(s.Agent)+"/"))
	if err != nil || of.ReaderAt == nil {
		return err
	}
	defer closed()
	if of.Size > most {
		return ErrLater
	}
	same, err := transcript.Common(s.Agent, of, said)
	if err != nil {
		return err
	}
	l.Share(same.Turn, same.Turns)
	if same.Message != "" {
		l.Message = same.Message
	}
	return nil
}

// ParentSource is the conversation of the session with the id, which s was made of: as it was captured (parent, nil: it was not), else the
// agent's file beside that of s. It has no reader if there is neither; else closed must be called.
func ParentSource(get objstore.Getter, s, parent *model.Session, id string) (src transcript.Source, closed func(), err error) {
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

// Others are all sessions. The log's lock is held, and as long as they are used.
func (cs *Conversations) Others() Others { return cs.log.Records }

// ResolveOrigin looks for the origin of a session, and of the sessions that it comes from, where NeedsOrigin says so. The log's lock is
// held. An error is dropped, since origins are looked for again.
func (cs *Conversations) ResolveOrigin(ctx context.Context, name string) {
	for range MaxBases {
		s := cs.log.Records[name]
		if s == nil || cs.log.CheckWhole() != nil || cs.log.Damage() != nil {
			return
		}
		if cs.NeedsOrigin(s) {
			cs.Tried(s)
			work := *s
			l, err := OriginOf(cs.log.Objs, &work, cs.log.Records, MaxSession)
			cs.noteRoot(name, work.Root)
			if err == nil && l.Resolved() {
				_ = cs.recordOrigin(ctx, name, l)
			}
		}
		if s = cs.log.Records[name]; s.Fork == nil {
			return
		}
		name = s.Fork.Session
	}
}

// ResolveOriginUnlocked is ResolveOrigin of one session that reads the conversations without the log's lock, which it takes.
func (cs *Conversations) ResolveOriginUnlocked(ctx context.Context, name string) {
	cs.log.Mu.Lock()
	s := cs.log.Records[name]
	if s == nil || !cs.NeedsOrigin(s) {
		cs.log.Mu.Unlock()
		return
	}
	cs.Tried(s)
	work, others := *s, Others(maps.Clone(cs.log.Records))
	cs.log.Mu.Unlock()
	l, err := OriginOf(cs.log.Objs, &work, others, MaxSession)
	cs.log.Mu.Lock()
	defer cs.log.Mu.Unlock()
	cs.noteRoot(name, work.Root)
	if now := cs.log.Records[name]; now != nil && !now.Fork.Resolved() && !now.Purged && err == nil && l.Resolved() {
		_ = cs.recordOrigin(ctx, name, l)
	}
}

// noteRoot notes a session's root in memory; its next event stores it. The log's lock is held.
func (cs *Conversations) noteRoot(name string, root uint64) {
	if s := cs.log.Records[name]; s != nil && s.Root != root && root != 0 {
		noted := *s
		noted.Root = root
		cs.log.Records[name] = &noted
	}
}

// PlaceOrigin stores which checkpoint the fork point of a session is. The log's lock is held.
func (cs *Conversations) PlaceOrigin(ctx context.Context, name string, cp *model.Checkpoint) error {
	stored := cs.log.Records[name]
	if stored == nil || stored.Fork == nil {
		return nil
	}
	s, from := *stored, *stored.Fork
	from.At(cp)
	s.Fork = &from
	tx := cs.log.Objs.Begin()
	err := tx.Batch().Set(model.SessionKey(name), s.Encode())
	if err == nil {
		err = tx.Commit(ctx, kv.Written)
	}
	if err != nil {
		tx.Discard()
		return err
	}
	cs.log.Records[name] = &s
	return nil
}

// recordOrigin stores the lineage of a session. If that changes the number of its turn, the newest event of the turn is recorded again with
// the right number, so that the turn has an end. The log's lock is held.
func (cs *Conversations) recordOrigin(ctx context.Context, name string, l *model.Lineage) error {
	s := *cs.log.Records[name]
	was := s.Turn
	s.ComesFrom(l)
	tx := cs.log.Objs.Begin()
	put := func() error { return tx.Batch().Set(model.SessionKey(name), s.Encode()) }
	var again *refs.Operation
	if s.Turn != was {
		err := cs.log.Refs.Newest(0, func(op *refs.Operation) error {
			if !model.InTurn(op) || op.Kind != refs.KindCheckpoint && op.Cause.Event == model.EventScan {
				return nil
			}
			if op.Session == name && !op.Thinned { // the newest event stays the project's newest: another session's is not overtaken
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
			Kind: refs.KindEvent, Time: again.Time, Session: name, Checkpoint: again.Checkpoint, Turn: s.Turn,
			Transcript: s.Cursor.Transcript, Cause: again.Cause,
		}
		if again.Kind == refs.KindCheckpoint {
			op.Cause = refs.Cause{Event: s.Event}
		}
		_, err = cs.log.Refs.Commit(ctx, tx, kv.Written, func(uint64) (refs.Operation, []refs.Update, error) { return op, nil, put() })
	}
	if err != nil {
		tx.Discard()
		return err
	}
	cs.log.Records[name] = &s
	return nil
}
