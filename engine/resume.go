package engine

import (
	"cmp"
	"context"
	"fmt"

	"rewind/refs"
	"rewind/tree"
)

// Continue finishes an unfinished restore; ErrNotHalfDone when there is none.
func (e *Engine) Continue(ctx context.Context, env AgentEnv) (*RestoreResult, error) {
	return e.resume(ctx, env, false, false)
}

// Abort takes an unfinished restore back; ErrNotHalfDone when there is none.
func (e *Engine) Abort(ctx context.Context, env AgentEnv) (*RestoreResult, error) {
	return e.resume(ctx, env, true, false)
}

// ContinueCode is Continue that leaves session files as they are, whatever the journal says of them.
func (e *Engine) ContinueCode(ctx context.Context, env AgentEnv) (*RestoreResult, error) {
	return e.resume(ctx, env, false, true)
}

// AbortCode is Abort that leaves session files as they are, whatever the journal says of them.
func (e *Engine) AbortCode(ctx context.Context, env AgentEnv) (*RestoreResult, error) {
	return e.resume(ctx, env, true, true)
}

func (e *Engine) resume(ctx context.Context, env AgentEnv, back, codeOnly bool) (*RestoreResult, error) {
	defer e.hold()()
	j, err := e.readJournal()
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, fmt.Errorf("engine: checkout: %w", ErrNotHalfDone)
	}
	j.must = j.ContextOnly || j.Moved != nil && j.Kind != refs.KindUndoRestore
	if j.own = env.folders(); codeOnly {
		j.left = e.leftAlone(j)
		j.Files, j.Made, j.Moved = nil, nil, nil
		if j.Goes, err = e.stillOf(j.Session); err != nil {
			return nil, err
		}
	}
	if err := j.foreign(); err != nil {
		return nil, err
	}
	root, err := e.holdRoot()
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
	if err := e.loadSessions(); err != nil {
		return nil, err
	}
	res := &RestoreResult{Plan: &Plan{Target: target, Paths: j.Paths, Exact: j.Exact, Steps: j.Steps}, Safety: safety, Conversation: j.conversation()}
	if !back {
		if res.AtWork, err = e.underfoot(cmp.Or(j.Goes, j.Session), j.Made.from(), j.Steps); err != nil {
			return nil, err
		}
	}
	if back {
		res.Plan.Steps = tree.Reverse(j.Steps)
		if err := e.abort(ctx, root, j, res); err != nil {
			return res, err
		}
		e.tellAgents(ctx, env, &journal{Moved: j.Moved}, res)
		return res, nil
	}
	if err := e.carryOut(ctx, root, j, res); err != nil {
		return nil, err
	}
	if then, err := e.note(target); err == nil && !j.ContextOnly {
		res.Plan.Missing, _ = missing(root, then, nil, j.Paths) // told, where it can be: what was asked for is done
	}
	e.tellAgents(ctx, env, j, res)
	res.settle()
	return res, nil
}
