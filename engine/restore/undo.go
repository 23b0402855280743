package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// Undo goes n steps back along a session's branch. Folded steps, and steps that are the same for the session, count as
// one. Unsaved changes count as the first step: they become a step of their own, so that Redo brings them back. With
// Options.TakeBack, and without Exact, only what the session did is a step, and a person's work stays. A
// *model.NoStepError when fewer than n steps lie before.
func (rs *undoer) Undo(ctx context.Context, n int, o Options) (*Result, error) {
	defer rs.log.Hold()()
	session, err := rs.walkedSession(ctx, o)
	if err != nil {
		return nil, err
	}
	cur, err := rs.sessions.Current(session)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, &value.OpError{Op: "undo of session", Subject: session, Err: fmt.Errorf("%w: no checkpoint yet", model.ErrNotFound)}
	}
	if err := o.checkMerge(); err != nil {
		return nil, err
	}
	o.Paths = nil // steps are of the whole tree
	o.TakeBack = o.TakeBack && !o.Exact && session != model.Manual
	r := o.newRequest(refs.KindUndo, session)
	r.Before = cur.ID
	r.choose = func(pl *planner, c *capture.Capture) error {
		g := rs.going(r)
		theirs, err := rs.authors.Others(g, cur, c, false)
		if err != nil {
			return err
		}
		j, err := rs.authors.Judge(g)
		if err != nil {
			return err
		}
		pl.inCall = j.InCall()
		from, err := pl.stateOf(c, cur)
		if err != nil {
			return err
		}
		dirty, err := pl.dirty(c, from, theirs.Stay)
		if err != nil {
			return err
		}
		back := n
		if dirty && !rs.isAway(session, o) {
			back-- // the unsaved changes are the first step
			// the session that goes on now is the one that made them
			if r.Session, err = rs.sessions.Ongoing(session); err != nil {
				return err
			}
			r.saveOn = r.Session
		}
		to, passed, err := j.Back(cur, back)
		if err != nil {
			return withShared(err, theirs)
		}
		r.setTarget(to)
		r.undone = passed
		return nil
	}
	return rs.Run(ctx, r, o.Progress)
}

// withShared has an error that no step is there say who else may have written what there is.
func withShared(err error, theirs *authorship.Since) error {
	var none *model.NoStepError
	if errors.As(err, &none) {
		none.Shared = theirs.SharedWith()
	}
	return err
}

// isAway reports whether who takes back stands on another branch of the session's family, and its agent is in no turn:
// what is in the worktree is not the session's then.
func (rs *undoer) isAway(session string, o Options) bool {
	at, err := rs.sessions.Position()
	on := err != nil || at.Session == session || at.Branch == session
	if on || !o.TakeBack {
		return false
	}
	s := rs.log.Session(session)
	return s != nil && !rs.sessions.InTurn(s) && rs.sessions.Family(at.Session) == rs.sessions.Family(session)
}

// walkedSession returns the session whose branch undo and redo walk. For a fork without a step of its own that is its
// original, as long as the project is on the original. It fails while a restore is unfinished, and captures the
// conversation unless o leaves it alone.
func (rs *undoer) walkedSession(ctx context.Context, o Options) (string, error) {
	if err := rs.log.CheckWhole(); err != nil {
		return "", err
	}
	session, err := rs.sessions.Walked(o.Session)
	if err != nil {
		return "", err
	}
	at, err := rs.sessions.Position()
	if err != nil {
		return "", err
	}
	if s := rs.log.Session(session); s != nil && s.Fork != nil && s.Fork.Session == at.Branch {
		tip, err := rs.history.NewestOf(session)
		if err != nil {
			return "", err
		}
		if tip.IsZero() || tip.String() == s.Fork.Checkpoint {
			session = at.Branch
		}
	}
	return session, rs.catchUp(ctx, session, o)
}

