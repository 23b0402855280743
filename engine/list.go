package engine

import (
	"context"
	"fmt"
	"io"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Listed is a checkpoint in a list.
type Listed struct {
	*Checkpoint
	Short   string // unique prefix of the id
	Current bool   // the worktree stands on it
	Tags    []string
	Safety  bool
	Aside   bool // no step before the current checkpoint or on the way to the tip: left behind by a later step
}

// ListOptions select checkpoints.
type ListOptions struct {
	All     bool   // safety checkpoints too
	Session string // only of this session
	Limit   int    // at most so many; 0: all
}

// List returns checkpoints, newest first by operation sequence. more says that older ones were left out by the limit.
func (e *Engine) List(_ context.Context, o ListOptions) (list []Listed, more bool, err error) {
	tags, err := e.tagsByID()
	if err != nil {
		return nil, false, err
	}
	cursor, err := e.refs.ID(refs.Cursor(Manual))
	if err != nil {
		return nil, false, err
	}
	tip, err := e.refs.ID(refs.Session(Manual))
	if err != nil {
		return nil, false, err
	}
	line := map[objstore.ID]bool{cursor: true, tip: true} // grows backwards: parents are older
	err = e.refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Kind == refs.KindSafety && o.All, op.Kind == refs.KindCheckpoint:
		default:
			return nil
		}
		if o.Session != "" && op.Session != o.Session {
			return nil
		}
		if o.Limit > 0 && len(list) == o.Limit {
			more = true
			return kv.ErrStop
		}
		cp, err := e.checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		short, err := e.objs.ShortID(objstore.Checkpoint, cp.ID)
		if err != nil {
			return err
		}
		if line[cp.ID] && len(cp.Parents) > 0 {
			line[cp.Parents[0]] = true
		}
		safety := op.Kind == refs.KindSafety
		list = append(list, Listed{Checkpoint: cp, Short: short, Current: cp.ID == cursor, Tags: tags[cp.ID], Safety: safety, Aside: !safety && !line[cp.ID]})
		return nil
	})
	return list, more, err
}

func (e *Engine) tagsByID() (map[objstore.ID][]string, error) {
	all, err := e.refs.List(refs.Tags)
	if err != nil {
		return nil, err
	}
	m := map[objstore.ID][]string{}
	for _, r := range all {
		m[r.ID] = append(m[r.ID], r.Name.Base())
	}
	return m, nil
}

// Listing dresses one checkpoint as List would.
func (e *Engine) Listing(cp *Checkpoint) (Listed, error) {
	tags, err := e.tagsByID()
	if err != nil {
		return Listed{}, err
	}
	cursor, err := e.refs.ID(refs.Cursor(Manual))
	if err != nil {
		return Listed{}, err
	}
	short, err := e.objs.ShortID(objstore.Checkpoint, cp.ID)
	return Listed{Checkpoint: cp, Short: short, Current: cp.ID == cursor, Tags: tags[cp.ID], Safety: cp.Cause.Event == EventSafety}, err
}

// Shown is a checkpoint with all that belongs to it.
type Shown struct {
	Listed
	Changes []tree.Change // against the first parent, limited to the paths asked for
	Skips   []tree.Skip
	Secrets map[string]bool // secret files of Skips that changed since the first parent
}

// Show returns a checkpoint, what it changed and what it skipped.
func (e *Engine) Show(_ context.Context, name string, paths []string) (*Shown, error) {
	cp, err := e.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := &Shown{}
	if s.Listed, err = e.Listing(cp); err != nil {
		return nil, err
	}
	if s.Skips, err = e.note(cp); err != nil {
		return nil, err
	}
	var from objstore.ID
	if len(cp.Parents) > 0 {
		parent, err := e.checkpoint(cp.Parents[0])
		if err != nil {
			return nil, err
		}
		from = parent.Tree
		before, err := e.note(parent)
		if err != nil {
			return nil, err
		}
		s.Secrets = changedSecrets(before, s.Skips)
	}
	only, err := newPathSet(paths)
	if err != nil {
		return nil, err
	}
	err = tree.Diff(e.objs, from, cp.Tree, func(ch tree.Change) error {
		if only.has(ch.Path) {
			s.Changes = append(s.Changes, ch)
		}
		return nil
	})
	return s, err
}

// Cat opens a file as a checkpoint holds it; the target of a symlink; size is in bytes. The caller closes it.
func (e *Engine) Cat(_ context.Context, name, path string) (content io.ReadCloser, size int64, err error) {
	cp, err := e.Resolve(name)
	if err != nil {
		return nil, 0, err
	}
	path, err = cleanPath(path)
	if err != nil {
		return nil, 0, err
	}
	ent, err := e.lookup(cp, path)
	if err != nil {
		return nil, 0, err
	}
	if ent.Type == tree.TypeDir {
		return nil, 0, fmt.Errorf("engine: cat %q: %w: it is a directory", path, ErrUsage)
	}
	r, err := e.objs.Open(ent.ID)
	if err != nil {
		return nil, 0, err
	}
	return r, r.Size(), nil
}
