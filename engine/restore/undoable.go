package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// undoRequest is the request that takes op back, to the state before it.
func undoRequest(op *refs.Operation, before *model.Checkpoint, o Options) *request {
	o.Paths, o.ContextOnly = op.Restore.Paths, o.ContextOnly || op.Restore.ContextOnly
	r := o.newRequest(refs.KindUndoRestore, op.Session)
	r.setTarget(before)
	r.Undoes, r.keepCursor, r.reverts = op.Seq, true, op
	return r
}

// since is the newest operation that was done before this worktree was made of another project, which undoes it; 0:
// none.
func (rs *undoer) since() uint64 {
	if of := rs.log.Project.From; of != nil {
		return of.Since
	}
	return 0
}

// operationToRevert is the operation that UndoRestore of seq reverts. One that was taken back already is no such one,
// but for its conversation.
func (rs *undoer) operationToRevert(seq uint64, contextOnly bool) (found *refs.Operation, err error) {
	var by uint64
	err = rs.history.Restores(func(op *refs.Operation, is uint64) error {
		switch {
		case op.Seq < seq, seq == 0 && op.Seq <= rs.since():
			return kv.ErrStop
		case seq > 0 && op.Seq > seq, seq == 0 && !isNewestToRevert(op, is):
			return nil
		}
		found, by = op, is
		return kv.ErrStop
	})
	switch {
	case err != nil:
	case found == nil && seq == 0:
		err = rs.noneToRevert()
	case found == nil:
		found, err = rs.log.Refs.Operation(seq)
	}
	if err == nil {
		err = rs.whyNotUndo(found, by, contextOnly)
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// noneToRevert says that no restore is left to be taken back, and which one took back the last.
func (rs *undoer) noneToRevert() error {
	var back uint64
	err := rs.history.Restores(func(op *refs.Operation, by uint64) error {
		if op.Seq <= rs.since() || by == 0 && op.Kind.Undoes() {
			back = op.Seq
			return kv.ErrStop
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case back <= rs.since():
		return fmt.Errorf("undo-restore: %w", model.ErrNoRestore)
	}
	const again = "which took one back: 'rewind undo-restore %[2]d' brings that again"
	return fmt.Errorf("undo-restore: %w but operation %d, "+again, model.ErrNoRestore, back)
}

// isNewestToRevert reports whether an operation can be the one that is meant where none is named; by: what took it
// back.
func isNewestToRevert(op *refs.Operation, by uint64) bool {
	restores := op.Restore != nil && op.Kind.CanUndo() && !op.Kind.Undoes()
	return restores && by == 0
}

// whyNotUndo is what the log says against taking op back, which by has taken back already; 0: it is in effect. nil:
// nothing.
func (rs *undoer) whyNotUndo(op *refs.Operation, by uint64, contextOnly bool) error {
	switch {
	case op.Seq <= rs.since():
		return model.UndoError(op.Seq, model.Usagef("it was done in %s, before this worktree was made: undo it there",
			rs.log.Project.From.Roots[0]))
	case op.Kind == refs.KindPurge:
		return model.UndoError(op.Seq, model.Usagef("operation %d is a purge, which cannot be undone", op.Seq))
	case op.Kind.CanUndo() && op.Thinned:
		return model.UndoError(op.Seq, fmt.Errorf("%w: gc has removed the state before it", model.ErrNotFound))
	case !op.Kind.CanUndo() || op.Restore == nil:
		return model.UndoError(op.Seq, model.Usagef("operation %d is %s, not a restore", op.Seq, op.Kind))
	case by > 0 && (!contextOnly || op.Kind.Manages()):
		return model.UndoError(op.Seq, model.Usagef("operation %d took it back already: 'rewind undo-restore %d' brings it again", by, by))
	}
	return nil
}

// Undoable says of each operation of a list whether UndoRestore of it would take it back as things are: what it needs
// is there. What only the worktree's present files are against is not looked at.
func (rs *undoer) Undoable(ctx context.Context, list []history.Operation, env value.AgentEnv) ([]bool, error) {
	can, files, err := rs.undoable(ctx, list)
	if err != nil || len(files) == 0 {
		return can, err
	}
	defer rs.log.Hold()()
	return can, rs.withFiles(ctx, can, files, list, env)
}

// CanUndo is Undoable of the newest operation, which nothing has taken back. The log's lock is held.
func (rs *undoer) CanUndo(ctx context.Context, newest *refs.Operation, env value.AgentEnv) bool {
	list := []history.Operation{{Operation: *newest}}
	can, files, err := rs.undoable(ctx, list)
	if err == nil && len(files) > 0 {
		err = rs.withFiles(ctx, can, files, list, env)
	}
	return err == nil && can[0]
}

// undoable is Undoable without a look at session files; files are the operations that are to be asked about theirs.
func (rs *undoer) undoable(ctx context.Context, list []history.Operation) (can []bool, files []int, err error) {
	can = make([]bool, len(list))
	if rs.log.Damage() != nil {
		return can, nil, nil
	}
	if j, err := rs.log.ReadJournal(); err != nil || j != nil {
		return can, nil, err
	}
	lost := map[objstore.ID][]string{}
	for i := range list {
		op := &list[i].Operation
		if rs.whyNotUndo(op, list[i].Undone, false) != nil {
			continue
		}
		paths, err := rs.lostBefore(op, lost)
		if err != nil {
			if ctx.Err() == nil && model.IsLost(err) {
				continue
			}
			return can, nil, cmp.Or(ctx.Err(), err)
		}
		if op.Kind.Manages() || op.Restore.ContextOnly {
			can[i], files = true, append(files, i)
			continue
		}
		set := op.Restore.Paths
		can[i] = !slices.ContainsFunc(paths, func(p string) bool { return p == "" || set.Has(p) || set.HasBelow(p) })
	}
	return can, files, nil
}

// lostBefore is what is lost of the state before a restore; of trees that were asked about lost has it.
func (rs *undoer) lostBefore(op *refs.Operation, lost map[objstore.ID][]string) ([]string, error) {
	before, err := rs.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return nil, err
	}
	paths, known := lost[before.Tree]
	if !known {
		if paths, _, err = rs.log.LostIn(before); err == nil {
			lost[before.Tree] = paths
		}
	}
	return paths, err
}

// withFiles completes what undoable said of operations that are of use with their session files alone. The log's lock
// is held.
func (rs *undoer) withFiles(
	ctx context.Context, can []bool, files []int, list []history.Operation, env value.AgentEnv,
) error {
	if err := rs.conversations.ReadySessions(); err != nil {
		for _, i := range files {
			can[i] = false
		}
		return err
	}
	for _, i := range files {
		can[i] = rs.filesUndoable(ctx, &list[i].Operation, env) == nil
	}
	return nil
}

// filesUndoable is why the session files that an operation changed cannot be taken back.
func (rs *undoer) filesUndoable(ctx context.Context, op *refs.Operation, env value.AgentEnv) error {
	if op.Kind.Manages() {
		p, err := rs.manager.PlanUndo(op, manage.Request{Env: env})
		if err != nil {
			return err
		}
		return p.Decide(ctx, nil)
	}
	before, err := rs.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return err
	}
	_, err = rs.PlanConversation(undoRequest(op, before, Options{Env: env}), nil)
	return err
}