// Redo goes n steps forward again, towards the tip of a session's branch; a *model.NoStepError when fewer than n lie
// ahead.
func (rs *undoer) Redo(ctx context.Context, n int, o Options) (*Result, error) {
	defer rs.log.Hold()()
	session, err := rs.walkedSession(ctx, o)
	if err != nil {
		return nil, err
	}
	cursor, err := rs.log.Refs.ID(refs.Cursor(session))
	if err != nil {
		return nil, err
	}
	if err := o.checkMerge(); err != nil {
		return nil, err
	}
	back, was, err := rs.takenBack(session)
	switch {
	case err != nil:
		return nil, err
	case back != nil && n > 1:
		return nil, &model.NoStepError{Ahead: true, There: 1}
	case back != nil:
		return rs.setBack(ctx, back, was, true, o)
	}
	j, err := rs.authors.Judge(authorship.Going{Session: session, Way: authorship.ByStep, KeepMine: o.KeepMine})
	if err != nil {
		return nil, err
	}
	ahead, err := rs.Ahead(session, cursor, j)
	if err != nil {
		return nil, err
	}
	if len(ahead) < n {
		return nil, &model.NoStepError{Ahead: true, There: len(ahead)}
	}
	o.Paths = nil // steps are of the whole tree
	r := o.newRequest(refs.KindRedo, session)
	r.Before = cursor
	r.setTarget(ahead[n-1])
	return rs.Run(ctx, r, o.Progress)
}

// takenBack is the operation that moved a session last, if that took back what its line did, and the step at which one
// was; nil: it was another one. Redo sets such a one back, since one was nowhere between the two. One that was set back
// already, and what did that, moved nothing together. Behind a step of the session it is no more the last. Where the
// turns only talked it moved the conversation, and the cursor stays.
func (rs *undoer) takenBack(session string) (back *refs.Operation, was *model.Checkpoint, err error) {
	cursor := refs.Cursor(session)
	at, err := rs.log.Refs.ID(cursor)
	if err != nil {
		return nil, nil, err
	}
	since, err := rs.sinceStep(session)
	if err != nil || at.IsZero() {
		return nil, nil, err
	}
	err = rs.history.Restores(func(op *refs.Operation, undone uint64) error {
		if op.Seq <= since {
			return kv.ErrStop
		}
		if op.Session != session || undone > 0 || op.Kind == refs.KindUndoRestore {
			return nil
		}
		moved, takes := refs.Change{Old: at, New: at}, op.Restore.TakesBack && len(op.Restore.Paths) == 0
		i := slices.IndexFunc(op.Changes, func(c refs.Change) bool { return c.Name == cursor })
		if i >= 0 {
			moved = op.Changes[i]
		} else if !takes {
			return nil
		}
		if last := moved.New == at; !last || !takes || op.Thinned {
			return kv.ErrStop
		}
		var err error
		if was, err = rs.log.Checkpoint(moved.Old); err == nil {
			back, err = op, kv.ErrStop
		}
		return err
	})
	return back, was, err
}

// sinceStep is the operation of a session's newest step, or the one behind which this worktree's own begin.
func (rs *undoer) sinceStep(session string) (uint64, error) {
	tip, err := rs.log.Refs.ID(refs.Session(session))
	if err != nil || tip.IsZero() { // it has made no step
		return rs.since(), err
	}
	newest, err := rs.log.Checkpoint(tip)
	if err != nil {
		return 0, err
	}
	return max(rs.since(), newest.Seq), nil
}

// Ahead lists the steps from a session's cursor to its tip at which Redo stops, nearest first. Empty when the cursor is
// the tip or not on the branch. j says which steps are the same for the session; nil: those with equal trees.
func (rs *undoer) Ahead(session string, cursor objstore.ID, j *authorship.Judge) ([]*model.Checkpoint, error) {
	if back, was, err := rs.takenBack(session); err != nil {
		return nil, err
	} else if back != nil {
		return []*model.Checkpoint{was}, nil
	}
	return rs.stepsAhead(session, cursor, j)
}

// lineAhead is a session's branch from its tip on, which is first, up to its cursor, which is at; empty where the
// cursor is the tip or not on the branch.
func (rs *undoer) lineAhead(session string, cursor objstore.ID) (
	line []*model.Checkpoint, at *model.Checkpoint, err error,
) {
	tip, err := rs.log.Refs.ID(refs.Session(session))
	if err != nil || tip.IsZero() || cursor.IsZero() { // a session without a tip has made no step
		return nil, nil, err
	}
	if at, err = rs.log.Checkpoint(cursor); err != nil {
		return nil, nil, err
	}
	for id := tip; id != cursor; {
		cp, err := rs.log.Checkpoint(id)
		if err != nil {
			return nil, nil, err
		}
		if len(cp.Parents) == 0 || cp.Seq < at.Seq { // the cursor is not on the branch
			return nil, nil, nil
		}
		line = append(line, cp)
		id = cp.Parents[0]
	}
	return line, at, nil
}

