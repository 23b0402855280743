package engine

import (
	"context"
	"fmt"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Undo goes n steps back along the manual branch, over steps with equal trees at once. Unsaved changes are a step:
// they are saved as one first, so that Redo brings them back. ErrNotFound when fewer than n steps lie before.
func (e *Engine) Undo(ctx context.Context, n int, o RestoreOptions) (*RestoreResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	cur, err := e.current()
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, fmt.Errorf("engine: undo: %w: no checkpoint yet", ErrNotFound)
	}
	dirty, c, err := e.unsaved(ctx, cur, o.Progress)
	if err != nil {
		return nil, err
	}
	back := n
	if dirty {
		back-- // the unsaved changes are the first step
	}
	target, err := e.back(cur, back)
	if err != nil || o.DryRun || !dirty {
		c.tx.Discard()
	}
	if err != nil {
		return nil, err
	}
	var saved *Checkpoint
	if dirty && !o.DryRun {
		if err := c.flushCache(); err != nil {
			c.tx.Discard()
			return nil, err
		}
		if saved, err = e.commitStep(ctx, c, cur, Cause{Event: EventUndo, Message: "unsaved changes before undo"}); err != nil {
			return nil, err
		}
		cur = saved
	}
	r := restore{kind: refs.KindUndo, target: target, opt: planOptions{exact: o.Exact}, before: cur.ID, after: target.ID, dryRun: o.DryRun}
	res, err := e.run(ctx, r, o.Progress)
	if res != nil && saved != nil {
		res.Saved = saved
		res.Plan.Replaced = nil // a step has their bytes
	}
	return res, err
}

// unsaved captures the worktree and compares it with cp. The caller commits or discards the capture.
func (e *Engine) unsaved(ctx context.Context, cp *Checkpoint, p Progress) (bool, *capture, error) {
	root, err := e.root()
	if err != nil {
		return false, nil, err
	}
	defer root.Close()
	c, err := e.capture(ctx, root, cp.Tree, nil, p)
	if err != nil {
		return false, nil, err
	}
	pl := &planner{e: e}
	if err := pl.baseline(); err != nil {
		c.tx.Discard()
		return false, nil, err
	}
	dirty, err := pl.dirty(c, cp)
	if err != nil {
		c.tx.Discard()
	}
	return dirty, c, err
}

// back walks n steps along first parents; steps with equal trees count once.
func (e *Engine) back(cp *Checkpoint, n int) (*Checkpoint, error) {
	for i := range n {
		prev := cp.Tree
		for cp.Tree == prev {
			if len(cp.Parents) == 0 {
				return nil, fmt.Errorf("engine: undo: %w: only %d earlier steps", ErrNotFound, i)
			}
			var err error
			if cp, err = e.checkpoint(cp.Parents[0]); err != nil {
				return nil, err
			}
		}
	}
	return cp, nil
}

// Redo goes n steps forward again, towards the tip of the manual branch; ErrNotFound when fewer than n lie ahead.
func (e *Engine) Redo(ctx context.Context, n int, o RestoreOptions) (*RestoreResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	cursor, err := e.refs.ID(refs.Cursor(Manual))
	if err != nil {
		return nil, err
	}
	ahead, err := e.ahead(cursor)
	if err != nil {
		return nil, err
	}
	if len(ahead) < n {
		return nil, fmt.Errorf("engine: redo: %w: %d steps lie ahead", ErrNotFound, len(ahead))
	}
	target := ahead[n-1]
	r := restore{kind: refs.KindRedo, target: target, opt: planOptions{exact: o.Exact}, before: cursor, after: target.ID, dryRun: o.DryRun}
	return e.run(ctx, r, o.Progress)
}

// ahead lists the steps from the cursor to the tip, nearest first; of a run of equal trees only the last. Empty when
// the cursor is the tip or lies on another line.
func (e *Engine) ahead(cursor objstore.ID) ([]*Checkpoint, error) {
	tip, err := e.refs.ID(refs.Session(Manual))
	if err != nil || tip == cursor {
		return nil, err
	}
	var line []*Checkpoint // tip first
	for id := tip; id != cursor; {
		cp, err := e.checkpoint(id)
		if err != nil {
			return nil, err
		}
		line = append(line, cp)
		if len(cp.Parents) == 0 {
			return nil, nil
		}
		id = cp.Parents[0]
	}
	at, err := e.checkpoint(cursor)
	if err != nil {
		return nil, err
	}
	var ahead []*Checkpoint
	for i := len(line) - 1; i >= 0; i-- {
		switch n := len(ahead); {
		case n > 0 && ahead[n-1].Tree == line[i].Tree:
			ahead[n-1] = line[i]
		case n == 0 && line[i].Tree == at.Tree && i > 0:
		default:
			ahead = append(ahead, line[i])
		}
	}
	return ahead, nil
}

// UndoRestore reverts a restore: the worktree becomes what it was before it, with the files that no checkpoint holds
// kept. seq 0 stands for the newest restore that is in effect and no undo-restore itself, so that repeating it goes
// deeper; an undo-restore is reverted by its number.
func (e *Engine) UndoRestore(ctx context.Context, seq uint64, o RestoreOptions) (*RestoreResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	op, err := e.restoreOperation(seq)
	if err != nil {
		return nil, err
	}
	target, err := e.checkpoint(op.Restore.Safety)
	if err != nil {
		return nil, err
	}
	r := restore{
		kind: refs.KindUndoRestore, target: target, opt: planOptions{paths: op.Restore.Paths, exact: o.Exact},
		undoes: op.Seq, dryRun: o.DryRun,
	}
	if r.before, err = e.refs.ID(refs.Cursor(Manual)); err != nil {
		return nil, err
	}
	r.after = r.before
	for _, c := range op.Changes {
		if c.Name == refs.Cursor(Manual) {
			r.after = c.Old
		}
	}
	return e.run(ctx, r, o.Progress)
}

func (e *Engine) restoreOperation(seq uint64) (*refs.Operation, error) {
	if seq > 0 {
		op, err := e.refs.Operation(seq)
		if err != nil {
			return nil, err
		}
		if !op.Kind.IsRestore() || op.Restore == nil {
			return nil, fmt.Errorf("engine: undo-restore %d: %w: operation %d is %s, not a restore", seq, ErrUsage, seq, op.Kind)
		}
		return op, nil
	}
	reverted := map[uint64]bool{}
	var found *refs.Operation
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case !op.Kind.IsRestore() || op.Restore == nil || reverted[op.Seq]:
		case op.Kind == refs.KindUndoRestore:
			reverted[op.Restore.Undoes] = true
		default:
			found = op
			return kv.ErrStop
		}
		return nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("engine: undo-restore: %w: no restore is left to revert", ErrNotFound)
	}
	return found, err
}
