package engine

import (
	"context"
	"errors"
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
	Notes   []string // messages that were put on it later, the oldest first
	Safety  bool
	Aside   bool // no step before the current checkpoint or on the way to the tip: left behind by a later step
}

// ListOptions select checkpoints.
type ListOptions struct {
	All     bool   // safety checkpoints and minor ones too
	Session string // only of this session; a name, or a prefix of the agent's id
	Limit   int    // at most so many; 0: all
}

// ListResult is what List found.
type ListResult struct {
	Checkpoints []Listed
	More        bool // older ones were left out by the limit
	Folded      int  // minor ones were left out
}

// List returns checkpoints, newest first by operation sequence.
func (e *Engine) List(_ context.Context, o ListOptions) (*ListResult, error) {
	if o.Session != "" {
		var err error
		if o.Session, err = e.findSession(o.Session); errors.Is(err, ErrNotFound) {
			return &ListResult{}, nil
		} else if err != nil {
			return nil, err
		}
	}
	tags, err := e.tagsByID()
	if err != nil {
		return nil, err
	}
	notes, err := e.allMessages()
	if err != nil {
		return nil, err
	}
	cursor, err := e.cursor()
	if err != nil {
		return nil, err
	}
	line, err := e.tips() // grows backwards: parents are older
	if err != nil {
		return nil, err
	}
	res := &ListResult{}
	later := map[objstore.ID]*Checkpoint{} // of each step, the newest of its session that came after it on its line
	read := e.checkpoints()
	err = e.made(func(op *refs.Operation) error {
		safety := op.Kind == refs.KindSafety
		if safety && !o.All || o.Session != "" && op.Session != o.Session {
			return nil
		}
		if o.Limit > 0 && len(res.Checkpoints) == o.Limit {
			res.More = true
			return kv.ErrStop
		}
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		if line[cp.ID] && len(cp.Parents) > 0 {
			line[cp.Parents[0]] = true
		}
		hide := !o.All && !safety && folded(cp, later[cp.ID]) && cp.ID != cursor && len(tags[cp.ID]) == 0 && len(notes[cp.ID.Key()]) == 0
		if !safety && len(cp.Parents) > 0 {
			on := cp.Parents[0]
			if was := later[on]; was == nil || was.Session != cp.Session {
				later[on] = cp
			}
		}
		if hide {
			res.Folded++
			return nil
		}
		short, err := e.objs.ShortID(objstore.Checkpoint, cp.ID)
		if err != nil {
			return err
		}
		res.Checkpoints = append(res.Checkpoints, Listed{
			Checkpoint: cp, Short: short, Current: cp.ID == cursor, Tags: tags[cp.ID], Notes: notes[cp.ID.Key()],
			Safety: safety, Aside: !safety && !line[cp.ID],
		})
		return nil
	})
	return res, err
}

// cursor is where the current session stands; zero before the first checkpoint.
func (e *Engine) cursor() (objstore.ID, error) {
	at, err := e.position()
	if err != nil {
		return objstore.ID{}, err
	}
	cur, err := e.current(at.Session)
	if err != nil || cur == nil {
		return objstore.ID{}, err
	}
	return cur.ID, nil
}

// tips are the checkpoints at which branches end and sessions stand.
func (e *Engine) tips() (map[objstore.ID]bool, error) {
	tips := map[objstore.ID]bool{}
	for _, class := range []string{refs.Sessions, refs.Cursors} {
		all, err := e.refs.List(class)
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			tips[r.ID] = true
		}
	}
	return tips, nil
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
	cursor, err := e.cursor()
	if err != nil {
		return Listed{}, err
	}
	notes, err := e.messagesOn(cp.ID)
	if err != nil {
		return Listed{}, err
	}
	short, err := e.objs.ShortID(objstore.Checkpoint, cp.ID)
	l := Listed{Checkpoint: cp, Short: short, Current: cp.ID == cursor, Tags: tags[cp.ID], Notes: notes, Safety: cp.Cause.Event == EventSafety}
	return l, err
}

// Shown is a checkpoint with all that belongs to it.
type Shown struct {
	Listed
	Changes []tree.Change // against the first parent, limited to the paths asked for
	Skips   []tree.Skip
	Secrets map[string]bool   // secret files of Skips that changed since the first parent
	Gone    map[string]string // files of Changes of which a content is gone, and the word for it
	Leaks   []Leak            // files of the checkpoint that look like they hold a secret
}

// Show returns a checkpoint, what it changed and what it skipped.
func (e *Engine) Show(_ context.Context, name string, paths []string) (*Shown, error) {
	cp, err := e.Resolve(name)
	if err != nil {
		return nil, err
	}
	s := &Shown{Gone: map[string]string{}}
	if s.Listed, err = e.Listing(cp); err != nil {
		return nil, err
	}
	if s.Skips, err = e.note(cp); err != nil {
		return nil, err
	}
	from, err := e.before(cp)
	if err != nil {
		return nil, err
	}
	if len(cp.Parents) > 0 {
		parent, err := e.checkpoint(cp.Parents[0])
		if err != nil {
			return nil, err
		}
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
	s.Leaks, _ = e.leaksIn(cp.Tree, only) // hints, as of Status
	err = tree.Diff(e.objs, from, cp.Tree, func(ch tree.Change) error {
		if !only.has(ch.Path) {
			return nil
		}
		s.Changes = append(s.Changes, ch)
		why, err := e.goneChange(ch)
		if why != "" {
			s.Gone[ch.Path] = why
		}
		return err
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
