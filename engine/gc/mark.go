package gc

import (
	"errors"
	"fmt"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// reach marks what refs, operations, sessions and an unfinished restore lead to. It reads checkpoints, trees and
// transcripts, never a file's content.
type reach struct {
	e     *Collector
	c     *objstore.Collection
	plan  *gcPlan // what the plan takes out of the log leads nowhere
	pace  *pacer
	read  *gcReader
	stack []model.Object // marked objects whose references are not marked yet
	upTo  uint64         // the newest operation that was marked

	lenient bool // an object that is missing is no damage
}

// ref marks one object; the zero id is none. A missing one is an error, unless it is known to be purged or lost.
func (m *reach) ref(k objstore.Kind, id objstore.ID) error {
	if id.IsZero() {
		return nil
	}
	first, err := m.c.Mark(k, id)
	var gone *objstore.GoneError
	if errors.As(err, &gone) || m.lenient && errors.Is(err, objstore.ErrNotFound) {
		return nil // known to be purged or lost: nothing is there to be kept
	}
	if err != nil || !first {
		return err
	}
	if k == objstore.Checkpoint || k == objstore.Tree || k == objstore.Transcript {
		m.stack = append(m.stack, model.Object{Kind: k, Id: id})
	}
	return nil
}

// refs marks several objects of a kind.
func (m *reach) refs(k objstore.Kind, ids ...objstore.ID) error {
	for _, id := range ids {
		if err := m.ref(k, id); err != nil {
			return err
		}
	}
	return nil
}

// drain marks what the objects on the stack refer to, until it is empty.
func (m *reach) drain() error {
	for len(m.stack) > 0 {
		o := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		var err error
		switch o.Kind {
		case objstore.Checkpoint:
			err = m.checkpoint(o.Id)
		case objstore.Tree:
			err = m.tree(o.Id)
		case objstore.Transcript:
			err = m.transcript(o.Id)
		}
		if err == nil {
			err = m.pace.pause(m.pace.ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *reach) checkpoint(id objstore.ID) error {
	cp, err := m.read.checkpoint(id)
	if err != nil {
		return err
	}
	if m.plan != nil && m.plan.squashes[id] != nil {
		m.plan.squashes[id].Apply(cp)
	}
	err = m.refs(objstore.Checkpoint, cp.Parents...)
	if err == nil {
		err = m.ref(objstore.Transcript, cp.Conversation.Transcript)
	}
	if err == nil {
		err = m.ref(objstore.Note, cp.Note)
	}
	if err == nil {
		err = m.refs(objstore.Tree, cp.Base, cp.Tree)
	}
	return err
}

func (m *reach) tree(id objstore.ID) error {
	raw, err := m.read.trees.Get(id)
	if err != nil {
		return err
	}
	ents, err := tree.Decode(raw)
	if err != nil {
		return &value.OpError{Op: "tree", Subject: id.Short(), Err: fmt.Errorf("%w: %w", kv.ErrCorrupt, err)}
	}
	for i := range ents {
		k := objstore.Blob
		if ents[i].Type == tree.TypeDir {
			k = objstore.Tree
		}
		if err := m.ref(k, ents[i].ID); err != nil {
			return err
		}
	}
	return nil
}

func (m *reach) transcript(id objstore.ID) error {
	raw, err := m.read.transcripts.Get(id)
	if err != nil {
		return err
	}
	n, err := conversation.DecodeNode(id, raw)
	if err != nil {
		return err
	}
	if err := m.ref(objstore.Blob, n.Tail); err != nil {
		return err
	}
	return m.ref(objstore.Transcript, n.Parent)
}

// roots marks what refs, operations, sessions and the journal lead to, as the log will be after the plan.
func (m *reach) roots() error {
	all, err := m.e.log.Refs.List("")
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := m.ref(objstore.Checkpoint, r.ID); err != nil {
			return fmt.Errorf("gc: ref %s: %w", r.Name, err)
		}
	}
	if err := m.journal(); err != nil {
		return err
	}
	if err := m.sessions(); err != nil {
		return err
	}
	m.upTo, err = m.e.since(m.upTo, func(op *refs.Operation) error {
		if m.plan != nil {
			if _, err := m.plan.rewritten(op); err != nil {
				return err
			}
		}
		if err := m.operation(op); err != nil {
			return fmt.Errorf("gc: operation %d: %w", op.Seq, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.drain()
}

func (m *reach) operation(op *refs.Operation) error {
	err := m.refs(objstore.Checkpoint, op.Checkpoint)
	if err == nil {
		err = m.refs(objstore.Checkpoint, namedBy(op)...)
	}
	if err == nil {
		err = m.ref(objstore.Transcript, op.Transcript)
	}
	if r := op.Restore; r != nil && err == nil {
		if err = m.ref(objstore.Tree, r.Result); err == nil {
			err = m.files(r.Files)
		}
	}
	if err != nil {
		return err
	}
	return m.drain() // checkpoints newest first: each is mostly built on the one before
}

func (m *reach) files(files []refs.File) error {
	for _, f := range files {
		if err := m.refs(objstore.Transcript, f.From, f.To); err != nil {
			return err
		}
	}
	return nil
}

func (m *reach) journal() error {
	j, err := m.e.log.ReadJournal()
	if err != nil || j == nil {
		return err
	}
	if err := m.refs(objstore.Checkpoint, j.Target, j.Safety, j.Before, j.After); err != nil {
		return err
	}
	for _, s := range j.Steps {
		for _, ent := range []*tree.Entry{s.Old, s.New} {
			if ent == nil {
				continue
			}
			k := objstore.Blob
			if ent.Type == tree.TypeDir {
				k = objstore.Tree
			}
			if err := m.ifThere(func() error { return m.ref(k, ent.ID) }); err != nil {
				return err
			}
		}
	}
	for _, s := range []*model.Session{j.Made, j.Moved} {
		if err := m.session(s); err != nil {
			return err
		}
	}
	return m.files(j.Files)
}

// ifThere runs fn with missing objects allowed: of the head in memory not everything is stored.
func (m *reach) ifThere(fn func() error) error {
	defer func(was bool) { m.lenient = was }(m.lenient)
	m.lenient = true
	if err := fn(); err != nil {
		return err
	}
	return m.drain()
}

func (m *reach) sessions() error {
	return m.e.log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixSession}}, func(k, raw []byte) error {
		s, err := model.DecodeSession(string(k[1:]), raw)
		if err != nil {
			return err
		}
		return m.session(s)
	})
}

func (m *reach) session(s *model.Session) error {
	if s == nil {
		return nil
	}
	err := m.refs(objstore.Transcript, s.Cursor.Transcript, s.BeganAs(), s.Cursor.Lost)
	if err != nil {
		return fmt.Errorf("gc: session %s: %w", s.Name, err)
	}
	return nil
}

// writeBarrier marks the objects that transactions have come to rely on since the collection began.
func (m *reach) writeBarrier() error {
	for _, o := range m.c.TakeBarrier() {
		err := m.ifThere(func() error {
			id, err := m.e.log.Objs.IDOf(o.Kind, o.Key)
			if errors.Is(err, objstore.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			return m.ref(o.Kind, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sinceRoots marks what came into the log since roots, and what is known in memory of log and worktree. The log's lock
// is held.
func (m *reach) sinceRoots() error {
	if err := m.roots(); err != nil {
		return err
	}
	return m.ifThere(func() error {
		if err := m.e.log.Pinned(m.ref); err != nil {
			return err
		}
		return m.e.worktree.Pinned(m.ref)
	})
}
