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
	at, err := s.changeAt(ctx, req.ProjectDir(), req.Change)
	if err != nil {
		return api.RestoreResponse{}, err
	}
	return s.merge(ctx, req, p, refs.KindPick, at)
}

func (s *server) revert(ctx context.Context, req api.MergeRequest, p model.Progress) (api.RestoreResponse, error) {
	return s.merge(ctx, req, p, refs.KindRevert, place{root: req.ProjectDir(), name: string(req.Change)})
}

// merge brings a change, which may lie in another worktree, or takes one out.
func (s *server) merge(ctx context.Context, req api.MergeRequest, p model.Progress, kind refs.Kind, at place,
) (out api.RestoreResponse, err error) {
	sides := map[string]textdiff.Side{"": textdiff.Neither, "ours": textdiff.Ours, "theirs": textdiff.Theirs}
	prefer, known := sides[req.Prefer]
	if !known {
		return out, model.Usagef("prefer %q: want ours or theirs", req.Prefer)
	}
	if (req.Change == "") == (req.Of == "") {
		return out, model.Usagef("want a change, or the session whose work it is")
	}
	err = s.two(ctx, place{root: req.ProjectDir()}, at, s.project, func(e, there *engine.Engine) error {
		paths, err := relative(e, req.ProjectDir(), req.Paths)
		if err != nil {
			return err
		}
		o := restore.PickOptions{
			Options: options(req.Walk, api.Wish{Env: req.Env, DryRun: req.DryRun, Plan: req.Plan}, paths, p),
			Change:  at.name, Of: req.Of, Prefer: prefer,
		}
		if there != e {
			if o.From = there.Merger; at.name == "" {
				if o.Change, err = sinceParted(ctx, there, e); err != nil {
					return err
				}
			}
		}
		run := e.Restorer.Pick
		if kind == refs.KindRevert {
			run = e.Restorer.Revert
		}
		r, err := run(ctx, o)
		if err != nil {
			return err
		}
		if out, err = restoreResponse(e, kind, req.DryRun, r); err != nil {
			return err
		}
		if r.Lent != nil {
			target, err := listed(there, r.Lent)
			if err != nil {
				return err
			}
			out.Target, out.Worktree = *target, at.worktree()
		}
		out.Merges, out.Taken, out.Replaced, out.Missing = r.Merges, nil, nil, nil
		for _, m := range r.Merges {
			out.Partial = out.Partial || m.Verdict == value.MergeConflict
		}
		return err
	})
	return out, err
}
