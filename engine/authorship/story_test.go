package authorship_test

import (
	"maps"
	"testing"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/snapshot"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const (
	me, lane, busy, rest, kid = "claude/me", "claude/lane", "claude/busy", "claude/rest", "claude/kid"
)

// files are a worktree: content by path.
type files map[string]string

// A story is a log that is written by hand: sessions, their steps and restores.
type story struct {
	*enginetest.Project
	authors *authorship.Authors
	head    objstore.ID // the newest tree
}

// newStory has four sessions that are heard of from the first operation on: one that is asked for, with a lane, one in
// the middle of a turn, and one that rests.
func newStory(t *testing.T) *story {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Must(p.E.Log.LoadSessions())
	s := &story{Project: p, authors: authorship.New(p.E.Log, p.E.Sessions, p.E.Worktree)}
	s.session(me, model.Session{})
	s.session(lane, model.Session{LaneOf: me})
	s.session(busy, model.Session{Busy: true})
	s.session(rest, model.Session{})
	return s
}

// session enters a session of which an event came just now.
func (s *story) session(name string, r model.Session) *model.Session {
	r.Name, r.Event, r.Last = name, "prompt", s.E.Log.Now()
	if r.Began == 0 {
		r.Began = s.E.Log.DB.LastSeq() + 1
	}
	s.E.Log.Remember(&r)
	return &r
}

// unknown has nothing be known of a session.
func (s *story) unknown(name string) {
	others := maps.Collect(s.E.Log.EachSession())
	delete(others, name)
	s.E.Log.Forget()
	s.Must(s.E.Log.LoadSessions())
	for _, o := range others {
		s.E.Log.Remember(o)
	}
}

// fork is a lineage.
func fork(of, kind string) *model.Lineage {
	return &model.Lineage{Lineage: value.Lineage{Session: of, Kind: kind}}
}

// commit appends an operation with what prepare puts into the transaction.
func (s *story) commit(prepare func(tx *objstore.Tx, seq uint64) (refs.Operation, []refs.Update)) uint64 {
	s.T.Helper()
	tx := s.E.Log.Objs.Begin()
	made := func(seq uint64) (refs.Operation, []refs.Update, error) {
		op, updates := prepare(tx, seq)
		return op, updates, nil
	}
	op, err := s.E.Log.BeginWith(tx).Commit(enginetest.Bg, kv.Durable, made)
	s.Must(err)
	return op.Seq
}

// event is an operation that made nothing.
func (s *story) event(session string, updates ...refs.Update) uint64 {
	s.T.Helper()
	op := refs.Operation{Kind: refs.KindEvent, Session: session}
	for _, u := range updates {
		op.Changes = append(op.Changes, refs.Change(u))
	}
	return s.commit(func(*objstore.Tx, uint64) (refs.Operation, []refs.Update) { return op, updates })
}

// tree stores a worktree.
func (s *story) tree(all files) objstore.ID {
	s.T.Helper()
	tx := s.E.Log.Objs.Begin()
	var steps []tree.Change
	for path, content := range all {
		id, err := tx.Put(objstore.Blob, []byte(content), objstore.Zero)
		s.Must(err)
		_, name := tree.Split(path)
		ent := &tree.Entry{Name: name, Type: tree.TypeFile, Perm: 0o644, ID: id, Size: int64(len(content))}
		steps = append(steps, tree.Change{Path: path, New: ent})
	}
	id, err := tree.Edit(tx, tx, objstore.Zero, steps)
	s.Must(err)
	s.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return id
}

// step is a step of a session with the worktree as it left it; by are the authors.
func (s *story) step(session string, all files, by ...string) *model.Checkpoint {
	s.T.Helper()
	return s.put(model.Checkpoint{Session: session, By: by, Cause: model.Cause{Event: "stop", Turn: 1}}, all)
}

// put is step with more of a checkpoint.
func (s *story) put(cp model.Checkpoint, all files) *model.Checkpoint {
	s.T.Helper()
	cp.Time, cp.Tree = s.Tick, s.tree(all)
	tip, err := s.E.Log.Refs.ID(refs.Session(cp.Session))
	s.Must(err)
	if cp.Base = s.head; !tip.IsZero() && cp.Parents == nil {
		cp.Parents = []objstore.ID{tip}
	}
	kind := refs.KindCheckpoint
	if cp.Cause.Event == model.EventSafety {
		kind = refs.KindSafety
	}
	s.commit(func(tx *objstore.Tx, seq uint64) (refs.Operation, []refs.Update) {
		s.Must(s.E.Log.PutCheckpoint(tx, &cp, seq))
		op := refs.Operation{Kind: kind, Session: cp.Session, Checkpoint: cp.ID}
		if kind == refs.KindSafety {
			return op, nil
		}
		return op, []refs.Update{{Name: refs.Session(cp.Session), Old: tip, New: cp.ID}}
	})
	if kind == refs.KindCheckpoint {
		s.head = cp.Tree
	}
	return &cp
}

// restore is a restore by a session: the state before, and the operation.
func (s *story) restore(kind refs.Kind, session string, found files, r refs.Restore) (uint64, *model.Checkpoint) {
	s.T.Helper()
	safety := s.put(model.Checkpoint{Session: session, Cause: model.Cause{Event: model.EventSafety}}, found)
	r.Safety = safety.ID
	op := s.commit(func(*objstore.Tx, uint64) (refs.Operation, []refs.Update) {
		return refs.Operation{Kind: kind, Session: session, Restore: &r}, nil
	})
	s.E.Log.ForgetHead()
	head, err := s.E.Log.Head()
	s.Must(err)
	s.head = head.Tree
	return op, safety
}

// found is a capture that found a worktree.
func (s *story) found(all files) *capture.Capture {
	s.T.Helper()
	s.E.Log.ForgetHead()
	return &capture.Capture{Get: tree.NewMemo(s.E.Log.Objs), Res: &snapshot.Result{Root: s.tree(all)}}
}

// judge judges for a session.
func (s *story) judge(session string) *authorship.Judge {
	s.T.Helper()
	j, err := s.authors.Judge(authorship.Going{Session: session, Way: authorship.ByStep})
	s.Must(err)
	return j
}
