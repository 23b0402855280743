package engine

import (
	"context"
	"fmt"
	"slices"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// Undo goes n steps back along a session's branch, over folded steps and steps with equal trees at once. Unsaved changes are a step:
// they become one, so that Redo brings them back. A NoStepError when fewer than n steps lie before.
func (e *Engine) Undo(ctx context.Context, n int, o RestoreOptions) (*RestoreResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	session, err := e.walked(o.Session)
	if err != nil {
		return nil, err
	}
	if err := e.readyConversation(ctx, session, o); err != nil {
		return nil, err
	}
	cur, err := e.current(session)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, fmt.Errorf("engine: undo: %w: no checkpoint yet", ErrNotFound)
	}
	r := restore{kind: refs.KindUndo, session: session, opt: planOptions{exact: o.Exact}, before: cur.ID, dryRun: o.DryRun, conversation: o.Conversation, env: o.Env}
	r.choose = func(pl *planner, c *capture) error {
		theirs, _, err := e.others(session, cur, c, false)
		if err != nil {
			return err
		}
		j, err := e.judge(session)
		if err != nil {
			return err
		}
		pl.mine = j.inCall()
		dirty, err := pl.dirty(c, cur, theirs)
		if err != nil {
			return err
		}
		back := n
		if dirty {
			back-- // the unsaved changes are the first step
			r.asStep = true
			if r.session, err = e.stillOf(session); err != nil { // they were made in the conversation that goes on
				return err
			}
		}
		r.target, err = j.back(cur, back)
		return err
	}
	return e.run(ctx, &r, o.Progress)
}

// back walks n steps along first parents; steps that are the same for the session count once, folded ones not at all.
func (j *judge) back(cp *Checkpoint, n int) (*Checkpoint, error) {
	for i := range n {
		var err error
		if cp, err = j.onBranch(cp); err != nil {
			return nil, err
		}
		from := j.stretch(cp)
		for later := cp; ; {
			same := false
			if !folded(cp, later) || len(cp.Parents) == 0 {
				var err error
				if same, err = from.same(cp); err != nil {
					return nil, err
				}
				if !same {
					break // the first step of all shows, whatever it is
				}
			}
			if len(cp.Parents) == 0 {
				return nil, &NoStepError{There: i}
			}
			var err error
			later = cp
			if cp, err = j.e.checkpoint(cp.Parents[0]); err != nil {
				return nil, err
			}
		}
	}
	return cp, nil
}

// onBranch is the step of the session's branch that a checkpoint of another one is the same as for the session, if it is so for the newest that is older: the end of a
// turn in which somebody else was at work last may be that one's. Else it is the checkpoint itself.
func (j *judge) onBranch(cp *Checkpoint) (*Checkpoint, error) {
	if j.e.wholeSession(cp.Session) == j.session {
		return cp, nil
	}
	tip, err := j.e.refs.ID(refs.Session(j.session))
	if err != nil || tip.IsZero() || j.e.leadsTo(cp.ID, tip) {
		return cp, err
	}
	at, err := j.e.checkpoint(tip)
	for err == nil && at.Seq > cp.Seq && len(at.Parents) > 0 {
		at, err = j.e.checkpoint(at.Parents[0])
	}
	if err != nil || at.Seq >= cp.Seq || j.e.leadsTo(at.ID, cp.ID) {
		return cp, err
	}
	if same, err := j.stretch(cp).same(at); err != nil || !same {
		return cp, err
	}
	return at, nil
}

// folded reports whether lists leave a step out; later is the one after it on its line. The last step of a turn shows,
// and so does the one that a save or an undo came to: what a person saved, or the undo took back, is a step by itself.
func folded(cp, later *Checkpoint) bool {
	return cp.Minor && later != nil && later.Session == cp.Session && later.Cause.Turn == cp.Cause.Turn && later.Cause.Event != EventUndo && later.Cause.Event != EventSave
}

// Redo goes n steps forward again, towards the tip of a session's branch; a NoStepError when fewer than n lie ahead.
func (e *Engine) Redo(ctx context.Context, n int, o RestoreOptions) (*RestoreResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	session, err := e.walked(o.Session)
	if err != nil {
		return nil, err
	}
	if err := e.readyConversation(ctx, session, o); err != nil {
		return nil, err
	}
	cursor, err := e.refs.ID(refs.Cursor(session))
	if err != nil {
		return nil, err
	}
	j, err := e.judge(session)
	if err != nil {
		return nil, err
	}
	ahead, err := e.ahead(session, cursor, j)
	if err != nil {
		return nil, err
	}
	if len(ahead) < n {
		return nil, &NoStepError{Ahead: true, There: len(ahead)}
	}
	target := ahead[n-1]
	r := restore{kind: refs.KindRedo, session: session, target: target, opt: planOptions{exact: o.Exact}, before: cursor, dryRun: o.DryRun, conversation: o.Conversation, env: o.Env}
	return e.run(ctx, &r, o.Progress)
}

