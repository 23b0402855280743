package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// RestoreResult is what a restore did, or with a dry run would do.
type RestoreResult struct {
	Plan      *Plan
	Operation *refs.Operation // nil: a dry run, or nothing to do
	Safety    *Checkpoint     // the state before; nil as above
	Saved     *Checkpoint     // unsaved changes that an undo made a step of their own
	Changed   int             // paths changed
	Conflicts []tree.Conflict // paths that changed while the restore ran; left as they are
	KeptDirs  []string        // directories that could not go because something is in them
}

// RestoreOptions are common to all restores.
type RestoreOptions struct {
	Paths    []string // relative to the project's root; empty: the whole tree
	Exact    bool     // take paths that no checkpoint holds, too
	DryRun   bool
	Progress Progress
}

// restore is one request, resolved.
type restore struct {
	kind   refs.Kind
	target *Checkpoint
	opt    planOptions
	undoes uint64
	before objstore.ID // the cursor
	after  objstore.ID // where the cursor goes
	dryRun bool
}

// Checkout sets the worktree to a checkpoint; the cursor follows unless it is limited to paths. The outcomes: done;
// done but for Kept and Conflicts; refused with the tree untouched (*UnsavedError, *PathError, kv.ErrNoSpace, ...);
// taken back after a failure (the error says so); half done (*HalfDoneError), when it could not be taken back.
func (e *Engine) Checkout(ctx context.Context, name string, o RestoreOptions) (*RestoreResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	target, err := e.Resolve(name)
	if err != nil {
		return nil, err
	}
	paths, err := newPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if _, err := e.lookup(target, p); err != nil {
			return nil, err
		}
	}
	r := restore{kind: refs.KindCheckout, target: target, opt: planOptions{paths: paths, exact: o.Exact}, dryRun: o.DryRun}
	if r.before, err = e.refs.ID(refs.Cursor(Manual)); err != nil {
		return nil, err
	}
	r.after = target.ID
	if len(paths) > 0 {
		r.after = r.before
	}
	return e.run(ctx, r, o.Progress)
}

// run carries one restore through: plan, safety checkpoint and journal, apply, record.
func (e *Engine) run(ctx context.Context, r restore, p Progress) (*RestoreResult, error) {
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	plan, c, err := e.plan(ctx, root, r.target, r.opt, p)
	if err != nil {
		return nil, err
	}
	res := &RestoreResult{Plan: plan, Changed: len(plan.Steps)}
	if r.dryRun {
		c.tx.Discard()
		return res, nil
	}
	if len(plan.Steps) == 0 && r.before == r.after {
		if err := c.flushCache(); err != nil {
			c.tx.Discard()
			return nil, err
		}
		return res, c.tx.Commit(ctx, kv.Written)
	}
	j := &journal{
		Kind: r.kind, Target: r.target.ID, Paths: plan.Paths, Exact: plan.Exact, Undoes: r.undoes,
		Before: r.before, After: r.after, Stage: newStageName(), Kept: len(plan.Kept), Steps: plan.Steps,
	}
	if res.Safety, err = e.safety(ctx, c, j); err != nil {
		return nil, err
	}
	if err := e.carryOut(ctx, root, j, res); err != nil {
		return nil, e.takeBack(ctx, root, j, err)
	}
	return res, nil
}

func newStageName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return hex.EncodeToString(b[:])
}

// safety makes the captured state a checkpoint on no branch, in one durable batch with the journal. From here on the
// restore is finished or taken back, by whichever process comes next.
func (e *Engine) safety(ctx context.Context, c *capture, j *journal) (*Checkpoint, error) {
	cp, err := e.safetyCheckpoint(ctx, c, j)
	if err != nil {
		c.tx.Discard()
	}
	return cp, err
}

func (e *Engine) safetyCheckpoint(ctx context.Context, c *capture, j *journal) (*Checkpoint, error) {
	cur, err := e.current()
	if err != nil {
		return nil, err
	}
	cp, err := e.newCheckpoint(c, cur, Cause{Event: EventSafety, Message: "before " + j.Kind.String()})
	if err != nil {
		return nil, err
	}
	if err := c.flushCache(); err != nil {
		return nil, err
	}
	_, err = e.refs.Commit(ctx, c.tx, kv.Durable, func(seq uint64) (refs.Operation, []refs.Update, error) {
		op := refs.Operation{Time: cp.Time.UnixMilli(), Kind: refs.KindSafety, Session: Manual}
		if err := e.putCheckpoint(c.tx, cp, seq); err != nil {
			return op, nil, err
		}
		op.Checkpoint, j.Safety = cp.ID, cp.ID
		return op, nil, c.tx.Batch().Set(journalKey, j.encode())
	})
	return cp, err
}

