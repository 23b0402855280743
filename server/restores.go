package server

import (
	"context"
	"strings"

	"rewind/api"
	"rewind/engine"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/refs"
)

// restores answers what going back does, and goes back.
type restores struct{ *server }

func (s restores) routes() {
	handle(s.server, api.Checkout, s.checkout)
	handle(s.server, api.Switch, s.switchTo)
	handle(s.server, api.Forward, s.forward)
	handle(s.server, api.Undo, s.undo)
	handle(s.server, api.Redo, s.redo)
	handle(s.server, api.UndoRestore, s.undoRestore)
	handle(s.server, api.Pick, s.pick)
	handle(s.server, api.Revert, s.revert)
	handle(s.server, api.LayOut, s.layOut)
}

func (s restores) checkout(
	ctx context.Context, req api.CheckoutRequest, p model.Progress,
) (out api.RestoreResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		var r *restore.Result
		var err error
		partly := req.Continue || req.Abort || len(req.Parts) > 0 // it does not begin, or not with whole paths
		switch {
		case req.Plan != "" && partly:
			return model.Usagef("a plan goes with no part, continue or abort")
		case req.Merging != (api.Merging{}) && partly:
			return model.Usagef("a merge goes with no part, continue or abort")
		case req.Continue || req.Abort:
			r, err = unfinished(e, req)(ctx, req.Env)
		case len(req.Parts) > 0:
			r, err = checkoutParts(ctx, e, req, p)
		default:
			var paths []string
			if paths, err = relative(e, req.ProjectDir(), req.Paths); err != nil {
				return err
			}
			o := options(req.Walk, req.Wish, paths, p)
			o.Tag = string(req.Tag)
			if err = merging(&o, req.Merging); err != nil {
				return err
			}
			r, err = e.Restorer.Checkout(ctx, string(req.Checkpoint), o)
		}
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindCheckout, req.DryRun, r)
		out.ContextOnly, out.Parts = req.ContextOnly, len(req.Parts) > 0
		return err
	})
	return out, err
}

// undo of a named session takes back what that did (docs/decisions/135-undo-of-a-session-takes-back.md).
func (s restores) undo(ctx context.Context, req api.UndoRequest, p model.Progress) (api.RestoreResponse, error) {
	req.TakeBack = req.Session != ""
	return s.along(ctx, req, p, refs.KindUndo, func(e *engine.Engine) along { return e.Restorer.Undo })
}

func (s restores) redo(ctx context.Context, req api.UndoRequest, p model.Progress) (api.RestoreResponse, error) {
	req.TakeBack = false
	return s.along(ctx, req, p, refs.KindRedo, func(e *engine.Engine) along { return e.Restorer.Redo })
}

// along is what moves a worktree by a number of steps.
type along func(context.Context, int, restore.Options) (*restore.Result, error)

// along moves back or forward along the steps.
func (s restores) along(ctx context.Context, req api.UndoRequest, p model.Progress, kind refs.Kind,
	move func(*engine.Engine) along,
) (out api.RestoreResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		o := options(req.Walk, req.Wish, nil, p)
		if err := merging(&o, req.Merging); err != nil {
			return err
		}
		r, err := move(e)(ctx, max(req.Steps, 1), o)
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, kind, req.DryRun, r)
		return err
	})
	return out, err
}

func (s restores) undoRestore(
	ctx context.Context, req api.UndoRestoreRequest, p model.Progress,
) (out api.RestoreResponse, err error) {
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		r, err := e.Restorer.UndoRestore(ctx, req.Operation, options(api.Walk{}, req.Wish, nil, p))
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindUndoRestore, req.DryRun, r)
		out.ContextOnly = req.ContextOnly
		return err
	})
	return out, err
}

func (s restores) forward(
	ctx context.Context, req api.ForwardRequest, p model.Progress,
) (out api.RestoreResponse, err error) {
	if err := checkTitle(req.Title); err != nil {
		return out, err
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		o := options(req.Walk, req.Wish, nil, p)
		o.Tag = string(req.Tag)
		if err := merging(&o, req.Merging); err != nil {
			return err
		}
		r, err := e.Restorer.Forward(ctx, max(req.Turns, 1), o)
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindCheckout, req.DryRun, r)
		out.ContextOnly = req.ContextOnly
		return err
	})
	return out, err
}

