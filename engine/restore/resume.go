package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/internal/worktreefs"
	"rewind/refs"
	"rewind/tree"
)

// Continue finishes an unfinished restore; model.ErrNotHalfDone when there is none.
func (rs *runner) Continue(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, false, false)
}

// Abort takes an unfinished restore back; model.ErrNotHalfDone when there is none.
func (rs *runner) Abort(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, true, false)
}

// ContinueCode is Continue, but changes no session file.
func (rs *runner) ContinueCode(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, false, true)
}

// AbortCode is Abort, but changes no session file.
func (rs *runner) AbortCode(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, true, true)
}

// resume carries the stored journal on, or with back takes it back; with codeOnly without its session files.
func (rs *runner) resume(ctx context.Context, env value.AgentEnv, back, codeOnly bool) (*Result, error) {
	defer rs.log.Hold()()
	j, err := rs.halfDone(env, codeOnly)
	if err != nil {
		return nil, err
	}
	defer rs.worktree.Restoring(j.Kind.String(), model.AskerOf(ctx).Process)()
	if err := j.Foreign(); err != nil {
		return nil, err
	}
	root, err := rs.HoldRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	res, err := rs.halfResult(j)
	if err != nil {
		return nil, err
	}
	if back {
		res.Plan.Steps = tree.Reverse(j.Steps)
		if err := rs.abort(ctx, root, j, res); err != nil {
			return res, err
		}
		if !j.Kind.Manages() {
			rs.notifyAgents(ctx, env, &model.Journal{Moved: j.Moved}, res.changedFiles(), res.Conversation)
		}
		return res, nil
	}
	if res.AtWork, err = rs.sessions.Underfoot(cmp.Or(j.Goes, j.Session), j.Made.From(), j.Steps); err != nil {
		return nil, err
	}
	if err := rs.applyAndRecord(ctx, root, j, res); err != nil {
		return nil, err
	}
	if then, err := rs.log.Note(res.Plan.Target); err == nil && !j.ContextOnly {
		// the restore is done: an error here is not one of it
		res.Plan.Missing, _ = capture.Missing(root, then, nil, j.Paths)
	}
	if j.Kind.Manages() {
		res.Managed = j.Managed
		if why := rs.manager.TellTitles(ctx, env, j.Managed); why != "" {
			rs.log.Notice(why)
		}
		return res, nil
	}
	rs.notifyAgents(ctx, env, j, res.changedFiles(), res.Conversation)
	res.adoptPerms()
	return res, nil
}

// halfDone is the journal of what was not finished; codeOnly: without what it has of conversations.
func (rs *runner) halfDone(env value.AgentEnv, codeOnly bool) (*model.Journal, error) {
	j, err := rs.log.ReadJournal()
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, model.ErrNotHalfDone
	}
	j.NeedsConversation = j.ContextOnly || j.Moved != nil && j.Kind != refs.KindUndoRestore
	j.Folders = register.Folders(env)
	if codeOnly {
		j.KeptFiles = conversation.LeftAlone(rs.log.Objs, j)
		j.Files, j.Made, j.Moved = nil, nil, nil
		j.Goes, err = rs.sessions.Ongoing(j.Session)
	}
	return j, err
}

// halfResult is what is known of the result of what was not finished. The records of sessions are loaded.
func (rs *runner) halfResult(j *model.Journal) (*Result, error) {
	target, err := rs.log.Checkpoint(j.Target)
	if err != nil {
		return nil, err
	}
	safety, err := rs.log.Checkpoint(j.Safety)
	if err != nil {
		return nil, err
	}
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	res := &Result{
		Plan:   &Plan{Target: target, Scope: j.Scope, Steps: j.Steps},
		Safety: safety, Conversation: Conversation(j),
	}
	if t := res.Conversation; t != nil && t.Mode == model.ConversationInPlace {
		t.Version = rs.isOtherVersion(j.Files)
	}
	return res, nil
}

// TakenBackError says that a restore failed and that the worktree is again as it was before, but for Conflicts: paths
// that somebody else changed meanwhile.
type TakenBackError struct {
	Cause     error
	Conflicts []value.Conflict
}

func (e *TakenBackError) Error() string { return e.Cause.Error() + "; nothing was changed" }

// Unwrap is the cause.
func (e *TakenBackError) Unwrap() error { return e.Cause }

// takeBack takes back what a failed restore has done, and returns a *TakenBackError with its cause. If that fails too
// the journal stays, for Continue and Abort, and the error is a *model.HalfDoneError.
func (rs *runner) takeBack(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result, cause error) error {
	if err := rs.abort(context.WithoutCancel(ctx), root, j, res); err != nil {
		return errors.Join(&model.HalfDoneError{Target: j.Target}, cause, err)
	}
	return &TakenBackError{Cause: cause, Conflicts: res.Conflicts}
}

// abort carries out the journal's steps backwards, sets its session files back and records the operation.
func (rs *runner) abort(ctx context.Context, root worktreefs.Dir, j *model.Journal, res *Result) error {
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
