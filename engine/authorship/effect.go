package authorship

import (
	"math"
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Behind are the steps between a session's work as the worktree c has it and as target has it, in an order in which the reverse of each,
// the last one first, leads there: those that were done since, and reversed those that a restore has taken out meanwhile. They are what
// checkpoints say that the session, or what is its past, wrote, and what its restores of some paths set. What a colleague may have written
// too is not among it, nor what is nobody's; of a person's session it is.
func (a *Authors) Behind(session string, target *model.Checkpoint, c *capture.Capture) (list []Step, err error) {
	j, err := a.Judge(session)
	if err != nil {
		return nil, err
	}
	then, err := a.beganOn(j.session, target)
	if err != nil {
		return nil, err
	}
	w, err := j.work(then, oplog.NewLookups(c.Get, c.Res.Root))
	if err != nil {
		return nil, err
	}
	out := func(s ownStep, back bool) Step {
		from, to := s.From, s.To
		if back {
			from, to = to, from
		}
		return Step{s.Checkpoint, from, to, func(ch tree.Change) (bool, error) {
			if back {
				ch.Old, ch.New = ch.New, ch.Old
			}
			if its, err := s.Wrote(ch); err != nil || !its {
				return false, err
			}
			now, err := w.has(s.seq, ch.Path, math.MaxUint64)
			if err != nil {
				return false, err
			}
			had, err := w.has(s.seq, ch.Path, then)
			return now != had && had == back, err
		}}
	}
	for _, s := range w.steps {
		if s.seq <= then {
			list = append(list, out(s, true))
		}
	}
	for _, s := range slices.Backward(w.steps) {
		list = append(list, out(s, false))
	}
	return list, nil
}

// work is what a session did, the newest first.
type work struct {
	steps []ownStep
	jumps []jump
}

type ownStep struct {
	seq uint64
	Step
}

// jump is a restore: where it left a path as its target has it, the session's work there is that of the target.
type jump struct {
	seq, to uint64
	as      func(path string) (bool, error) // reports whether it left a path as the target has it
}

// has reports whether what the session did at a path in a step was in the worktree after the operation at.
func (w *work) has(step uint64, path string, at uint64) (bool, error) {
	for _, k := range w.jumps {
		if k.seq <= step {
			break
		}
		if k.seq > at { // it came later, or was taken back
			continue
		}
		as, err := k.as(path)
		if err != nil {
			return false, err
		}
		if as { // else it was kept
			at = k.to
		}
	}
	return step <= at, nil
}

// work reads what the session did since an operation, and before it as far as restores have gone back. later is the worktree.
func (j *Judge) work(since uint64, later *oplog.Lookups) (*work, error) {
	w, log := &work{}, j.e.log
	err := log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= since {
			return kv.ErrStop
		}
		after := later // of this operation
		cp, err := j.look(op, &later)
		switch {
		case err != nil:
		case op.Kind == refs.KindCheckpoint:
			var from objstore.ID
			from, err = log.Before(cp)
			of := cp.AuthorsOf()
			w.steps = append(w.steps, ownStep{op.Seq, Step{
				cp, from, cp.Tree, func(ch tree.Change) (bool, error) { return j.wrote(cp, of(ch.Path)), nil },
			}})
		case isSetting(op) && j.ownRestore(op):
			since, err = w.restore(j, op, after, since)
		}
		return err
	})
	return w, err
}

// restore takes in what a restore of the session did, and returns how far back its work is to be read. One of the whole tree, of some paths
// to a step, and an undo-restore are jumps; what else set some paths is a step.
func (w *work) restore(j *Judge, op *refs.Operation, after *oplog.Lookups, since uint64) (uint64, error) {
	from, to, err := j.set(op)
	if err != nil {
		return since, err
	}
	target, err := j.e.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return since, err
	}
	limited := len(op.Restore.Paths) > 0
	if limited && op.Kind != refs.KindUndoRestore && (op.Kind != refs.KindCheckout || target.Cause.Event == model.EventSafety) {
		w.steps = append(w.steps, ownStep{op.Seq, Step{
			nil, from, to, func(ch tree.Change) (bool, error) {
				if op.Restore.Kept == 0 { // all of it was set
					return op.Restore.Paths.Has(ch.Path), nil
				}
				return left(op, after, ch)
			},
		}})
		return since, nil
	}
	known, err := j.e.log.Accounts(target)
	if err != nil {
		return since, err
	}
	get := oplog.Lenient{Store: j.e.log.Objs}
	is, has := oplog.NewLookups(get, to), oplog.NewLookups(get, known.Tree)
	if limited {
		is, has = after, oplog.NewLookups(get, target.Tree)
	}
	w.jumps = append(w.jumps, jump{op.Seq, target.Seq, func(path string) (bool, error) {
		if limited && (op.Restore.Kept == 0 || !op.Restore.Paths.Has(path)) {
			return op.Restore.Paths.Has(path), nil
		}
		a, err := is.Find(path)
		if err != nil {
			return false, err
		}
		b, err := has.Find(path)
		return err == nil && tree.Same(a, b), err
	}})
	return min(since, target.Seq), nil
}

// wrote reports whether what a checkpoint's authors did is the session's alone, or its past. A person's session has what is nobody's.
func (j *Judge) wrote(cp *model.Checkpoint, by []string) bool {
	if who, _ := j.of(cp, by); who != "" {
		return false
	}
	if j.session == model.Manual {
		return len(by) == 0 && cp.Session == model.Manual
	}
	return slices.ContainsFunc(by, func(name string) bool { return name != model.Manual })
}

// ownRestore is wrote for what a restore set.
func (j *Judge) ownRestore(op *refs.Operation) bool {
	who, _ := j.colleague([]string{op.Session}, op.Seq-1)
	return who == "" && (op.Session != model.Manual || j.session == model.Manual)
}
