package restore

import (
	"context"
	"errors"
	"fmt"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/refs"
	"rewind/tree"
)

// TakenBackError says that a restore failed and that the worktree is again as it was before, but for Conflicts: paths
// that somebody else changed meanwhile.
type TakenBackError struct {
	Cause     error
	Conflicts []value.Conflict
}

func (e *TakenBackError) Error() string { return e.Cause.Error() + "; nothing was changed" }

// Unwrap is the cause.
func (e *TakenBackError) Unwrap() error { return e.Cause }

// takeBack takes back what a failed restore has done, and returns a *TakenBackError with its cause. If that fails too the journal stays,
// for Continue and Abort, and the error is a *model.HalfDoneError.
func (rs *Restorer) takeBack(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result, cause error) error {
	if err := rs.abort(context.WithoutCancel(ctx), root, j, res); err != nil {
		return errors.Join(&model.HalfDoneError{Target: j.Target}, cause, err)
	}
	return &TakenBackError{Cause: cause, Conflicts: res.Conflicts}
}

// abort carries out the journal's steps backwards, sets its session files back and records the operation.
func (rs *Restorer) abort(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result) error {
	if err := rs.Apply(withTakeBackPhase(ctx), root, j, tree.Reverse(j.Steps), res); err != nil {
		return err
	}
	kept, err := conversation.SetSessions(rs.log.Objs, j.Folders, conversation.ReverseFiles(j.Files), true)
	if err != nil {
		return err
	}
	for _, path := range kept {
		rs.log.Notice(fmt.Sprintf("the session file %s is left as it is: %v", path, conversation.ErrSessionChanged))
	}
	op := refs.Operation{
		Kind: refs.KindAbort, Session: j.Session,
		Restore: &refs.Restore{Target: j.Target, Safety: j.Safety, Changed: res.Changed, Kept: len(res.Conflicts), Files: j.KeptFiles},
	}
	return rs.syncAndFinish(ctx, root, op, j, res)
}