// stepsAhead is Ahead where the last move took no turns back.
func (rs *undoer) stepsAhead(session string, cursor objstore.ID, j *authorship.Judge) ([]*model.Checkpoint, error) {
	line, at, err := rs.lineAhead(session, cursor)
	if err != nil || len(line) == 0 {
		return nil, err
	}
	left, err := rs.undoOrigins(session, j)
	if err != nil {
		return nil, err
	}
	// From the tip, as undo goes: being the same is not transitive.
	var ahead []*model.Checkpoint
	for i := 0; i < len(line); {
		stop := line[i]
		same := func(cp *model.Checkpoint) (bool, error) { return cp.Tree == stop.Tree, nil }
		if j != nil {
			same = j.Stretch(stop).Same
		}
		if i, err = endOfRun(line, i, left, same); err != nil {
			return nil, err
		}
		if i == len(line) && len(ahead) > 0 { // no stop, if undo from the one ahead of it goes to the cursor
			is, err := same(at)
			if err != nil {
				return nil, err
			}
			if is {
				break
			}
		}
		ahead = append(ahead, stop)
	}
	slices.Reverse(ahead)
	return ahead, nil
}

// endOfRun is the first step of a line behind the one at i, from the tip on, that is not the same. One where undo left
// is not, either: what others have done ahead of it was not there then.
func endOfRun(
	line []*model.Checkpoint, i int, left map[objstore.ID]bool, same func(*model.Checkpoint) (bool, error),
) (int, error) {
	stop := line[i]
	for i++; i < len(line); i++ {
		origin := left[line[i].ID]
		if origin && line[i].Tree != stop.Tree {
			break
		}
		if !origin && oplog.Folded(line[i], line[i-1]) {
			continue
		}
		if is, err := same(line[i]); err != nil || !is {
			return i, err
		}
	}
	return i, nil
}

// undoOrigins are the steps that the latest undos of a session, with the redos among them, started from. Redo stops at
// them, even if lists fold them. One on another line stands for the step of the session's branch that j takes for the
// same; with j nil it does not.
func (rs *undoer) undoOrigins(session string, j *authorship.Judge) (map[objstore.ID]bool, error) {
	left, cursor := map[objstore.ID]bool{}, refs.Cursor(session)
	err := rs.log.Refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case op.Session != session || op.Kind == refs.KindSafety:
			return nil
		case op.Kind != refs.KindUndo && op.Kind != refs.KindRedo:
			return kv.ErrStop
		}
		for _, c := range op.Changes {
			if c.Name == cursor && op.Kind == refs.KindUndo {
				left[c.Old] = true
			}
		}
		return nil
	})
	if err != nil || j == nil {
		return left, err
	}
	for id := range left { // what is added here is on the branch already
		if cp, err := rs.log.Checkpoint(id); err == nil {
			if cp, err = j.OnBranch(cp); err == nil {
				left[cp.ID] = true
			}
		}
	}
	return left, nil
}

// UndoRestore reverts the restore of operation seq: the worktree becomes what it was before, but for files that no
// checkpoint holds, which are kept. seq 0 stands for the newest restore in effect that is no undo-restore, so repeating
// it goes deeper; an undo-restore is reverted by its number.
func (rs *undoer) UndoRestore(ctx context.Context, seq uint64, o Options) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	op, err := rs.operationToRevert(seq, o.ContextOnly)
	if err != nil {
		return nil, err
	}
	if op.Kind.Manages() {
		return rs.undoManaged(ctx, op, o)
	}
	return rs.setBack(ctx, op, nil, false, o)
}

// setBack sets the paths that a restore set back to their state before it. known is a checkpoint of that state that a
// person knows. If it is nil, or something was unsaved, the answer names the safety checkpoint. redo: it brings again
// what the restore took back.
func (rs *undoer) setBack(
	ctx context.Context, op *refs.Operation, known *model.Checkpoint, redo bool, o Options,
) (*Result, error) {
	target, err := rs.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return nil, err
	}
	found := target
	if known != nil && known.Tree == target.Tree {
		head, err := rs.log.Accounts(target)
		if err != nil {
			return nil, err
		}
		if head.Tree == target.Tree { // else the two agree by chance: what was unsaved is unsaved again
			target = known
		}
	}
	r := undoRequest(op, target, o)
	r.found, r.again = found, redo
	if r.Before, err = rs.log.Refs.ID(refs.Cursor(op.Session)); err != nil {
		return nil, err
	}
	for _, c := range op.Changes {
		if c.Name == refs.Cursor(op.Session) && !r.ContextOnly {
			r.keepCursor, r.After = false, c.Old
		}
	}
	return rs.Run(ctx, r, o.Progress)
}