func (s restores) switchTo(
	ctx context.Context, req api.SwitchRequest, p model.Progress,
) (out api.RestoreResponse, err error) {
	if req.Title != "" {
		return out, model.Usagef("a switch takes no title: it makes no session")
	}
	err = s.project(ctx, req.ProjectDir(), func(e *engine.Engine) error {
		o := options(api.Walk{}, req.Wish, nil, p)
		o.Tag = string(req.Tag)
		if err := merging(&o, req.Merging); err != nil {
			return err
		}
		r, err := e.Restorer.Switch(ctx, string(req.Branch), o)
		if err != nil {
			return err
		}
		out, err = restoreResponse(e, refs.KindSwitch, req.DryRun, r)
		out.ContextOnly = req.ContextOnly
		return err
	})
	return out, err
}

func (s restores) pick(ctx context.Context, req api.MergeRequest, p model.Progress) (api.RestoreResponse, error) {
	if req.Of != "" {
		return api.RestoreResponse{},
			model.Usagef("pick takes a change; revert takes out all that a session wrote")
	}
	at, err := s.changeAt(ctx, req.ProjectDir(), req.Change)
	if err != nil {
		return api.RestoreResponse{}, err
	}
	return s.merge(ctx, req, p, refs.KindPick, at)
}

func (s restores) revert(ctx context.Context, req api.MergeRequest, p model.Progress) (api.RestoreResponse, error) {
	return s.merge(ctx, req, p, refs.KindRevert, place{root: req.ProjectDir(), name: string(req.Change)})
}

// merge brings a change, which may lie in another worktree, or takes one out.
func (s restores) merge(ctx context.Context, req api.MergeRequest, p model.Progress, kind refs.Kind, at place,
) (out api.RestoreResponse, err error) {
	prefer, err := side(req.Prefer)
	if err != nil {
		return out, err
	}
	if (req.Change == "") == (req.Of == "") {
		return out, model.Usagef("want a change or a session, and not both")
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
		o.Prefer, o.Merge, o.Becomes = prefer, req.Merge, req.Becomes
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
		out.Turn = api.Text(r.Change.Turn)
		if lent := r.Change.Lent; lent != nil {
			target, err := listed(there, lent)
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

// changeAt says where a change lies, and names it there: both ends of a range, in the same worktree. A worktree alone
// is all that it did since it and the one that asks were one.
func (s restores) changeAt(ctx context.Context, dir string, change api.Text) (place, error) {
	at, err := s.placeOf(ctx, dir, change)
	if err != nil || at.there || at.name == "" {
		return at, err
	}
	from, to, isRange := strings.Cut(at.name, "..")
	if !isRange {
		to = from
	}
	ends, err := s.settle(ctx, dir, api.Text(from), api.Text(to))
	if err != nil || ends[0].root != ends[1].root {
		return at, err
	}
	ends[0].name = at.name
	return ends[0], nil
}

// unfinished is what ends a checkout that was cut short.
func unfinished(
	e *engine.Engine, req api.CheckoutRequest,
) func(context.Context, value.AgentEnv) (*restore.Result, error) {
	switch {
	case req.Abort && req.CodeOnly:
		return e.Restorer.AbortCode
	case req.Abort:
		return e.Restorer.Abort
	case req.CodeOnly:
		return e.Restorer.ContinueCode
	}
	return e.Restorer.Continue
}

func checkoutParts(
	ctx context.Context, e *engine.Engine, req api.CheckoutRequest, p model.Progress,
) (*restore.Result, error) {
	if len(req.Paths) > 0 || req.ContextOnly || req.InPlace {
		return nil, model.Usagef("parts go with neither paths, context_only nor in_place")
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
	o.Merge, o.TakeBack, o.KeepMine, o.Becomes = m.Merge, m.TakeBack, m.KeepMine, m.Becomes
	o.Prefer, err = side(m.Prefer)
	return err
}
