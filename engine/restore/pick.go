package restore

import (
	"context"
	"slices"
	"time"

	"rewind/engine/capture"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// PickOptions are what a person asks of Pick and Revert, beside Options, of which they take Paths, DryRun, Session and Progress.
type PickOptions struct {
	Options
	Change string        // a turn, a checkpoint, or a range "A..B": what it changed
	Of     string        // of Revert, instead of Change: all that this session wrote
	From   *merge.Merger // of Pick: of another worktree, whose change it is; nil: of this one
	Prefer textdiff.Side
}

// Pick brings a change into the worktree by a three-way merge: what was changed there since stays. Where both changed the same, a text gets
// the markers of a conflict, and anything else stays as it is. The conversation and the cursor stay. The outcomes are Checkout's;
// Result.Merges has what became of each path.
func (rs *Restorer) Pick(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindPick, o)
}

// Revert is Pick of the reverse of a change, or of all that a session wrote, the newest first.
func (rs *Restorer) Revert(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindRevert, o)
}

func (rs *Restorer) merge(ctx context.Context, kind refs.Kind, o PickOptions) (*Result, error) {
	ask := merge.Ask{Change: o.Change, Of: o.Of, Session: o.Session}
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
	var merges []value.Merge
	r.choose = func(pl *planner, c *capture.Capture) error {
		m, err := rs.merger.Into(c, change, merge.Options{Only: only, Reverse: kind == refs.KindRevert, Prefer: o.Prefer})
		if err != nil {
			return err
		}
		to, err := rs.putMerged(c, change, kind, m.Set)
		if err != nil {
			return err
		}
		merges, r.Paths = m.List, m.Touched()
		pl.plan.Scope = r.Scope
		r.setTarget(to)
		return nil
	}
	res, err := rs.Run(ctx, r, o.Progress)
	if res != nil {
		res.Merges, res.Lent = merges, change.Lent
	}
	return res, err
}

// putMerged puts the captured worktree with some paths set into the capture's transaction as a checkpoint, which only the restore's
// operation names, see putParts. Its own tree is its base: whatever it lays out is known.
func (rs *Restorer) putMerged(c *capture.Capture, change *merge.Change, kind refs.Kind, set map[string]*tree.Entry) (*model.Checkpoint,
	error,
) {
	steps := make([]tree.Change, 0, len(set))
	for path, to := range set {
		steps = append(steps, tree.Change{Path: path, New: to})
	}
	slices.SortFunc(steps, func(a, b tree.Change) int { return tree.ComparePaths(a.Path, b.Path) })
	root, err := tree.Edit(c.Get, c.Tx, c.Res.Root, steps)
	if err != nil {
		return nil, err
	}
	of := change.Of
	cp := &model.Checkpoint{
		Time: of.Time.Add(-time.Millisecond), Session: of.Session, Tree: root, Note: of.Note, Base: root,
		Cause: model.Cause{Event: model.EventSafety, Message: kind.String() + " of " + change.Name}, Git: c.Git,
		Counts: model.Counts{Files: c.Res.Files + c.Res.Links, Bytes: c.Res.Bytes, Skipped: of.Counts.Skipped},
	}
	return cp, rs.log.PutCheckpoint(c.Tx, cp, of.Seq)
}
