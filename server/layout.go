package server

import (
	"context"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
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
	prefer, err := side(req.Prefer)
	if err != nil {
		return out, err
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
			Change:  at.name, Of: req.Of,
		}
		o.Prefer = prefer
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
		out.Taken, out.Replaced, out.Missing = nil, nil, nil
		return err
	})
	return out, err
}

func checkoutParts(ctx context.Context, e *engine.Engine, req api.CheckoutRequest, p model.Progress) (*restore.Result, error) {
	if len(req.Paths) > 0 || req.ContextOnly || req.InPlace {
		return nil, model.Usagef("parts are of files, and say of which")
	}
	list, err := parts(req.Parts)
	if err != nil {
		return nil, err
	}
	return e.Restorer.CheckoutParts(ctx, string(req.Checkpoint), list, options(req.Walk, req.Wish, nil, p))
}

// side is what settles the conflicts of a merge.
func side(prefer string) (textdiff.Side, error) {
	switch prefer {
	case "":
		return textdiff.Neither, nil
	case "ours":
		return textdiff.Ours, nil
	case "theirs":
		return textdiff.Theirs, nil
	}
	return textdiff.Neither, model.Usagef("prefer %q: want ours or theirs", prefer)
}

// merging sets what a request says of paths that others changed, too.
func merging(o *restore.Options, m api.Merging) (err error) {
	o.Merge, o.TakeBack, o.KeepMine = m.Merge, m.TakeBack, m.KeepMine
	o.Prefer, err = side(m.Prefer)
	return err
}
