package restore

import (
	"context"

	"rewind/engine/capture"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/refs"
	"rewind/tree"
)

// PickOptions are what a person asks of Pick and Revert, beside Options, of which they take Paths, Prefer, DryRun,
// Plan, Session and Progress, and Revert Merge.
type PickOptions struct {
	Options
	Change string        // a turn, a checkpoint, or a range "A..B": what it changed
	Of     string        // of Revert, instead of Change: all that this session wrote
	From   *merge.Merger // of Pick: of another worktree, whose change it is; nil: of this one
}

// Pick brings a change into the worktree by a three-way merge: what was changed there since stays. Where both changed
// the same, a text gets the markers of a conflict, and anything else stays as it is. The conversation and the cursor
// stay. The outcomes are Checkout's; Result.Merges has what became of each path.
func (rs *Restorer) Pick(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindPick, o)
}

// Revert is Pick of the reverse of a change, or of all that a session wrote, the newest first. It takes back as other
// restores do. If a person changed the same, the path becomes what it was, and Plan.Yours has it. If a session did, the
// path stays, and Plan.Kept has it. With Merge there are markers.
func (rs *Restorer) Revert(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindRevert, o)
}

func (rs *Restorer) merge(ctx context.Context, kind refs.Kind, o PickOptions) (*Result, error) {
	ask := merge.Ask{Change: o.Change, Of: o.Of, Session: o.Session, Reverse: kind == refs.KindRevert}
	var change *merge.Change
	if o.From != nil {
		var err error
		if change, err = o.From.Lend(ctx, ask); err != nil { // before this log's lock is taken
			return nil, err
		}
	}
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	only, err := model.NewPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	at, err := rs.sessions.Position()
	if err != nil {
		return nil, err
	}
	if change != nil {
		err = rs.merger.Borrow(change, at.Branch)
	} else {
		change, err = rs.merger.ChangeOf(ctx, ask)
	}
	if err != nil {
		return nil, err
	}
	o.CodeOnly, o.Scope = true, refs.Scope{Exact: true}
	r := o.newRequest(kind, at.Branch)
	r.keepCursor, r.partOf, r.merges = true, change.Of, true
	if r.Before, err = rs.log.Refs.ID(refs.Cursor(at.Branch)); err != nil {
		return nil, err
	}
	r.choose = func(pl *planner, c *capture.Capture) error {
		bring := pl.bring
		if kind == refs.KindRevert {
			bring = pl.revert
		}
		m, err := bring(c, change, merge.Options{Only: only, Prefer: o.Prefer})
		if err != nil {
			return err
		}
		to, err := rs.putMerged(c, change, kind, m)
		if err != nil {
			return err
		}
		r.Paths = m.Touched()
		pl.plan.Scope, pl.plan.Merges = r.Scope, m.List
		r.setTarget(to)
		return nil
	}
	res, err := rs.Run(ctx, r, o.Progress)
	if res != nil {
		res.Change = change
	}
	return res, err
}

// putMerged puts the captured worktree with some paths set into the capture's transaction as a checkpoint. Its own tree
// is its base: whatever it lays out is known.
func (rs *runner) putMerged(
	c *capture.Capture, change *merge.Change, kind refs.Kind, m *merge.Merged,
) (*model.Checkpoint, error) {
	root, err := tree.Edit(c.Get, c.Tx, c.Res.Root, m.Steps())
	if err != nil {
		return nil, err
	}
	return rs.putState(c, change.Of, model.Checkpoint{
		Tree: root, Base: root, Git: c.Git, Counts: model.Counts{Files: c.Res.Files + c.Res.Links, Bytes: c.Res.Bytes},
		Cause: model.Cause{Message: kind.String() + " of " + change.Name},
	})
}
