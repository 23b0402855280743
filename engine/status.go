package engine

import (
	"context"

	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Status is the state of a project.
type Status struct {
	Project     Project
	Current     *Listed       // nil before the first checkpoint
	Checkpoints int           // steps in the log
	Safety      int           // safety checkpoints in the log
	DiskBytes   int64         // all files of the store
	Changes     []tree.Change // of the worktree against Current
	Skips       []tree.Skip   // of the worktree
	Ahead       int           // steps that redo can go
	HalfDone    *objstore.ID  // the target of an unfinished restore
	LastOp      *refs.Operation
}

// Status compares the worktree with the current checkpoint; it stores nothing but the stat cache.
func (e *Engine) Status(ctx context.Context, p Progress) (*Status, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &Status{Project: e.project}
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		switch op.Kind {
		case refs.KindCheckpoint:
			s.Checkpoints++
		case refs.KindSafety:
			s.Safety++
		}
		if s.LastOp == nil {
			s.LastOp = op
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	j, err := e.readJournal()
	if err != nil {
		return nil, err
	}
	if j != nil {
		s.HalfDone = &j.Target
	}
	use, err := e.db.Usage()
	if err != nil {
		return nil, err
	}
	s.DiskBytes = use.DiskBytes
	cur, err := e.current()
	if err != nil || cur == nil {
		return s, err
	}
	l, err := e.Listing(cur)
	if err != nil {
		return nil, err
	}
	s.Current = &l
	ahead, err := e.ahead(cur.ID)
	if err != nil {
		return nil, err
	}
	s.Ahead = len(ahead)
	c, err := e.look(ctx, cur.Tree, p)
	if err != nil {
		return nil, err
	}
	defer c.tx.Discard()
	s.Skips = c.res.Skips
	err = tree.Diff(c.tx, cur.Tree, c.res.Root, func(ch tree.Change) error {
		s.Changes = append(s.Changes, ch)
		return nil
	})
	return s, err
}

// look captures the worktree in order to compare it; the caller discards the capture.
func (e *Engine) look(ctx context.Context, prev objstore.ID, p Progress) (*capture, error) {
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return e.capture(ctx, root, prev, nil, p)
}
