package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/refs"
)

func (s *server) layOut(ctx context.Context, req api.LayOutRequest, _ model.Progress) (out api.LayOutResponse, err error) {
	err = s.read(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		name, err := e.History.Named(req.Walk, string(req.Checkpoint))
		if err != nil {
			return err
		}
		r, err := e.Layouts.LayOut(ctx, name, string(req.Into), paths)
		if err != nil {
			return err
		}
		cp, err := listed(e, r.Checkpoint)
		if err != nil {
			return err
		}
		out = api.LayOutResponse{
			Checkpoint: *cp, Into: api.Text(r.Dir), Paths: r.Paths, Left: r.Left, Without: without(r.Without),
			Notices: e.Project().Notices,
		}
		for i := range out.Left {
			out.Left[i].Dir = false // told only of what stays
		}
		return nil
	})
	return out, err
}

func (s *server) pick(ctx context.Context, req api.MergeRequest, p model.Progress) (api.RestoreResponse, error) {
	if req.Of != "" {
		return api.RestoreResponse{}, model.Usagef("pick brings a change; all that a session wrote is taken out by revert")
	}
	return s.merge(ctx, req, p, refs.KindPick, func(e *engine.Engine) merge { return e.Restorer.Pick })
}

func (s *server) revert(ctx context.Context, req api.MergeRequest, p model.Progress) (api.RestoreResponse, error) {
	return s.merge(ctx, req, p, refs.KindRevert, func(e *engine.Engine) merge { return e.Restorer.Revert })
}

// merge is what brings a change, or takes one out.
type merge func(context.Context, restore.PickOptions) (*restore.Result, error)

func (s *server) merge(ctx context.Context, req api.MergeRequest, p model.Progress, kind refs.Kind, run func(*engine.Engine) merge,
) (out api.RestoreResponse, err error) {
	sides := map[string]textdiff.Side{"": textdiff.Neither, "ours": textdiff.Ours, "theirs": textdiff.Theirs}
	prefer, known := sides[req.Prefer]
	if !known {
		return out, model.Usagef("prefer %q: want ours or theirs", req.Prefer)
	}
	if (req.Change == "") == (req.Of == "") {
		return out, model.Usagef("want a change, or the session whose work it is")
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		r, err := run(e)(ctx, restore.PickOptions{
			Options: options(req.Walk, api.Wish{Env: req.Env, DryRun: req.DryRun, Plan: req.Plan}, paths, p),
			Change:  string(req.Change), Of: req.Of, Prefer: prefer,
		})
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, kind, req.DryRun, r)
		out.Merges, out.Taken, out.Replaced, out.Missing = r.Merges, nil, nil, nil
		for _, m := range r.Merges {
			out.Partial = out.Partial || m.Verdict == value.MergeConflict
		}
		return err
	})
	return out, err
}
