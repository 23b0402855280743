package bisect

import (
	"context"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/refs"
)

// A point is a state on the line. It is kept in files.
type point struct {
	Checkpoint objstore.ID `json:"checkpoint"`
	Tree       objstore.ID `json:"tree"`
	As         Verdict     `json:"as,omitempty"`
}

// walker goes back through the states of the worktree.
type walker struct {
	ctx  context.Context //nolint:containedctx // of one request, which makes it
	b    *Bisector
	read func(objstore.ID) (*model.Checkpoint, error)
	// by tree, the checkpoints that have it, the newest first; nil: not read yet
	byTree map[objstore.ID][]*model.Checkpoint
}

func (b *Bisector) walker(ctx context.Context) *walker {
	return &walker{ctx: ctx, b: b, read: b.log.Checkpoints()}
}

// before is the state that the worktree had before cp was made; nil: none. That is its parent's or, where another
// session's step or gc's merging lies between, that of the newest older checkpoint which has the tree that cp was made
// from.
func (w *walker) before(cp *model.Checkpoint) (*model.Checkpoint, error) {
	if !cp.Base.IsZero() {
		if err := w.index(); err != nil {
			return nil, err
		}
		for _, old := range w.byTree[cp.Base] {
			if older(old, cp) {
				return old, nil
			}
		}
	}
	if len(cp.Parents) == 0 {
		return nil, nil
	}
	return w.read(cp.Parents[0])
}

// older reports whether a checkpoint is older than another one. What no operation names has the place of the state that
// it was made from.
func older(old, cp *model.Checkpoint) bool {
	if old.Seq == cp.Seq && old.ID != cp.ID {
		return cp.Cause.Event == model.EventSafety
	}
	return old.Seq < cp.Seq
}

func (w *walker) index() error {
	if w.byTree != nil {
		return nil
	}
	w.byTree = map[objstore.ID][]*model.Checkpoint{}
	return w.b.log.Made(func(op *refs.Operation) error {
		cp, err := w.read(op.Checkpoint)
		if err == nil {
			w.byTree[cp.Tree] = append(w.byTree[cp.Tree], cp)
		}
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		return err
	})
}

// back calls fn for a checkpoint and each state before it, until that ends or fn says so.
func (w *walker) back(cp *model.Checkpoint, fn func(*model.Checkpoint) (more bool)) error {
	for cp != nil && fn(cp) {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		was, err := w.before(cp)
		if err != nil {
			return err
		}
		if was != nil && !older(was, cp) {
			return nil // no way back leads forward: a record that somebody made
		}
		cp = was
	}
	return nil
}

// line is the way back from a checkpoint, the newest first, to the state end or, if that is zero, to the first one. A
// checkpoint that changed nothing is no point of its own: the oldest that has its state is.
func (w *walker) line(tip *model.Checkpoint, end objstore.ID) (line []point, err error) {
	err = w.back(tip, func(cp *model.Checkpoint) bool {
		p := point{Checkpoint: cp.ID, Tree: cp.Tree}
		if n := len(line); n > 0 && line[n-1].Tree == cp.Tree {
			line[n-1] = p
		} else {
			line = append(line, p)
		}
		return cp.ID != end
	})
	return line, err
}

// meets is the newest state on the way back from cp that is on the line, by its position; -1: none is.
func (w *walker) meets(cp *model.Checkpoint, line []point) (at int, err error) {
	byTree := make(map[objstore.ID]int, len(line))
	for i := len(line) - 1; i >= 0; i-- {
		byTree[line[i].Tree] = i
	}
	at = -1
	err = w.back(cp, func(cp *model.Checkpoint) bool {
		if i, on := byTree[cp.Tree]; on {
			at = i
		}
		return at < 0
	})
	return at, err
}
