package engine

import (
	"slices"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// head is the newest state of the worktree that steps and restores account for; what differs from it is unsaved.
type head struct {
	tree       objstore.ID // zero: nothing was captured yet
	note       objstore.ID
	checkpoint objstore.ID // that has this tree; zero: none is known to
}

// head gives the newest known state; e.mu is held.
func (e *Engine) head() (head, error) {
	if e.known != nil {
		return *e.known, nil
	}
	var h head
	err := e.refs.Newest(0, func(op *refs.Operation) (err error) {
		switch {
		case op.Kind == refs.KindCheckpoint:
			cp, err := e.checkpoint(op.Checkpoint)
			if err != nil {
				return err
			}
			h = head{tree: cp.Tree, note: cp.Note, checkpoint: cp.ID}
		case op.Kind == refs.KindRepair && op.Restore != nil: // nothing is known any more
		case op.Kind == refs.KindSafety:
			h, err = e.headAt(op.Checkpoint)
		case op.Kind == refs.KindAbort && op.Restore != nil:
			h, err = e.headAt(op.Restore.Safety)
		case op.Restore != nil:
			h, err = e.headAfter(op.Restore)
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return kv.ErrStop
	})
	if err != nil {
		return h, err
	}
	e.known = &h
	return h, nil
}

// headAt is what was known when a restore began, by the checkpoint that it took of what it found: a step, if the unsaved changes became one.
func (e *Engine) headAt(found objstore.ID) (head, error) {
	cp, err := e.checkpoint(found)
	if err != nil {
		return head{}, err
	}
	return e.accounts(cp)
}

// headAfter is what is known after a restore. One of some paths is an edit like any other: it changes nothing of that.
func (e *Engine) headAfter(r *refs.Restore) (head, error) {
	if len(r.Paths) > 0 {
		return e.headAt(r.Safety)
	}
	safety, err := e.checkpoint(r.Safety)
	if err != nil {
		return head{}, err
	}
	if !r.Result.IsZero() {
		return head{tree: r.Result, note: safety.Note}, nil
	}
	target, err := e.checkpoint(r.Target)
	if err != nil {
		return head{}, err
	}
	return e.accounts(target)
}

// accounts is what a checkpoint accounts for: all of a step; of a safety checkpoint what was known before it, for what was unsaved then is unsaved
// again when it is brought back.
func (e *Engine) accounts(cp *Checkpoint) (head, error) {
	if cp.Cause.Event != EventSafety {
		return head{tree: cp.Tree, note: cp.Note, checkpoint: cp.ID}, nil
	}
	if !cp.Base.IsZero() || len(cp.Parents) == 0 {
		return head{tree: cp.Base, note: cp.Note}, nil
	}
	parent, err := e.checkpoint(cp.Parents[0])
	if err != nil {
		return head{}, err
	}
	return head{tree: parent.Tree, note: parent.Note, checkpoint: parent.ID}, nil
}

// before is the state that a checkpoint's changes are counted from.
func (e *Engine) before(cp *Checkpoint) (objstore.ID, error) {
	if !cp.Base.IsZero() || len(cp.Parents) == 0 {
		return cp.Base, nil
	}
	parent, err := e.checkpoint(cp.Parents[0])
	if err != nil {
		return objstore.ID{}, err
	}
	return parent.Tree, nil
}

// result puts into a restore's operation what is known of the worktree from now on, where that is not the target: what was known before,
// with what the target accounts for at the paths that the restore was to set and that now are as the target has them.
func (e *Engine) result(tx *objstore.Tx, op *refs.Operation, j *journal, res *RestoreResult) error {
	if len(j.Paths) > 0 {
		return nil
	}
	safety, err := e.checkpoint(j.Safety)
	if err != nil {
		return err
	}
	target, err := e.checkpoint(j.Target)
	if err != nil {
		return err
	}
	was, err := e.accounts(safety)
	if err != nil {
		return err
	}
	known, err := e.accounts(target)
	if err != nil {
		return err
	}
	set := map[string]bool{}
	for _, s := range j.Steps {
		set[s.Path] = true
	}
	for _, c := range res.Conflicts {
		set[c.Path] = false
	}
	for _, d := range res.KeptDirs {
		set[d] = false
	}
	if j.trees == nil {
		j.trees = tree.NewMemo(e.objs)
	}
	found, wanted := newLookups(j.trees, safety.Tree), newLookups(j.trees, target.Tree)
	var steps []tree.Step
	var stays []string // paths of which nothing new is known
	err = tree.Diff(j.trees, was.tree, known.tree, func(ch tree.Change) error {
		done, isStep := set[ch.Path]
		if !isStep {
			have, err := found.find(ch.Path)
			if err != nil {
				return err
			}
			want, err := wanted.find(ch.Path)
			if err != nil {
				return err
			}
			done = !res.Plan.leaves(ch.Path) && (have == nil && want == nil || have != nil && want != nil && tree.Same(have, want))
		}
		if _, less := res.perms[ch.Path]; done && !less {
			steps = append(steps, tree.Step{Path: ch.Path, To: ch.New})
		}
		if !done {
			stays = append(stays, ch.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	short, err := res.short(newLookups(j.trees, known.tree), wanted)
	if err != nil || len(stays) == 0 && len(short) == 0 {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s tree.Step) bool { // what is known below a directory stays known, also if the directory itself went
		return s.To == nil && slices.ContainsFunc(stays, func(p string) bool { return below(p, s.Path) })
	})
	steps = append(steps, short...)
	id, err := tree.Edit(j.trees, tx, was.tree, steps)
	if err == nil && id != known.tree {
		op.Restore.Result = id
	}
	return err
}

// short gives the paths that were set and have other permissions than the target, with those that they have.
func (res *RestoreResult) short(known, wanted *lookups) ([]tree.Step, error) {
	var steps []tree.Step
	for path, perm := range res.perms {
		ent, err := known.find(path)
		if err != nil {
			return nil, err
		}
		want, err := wanted.find(path)
		if err != nil {
			return nil, err
		}
		if ent != nil && tree.Same(ent, want) {
			is := *ent
			is.Perm = perm
			steps = append(steps, tree.Step{Path: path, To: &is})
		}
	}
	return steps, nil
}

// settle has the plan's steps say what became of the permissions.
func (res *RestoreResult) settle() {
	if len(res.perms) == 0 {
		return
	}
	steps := slices.Clone(res.Plan.Steps)
	for i, s := range steps {
		if perm, ok := res.perms[s.Path]; ok && s.To != nil {
			to := *s.To
			to.Perm, steps[i].To = perm, &to
		}
	}
	res.Plan.Steps = steps
}

// pinnedHead names the objects that the store has to keep for the newest state that is known in memory; e.mu is held.
func (e *Engine) pinnedHead(ref func(objstore.Kind, objstore.ID) error) error {
	if h := e.known; h != nil {
		if err := ref(objstore.Tree, h.tree); err != nil {
			return err
		}
		if err := ref(objstore.Note, h.note); err != nil {
			return err
		}
	}
	return ref(objstore.Note, e.noted.id)
}

// forgetLog drops what is known in memory of the log: all of it is read again from the store. e.mu is held.
func (e *Engine) forgetLog() {
	e.refs.Forget()
	e.objs.Forget()
	e.bare.forget()
	e.known, e.sessions, e.whole, e.noted = nil, nil, false, noted{}
}