// ahead lists the steps from a session's cursor to its tip, nearest first: where undo from the tip would stop, and what an undo has left. Empty when the cursor
// is the tip or lies on another line. j nil: the same are those with equal trees.
func (e *Engine) ahead(session string, cursor objstore.ID, j *judge) ([]*Checkpoint, error) {
	tip, err := e.refs.ID(refs.Session(session))
	if err != nil || tip == cursor || tip.IsZero() || cursor.IsZero() { // without a tip: it was moved, and has made no step
		return nil, err
	}
	var line []*Checkpoint // tip first
	at, err := e.checkpoint(cursor)
	if err != nil {
		return nil, err
	}
	for id := tip; id != cursor; {
		cp, err := e.checkpoint(id)
		if err != nil {
			return nil, err
		}
		if len(cp.Parents) == 0 || cp.Seq < at.Seq { // what lies before is older still
			return nil, nil
		}
		line = append(line, cp)
		id = cp.Parents[0]
	}
	left, err := e.leftByUndo(session, j)
	if err != nil {
		return nil, err
	}
	// From the tip: what is the same as a stop need not be the same as the next one.
	var ahead []*Checkpoint
	for i := 0; i < len(line); {
		stop := line[i]
		same := func(cp *Checkpoint) (bool, error) { return cp.Tree == stop.Tree, nil }
		if j != nil {
			same = j.stretch(stop).same
		}
		for i++; i < len(line); i++ {
			if folded(line[i], line[i-1]) && !left[line[i].ID] {
				continue
			}
			is, err := same(line[i])
			if err != nil {
				return nil, err
			}
			if !is {
				break
			}
		}
		if i == len(line) && len(ahead) > 0 { // no step, if the cursor is where undo would go from the next one
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

// leftByUndo are the steps that a session stood on before the undos and redos that came last: redo comes back to them, also to one that lists fold. Where it
// stood on another line, it is the step of its branch that is the same. j nil: that is not looked for.
func (e *Engine) leftByUndo(session string, j *judge) (map[objstore.ID]bool, error) {
	left, cursor := map[objstore.ID]bool{}, refs.Cursor(session)
	err := e.refs.Newest(0, func(op *refs.Operation) error {
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
	for id := range left { // what this adds stands on the branch
		if cp, err := e.checkpoint(id); err == nil {
			if cp, err = j.onBranch(cp); err == nil {
				left[cp.ID] = true
			}
		}
	}
	return left, nil
}

// UndoRestore reverts a restore: the worktree becomes what it was before it, with the files that no checkpoint holds
// kept. seq 0 stands for the newest restore that is in effect and no undo-restore itself, so that repeating it goes
// deeper; an undo-restore is reverted by its number.
func (e *Engine) UndoRestore(ctx context.Context, seq uint64, o RestoreOptions) (*RestoreResult, error) {
	defer e.hold()()
	if err := e.checkWhole(); err != nil {
		return nil, err
	}
	op, err := e.restoreOperation(seq)
	if err != nil {
		return nil, err
	}
	target, err := e.checkpoint(op.Restore.Safety)
	if err != nil {
		return nil, err
	}
	r := restore{
		kind: refs.KindUndoRestore, session: op.Session, target: target, opt: planOptions{paths: op.Restore.Paths, exact: o.Exact},
		undoes: op.Seq, stay: true, dryRun: o.DryRun, conversation: o.Conversation, env: o.Env, reverts: op,
	}
	r.conversation.ContextOnly = r.conversation.ContextOnly || op.Restore.ContextOnly
	if r.before, err = e.refs.ID(refs.Cursor(op.Session)); err != nil {
		return nil, err
	}
	for _, c := range op.Changes {
		if c.Name == refs.Cursor(op.Session) && !r.conversation.ContextOnly {
			r.stay, r.after = false, c.Old
		}
	}
	return e.run(ctx, &r, o.Progress)
}

func (e *Engine) restoreOperation(seq uint64) (*refs.Operation, error) {
	if seq > 0 {
		op, err := e.refs.Operation(seq)
		if err != nil {
			return nil, err
		}
		if op.Kind == refs.KindPurge {
			return nil, fmt.Errorf("engine: undo-restore %d: %w: operation %d is a purge, which cannot be undone", seq, ErrUsage, seq)
		}
		if op.Kind.IsRestore() && op.Thinned {
			return nil, fmt.Errorf("engine: undo-restore %d: %w: gc has removed the state before it", seq, ErrNotFound)
		}
		if !op.Kind.IsRestore() || op.Restore == nil {
			return nil, fmt.Errorf("engine: undo-restore %d: %w: operation %d is %s, not a restore", seq, ErrUsage, seq, op.Kind)
		}
		return op, nil
	}
	reverted := map[uint64]bool{}
	var found *refs.Operation
	err := e.refs.Newest(0, func(op *refs.Operation) error {
		switch {
		case !op.Kind.IsRestore() || op.Restore == nil || reverted[op.Seq]:
		case op.Kind == refs.KindUndoRestore:
			reverted[op.Restore.Undoes] = true
		default:
			found = op
			return kv.ErrStop
		}
		return nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("engine: undo-restore: %w: no restore is left to revert", ErrNotFound)
	}
	return found, err
}
