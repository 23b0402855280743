package engine

import (
	"context"
	"errors"
	"fmt"

	"rewind/internal/worktreefs"
	"rewind/refs"
	"rewind/tree"
	"rewind/tree/apply"
)

// TakenBackError says that a restore failed and that the worktree is again as it was before, but for Conflicts: paths
// that somebody else changed meanwhile.
type TakenBackError struct {
	Cause     error
	Conflicts []apply.Conflict
}

func (e *TakenBackError) Error() string { return e.Cause.Error() + "; nothing was changed" }

// Unwrap is the cause.
func (e *TakenBackError) Unwrap() error { return e.Cause }

// takeBack undoes what a failed restore did so far. When that fails too the journal stays, for Continue and Abort.
func (e *Engine) takeBack(ctx context.Context, root worktreefs.Dir, j *journal, res *RestoreResult, cause error) error {
	if err := e.abort(context.WithoutCancel(ctx), root, j, res); err != nil {
		return errors.Join(&HalfDoneError{Target: j.Target}, cause, err)
	}
	return &TakenBackError{Cause: cause, Conflicts: res.Conflicts}
}

func (e *Engine) abort(ctx context.Context, root worktreefs.Dir, j *journal, res *RestoreResult) error {
	if err := e.apply(ctx, root, j, tree.Reverse(j.Steps), res); err != nil {
		return err
	}
	kept, err := e.setSessions(j.own, reverseFiles(j.Files), true)
	if err != nil {
		return err
	}
	for _, path := range kept {
		e.Notice(fmt.Sprintf("the session file %s is left as it is: %v", path, errSessionChanged))
	}
	op := refs.Operation{Kind: refs.KindAbort, Session: j.Session, Restore: &refs.Restore{Target: j.Target, Safety: j.Safety, Changed: res.Changed, Kept: len(res.Conflicts), Files: j.left}}
	return e.end(ctx, root, op, j, res)
}