// carryOut applies the journal's steps and records the operation.
func (e *Engine) carryOut(ctx context.Context, root worktreefs.Dir, j *journal, res *RestoreResult) error {
	if err := e.apply(ctx, root, j.Stage, j.Steps, res); err != nil {
		return err
	}
	op := refs.Operation{Kind: j.Kind, Session: Manual, Restore: &refs.Restore{
		Target: j.Target, Safety: j.Safety, Paths: j.Paths, Exact: j.Exact, Undoes: j.Undoes,
		Changed: res.Changed, Kept: j.Kept + len(res.Conflicts),
	}}
	return e.finish(ctx, op, j, res)
}

// apply carries out steps. The stage is on the worktree's file system and out of every capture; it stays only where it
// holds the bytes of a racing edit.
func (e *Engine) apply(ctx context.Context, root worktreefs.Dir, op string, steps []tree.Step, res *RestoreResult) error {
	if err := writeMarker(e.project.Root, e.project.ID); err != nil {
		return err // it may be what somebody just removed
	}
	path := markerDir + "/" + markerStage + "/" + op
	stage, err := tree.OpenStage(root, path)
	if err != nil {
		return fmt.Errorf("engine: restore %s: %w", e.project.Root, err)
	}
	defer stage.Close()
	done, err := tree.Apply(ctx, tree.ApplyOptions{
		Root: root, Stage: stage, Op: op, Steps: steps,
		Open: func(id objstore.ID) (io.ReadCloser, error) { return e.objs.Open(id) },
	})
	if err != nil {
		return fmt.Errorf("engine: restore %s: %w", e.project.Root, err)
	}
	if err := tree.RemoveStage(root, path); err != nil && !errors.Is(err, worktreefs.ErrNotEmpty) {
		return fmt.Errorf("engine: restore %s: %w", e.project.Root, err)
	}
	res.Changed, res.Conflicts, res.KeptDirs = done.Done, done.Conflicts, done.KeptDirs
	return nil
}

// finish records the operation and deletes the journal, in one durable batch.
func (e *Engine) finish(ctx context.Context, op refs.Operation, j *journal, res *RestoreResult) error {
	var updates []refs.Update
	if op.Kind == j.Kind && j.Before != j.After {
		updates = []refs.Update{{Name: refs.Cursor(Manual), Old: j.Before, New: j.After}}
		op.Changes = []refs.Change{{Name: refs.Cursor(Manual), Old: j.Before, New: j.After}}
	}
	op.Time = e.now().UnixMilli()
	tx := e.objs.Begin()
	// The worktree is as the operation says by now: an interrupt must not keep the log from saying so.
	done, err := e.refs.Commit(context.WithoutCancel(ctx), tx, kv.Durable, func(uint64) (refs.Operation, []refs.Update, error) {
		return op, updates, tx.Batch().Delete(journalKey)
	})
	if err != nil {
		tx.Discard()
		return err
	}
	res.Operation = done
	return nil
}

// TakenBackError says that a restore failed and that the worktree is again as it was before.
type TakenBackError struct{ Cause error }

func (e *TakenBackError) Error() string { return e.Cause.Error() + "; nothing was changed" }

// Unwrap is the cause.
func (e *TakenBackError) Unwrap() error { return e.Cause }

// takeBack undoes what a failed restore did so far. When that fails too the journal stays, for Continue and Abort.
func (e *Engine) takeBack(ctx context.Context, root worktreefs.Dir, j *journal, cause error) error {
	res := &RestoreResult{}
	if err := e.abort(context.WithoutCancel(ctx), root, j, res); err != nil {
		return errors.Join(&HalfDoneError{Target: j.Target}, cause, err)
	}
	return &TakenBackError{Cause: cause}
}

func (e *Engine) abort(ctx context.Context, root worktreefs.Dir, j *journal, res *RestoreResult) error {
	if err := e.apply(ctx, root, j.Stage, tree.Reverse(j.Steps), res); err != nil {
		return err
	}
	op := refs.Operation{Kind: refs.KindAbort, Session: Manual, Restore: &refs.Restore{Target: j.Target, Safety: j.Safety, Changed: res.Changed, Kept: len(res.Conflicts)}}
	return e.finish(ctx, op, j, res)
}

// Continue finishes an unfinished restore; ErrNotHalfDone when there is none.
func (e *Engine) Continue(ctx context.Context) (*RestoreResult, error) {
	return e.resume(ctx, e.carryOut)
}

// Abort takes an unfinished restore back; ErrNotHalfDone when there is none.
func (e *Engine) Abort(ctx context.Context) (*RestoreResult, error) {
	return e.resume(ctx, e.abort)
}

func (e *Engine) resume(ctx context.Context, end func(context.Context, worktreefs.Dir, *journal, *RestoreResult) error) (*RestoreResult, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	j, err := e.readJournal()
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, fmt.Errorf("engine: checkout: %w", ErrNotHalfDone)
	}
	root, err := e.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	target, err := e.checkpoint(j.Target)
	if err != nil {
		return nil, err
	}
	safety, err := e.checkpoint(j.Safety)
	if err != nil {
		return nil, err
	}
	res := &RestoreResult{Plan: &Plan{Target: target, Paths: j.Paths, Exact: j.Exact, Steps: j.Steps}, Safety: safety}
	return res, end(ctx, root, j, res)
}
