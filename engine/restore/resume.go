package restore

import (
	"cmp"
	"context"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// Continue finishes an unfinished restore; model.ErrNotHalfDone when there is none.
func (rs *Restorer) Continue(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, false, false)
}

// Abort takes an unfinished restore back; model.ErrNotHalfDone when there is none.
func (rs *Restorer) Abort(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, true, false)
}

// ContinueCode is Continue, but changes no session file.
func (rs *Restorer) ContinueCode(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, false, true)
}

// AbortCode is Abort, but changes no session file.
func (rs *Restorer) AbortCode(ctx context.Context, env value.AgentEnv) (*Result, error) {
	return rs.resume(ctx, env, true, true)
}

// resume carries the stored journal on, or with back takes it back; with codeOnly without its session files.
func (rs *Restorer) resume(ctx context.Context, env value.AgentEnv, back, codeOnly bool) (*Result, error) {
	defer rs.log.Hold()()
	j, err := rs.log.ReadJournal()
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, model.ErrNotHalfDone
	}
	defer rs.worktree.Restoring(j.Kind.String(), model.AskerOf(ctx).Process)()
	j.NeedsConversation = j.ContextOnly || j.Moved != nil && j.Kind != refs.KindUndoRestore
	if j.Folders = register.Folders(env); codeOnly {
		j.KeptFiles = conversation.LeftAlone(rs.log.Objs, j)
		j.Files, j.Made, j.Moved = nil, nil, nil
		if j.Goes, err = rs.ongoingSession(j.Session); err != nil {
			return nil, err
		}
	}
	if err := j.Foreign(); err != nil {
		return nil, err
	}
	root, err := rs.HoldRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
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
	res := &Result{Plan: &Plan{Target: target, Scope: j.Scope, Steps: j.Steps}, Safety: safety, Conversation: Conversation(j)}
	if !back {
		if res.AtWork, err = rs.sessions.Underfoot(cmp.Or(j.Goes, j.Session), j.Made.From(), j.Steps); err != nil {
			return nil, err
		}
	}
	if back {
		res.Plan.Steps = tree.Reverse(j.Steps)
		if err := rs.abort(ctx, root, j, res); err != nil {
			return res, err
		}
		if j.Kind.Manages() {
			return res, nil
		}
		rs.notifyAgents(ctx, env, &model.Journal{Moved: j.Moved}, res.changedFiles(), res.Conversation)
		return res, nil
	}
	if err := rs.applyAndRecord(ctx, root, j, res); err != nil {
		return nil, err
	}
	if then, err := rs.log.Note(target); err == nil && !j.ContextOnly {
		res.Plan.Missing, _ = capture.Missing(root, then, nil, j.Paths) // the restore is done: an error here is not one of it
	}
	if j.Kind.Manages() {
		res.Managed = j.Managed
		if why := rs.tellTitles(ctx, env, j.Managed); why != "" {
			rs.log.Notice(why)
		}
		return res, nil
	}
	rs.notifyAgents(ctx, env, j, res.changedFiles(), res.Conversation)
	res.adoptPerms()
	return res, nil
}
