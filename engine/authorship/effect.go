package authorship

import (
	"slices"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Behind returns the steps behind a target that going there takes away, the oldest first. Of what checkpoints changed,
// and of what restores set, it has the paths that are taken away. If the list is whole, the reverse of each step, the
// last one first, leads to the target. The list is not whole where gc has merged steps, or removed what a restore set.
func (a *Authors) Behind(g Going, target *model.Checkpoint, c *capture.Capture) (list []Step, whole bool, err error) {
	j, err := a.Judge(g)
	if err != nil {
		return nil, false, err
	}
	then, err := j.beganOn(target)
	if err != nil {
		return nil, false, err
	}
	w := &behind{j: j, later: oplog.NewLookups(c.Get, c.Res.Root)}
	if err := w.unsaved(c); err != nil {
		return nil, false, err
	}
	err = a.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= then {
			return kv.ErrStop
		}
		return w.older(op)
	})
	w.add()
	slices.Reverse(w.list)
	return w.list, !w.cut, err
}

// behind reads what is behind a target, the newest first.
type behind struct {
	j     *Judge
	later *oplog.Lookups // the worktree at an operation behind
	list  []Step
	newer *Step // the newest one that is not in list: it is not known yet from where it led
	cut   bool  // at what cannot be reversed
}

// add puts a step into the list when the next older one is known: it begins at the head that was.
func (w *behind) add(older ...Step) {
	if w.newer != nil {
		w.list = append(w.list, *w.newer)
	}
	if w.newer = nil; len(older) > 0 {
		w.newer = &older[0]
	}
}

// unsaved begins with what the capture finds that is in no checkpoint.
func (w *behind) unsaved(c *capture.Capture) error {
	was, err := w.j.e.log.Head()
	if err != nil {
		return err
	}
	seq := w.j.e.log.DB.LastSeq() + 1
	of, err := w.j.e.worktree.Whose(w.j.e.worktree.OpenCalls())
	if err != nil {
		return err
	}
	its := func(ch tree.Change) (bool, error) {
		by, err := of(ch)
		return w.j.judge(by, seq).stays == "" && w.j.takes(by, nil), err
	}
	w.add(Step{From: was.Tree, To: c.Res.Root, Unsaved: true, Wrote: its})
	return nil
}

func (w *behind) older(op *refs.Operation) error {
	after := w.later // of this operation
	cp, err := w.j.look(op, &w.later)
	switch {
	case err != nil:
		return err
	case cp != nil && cp.Merged > 0:
		w.cut = true
		return kv.ErrStop // it has what several did, one after the other
	case op.Kind == refs.KindCheckpoint:
		from, err := w.j.e.log.Before(cp)
		of := cp.AuthorsOf()
		its := func(ch tree.Change) (bool, error) { return w.j.wrote(cp, of(ch.Path)), nil }
		w.add(Step{Checkpoint: cp, From: from, To: cp.Tree, Wrote: its})
		return err
	case op.Kind.IsRestore() && op.Thinned && w.j.ownRestore(op):
		w.cut = true
		return kv.ErrStop // gc has removed what it set: what lies before cannot be reversed behind it, and stays
	case isSetting(op) && op.Thinned:
		w.add()
	case isSetting(op):
		return w.restore(op, after)
	}
	return nil
}

// restore adds what a restore set, and in front of it what it found unsaved, which is in no checkpoint but its safety
// one.
func (w *behind) restore(op *refs.Operation, after *oplog.Lookups) error {
	set, err := w.j.laidOut(op, after)
	if err != nil {
		return err
	}
	w.beganBehind(set)
	back, err := w.j.undoneBy(op)
	if err != nil {
		return err
	}
	if w.j.ownRestore(op) {
		w.list = append(w.list, back.without(set, w.j.KeepsPerson()))
	}
	safety, err := w.j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return err
	}
	was, err := w.j.e.log.Accounts(safety)
	of := safety.AuthorsOf()
	w.add(Step{From: was.Tree, To: safety.Tree, Wrote: func(ch tree.Change) (bool, error) {
		return w.j.wrote(safety, of(ch.Path)), nil
	}})
	return err
}

// beganBehind puts the newer step into the list as one that began where a restore had left the worktree, and not at the
// head. The head lacks two things: paths that a restore of some paths had set, and unsaved changes that the restore had
// found and left.
func (w *behind) beganBehind(restore Step) {
	if w.newer == nil {
		return
	}
	get := oplog.Lenient{Store: w.j.e.log.Objs}
	was, is := oplog.NewLookups(get, restore.From), oplog.NewLookups(get, restore.To)
	newer := *w.newer
	at := func(from objstore.ID, where bool) Step {
		s := newer
		s.From = from
		s.Wrote = func(ch tree.Change) (bool, error) {
			if set, err := restore.has(ch.Path, was, is); err != nil || set != where {
				return false, err
			}
			return newer.Wrote(ch)
		}
		return s
	}
	w.list = append(w.list, at(restore.To, true), at(restore.From, false))
	w.newer = nil
}

// has reports whether the step changed a path, from the state of a tree to that of another.
func (s *Step) has(path string, from, to *oplog.Lookups) (bool, error) {
	was, err := from.Find(path)
	if err != nil {
		return false, err
	}
	is, err := to.Find(path)
	if err != nil || tree.Same(was, is) {
		return false, err
	}
	return s.Wrote(tree.Change{Path: path, Old: was, New: is})
}

// laidOut returns what a restore did to the worktree; later has the worktree's state at some later operation. For a
// restore of the whole tree these are the paths where it moved the head, and unsaved paths that now equal the target's.
func (j *Judge) laidOut(op *refs.Operation, later *oplog.Lookups) (Step, error) {
	from, to, err := j.set(op)
	if paths := op.Restore.Paths; err != nil || len(paths) > 0 {
		return Step{From: from, To: to, Wrote: func(ch tree.Change) (bool, error) { return left(op, later, ch) }}, err
	}
	safety, err := j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return Step{}, err
	}
	target, err := j.e.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return Step{}, err
	}
	get := oplog.Lenient{Store: j.e.log.Objs}
	was, is, of := oplog.NewLookups(get, from), oplog.NewLookups(get, to), safety.AuthorsOf()
	return Step{From: safety.Tree, To: target.Tree, Wrote: func(ch tree.Change) (bool, error) {
		if op.Restore.Kept == 0 && op.Restore.Result.IsZero() {
			return true, nil
		}
		before, err := was.Find(ch.Path)
		if err != nil {
			return false, err
		}
		after, err := is.Find(ch.Path)
		if err != nil || !tree.Same(before, after) {
			return err == nil, err
		}
		if tree.Same(before, ch.Old) {
			return false, nil // it was in the head, and stayed: who set it as the target has it came behind the restore
		}
		if !op.Restore.Exact && j.kept(op, safety, of(ch.Path)) {
			return false, nil // the same of what was unsaved
		}
		now, err := later.Find(ch.Path)
		return err == nil && tree.Same(now, ch.New), err
	}}, nil
}

// kept reports whether a restore kept what authors had changed before its safety checkpoint: a colleague's, and a
// person's where it took a session's work back alone.
func (j *Judge) kept(op *refs.Operation, safety *model.Checkpoint, authors []string) bool {
	if len(authors) == 0 {
		return op.Restore.TakesBack
	}
	return j.of(safety, authors).stays != ""
}

// wrote reports whether what a checkpoint's authors did is taken away by who goes back.
func (j *Judge) wrote(cp *model.Checkpoint, by []string) bool {
	return j.of(cp, by).stays == "" && j.takes(by, cp)
}

// takes reports whether what nobody keeps is taken away; cp is nil for what is in no checkpoint.
func (j *Judge) takes(by []string, cp *model.Checkpoint) bool {
	if all := j.Way == GoTo || j.Way == AsItWas; len(by) == 0 && all {
		return true
	} else if j.Session == model.Manual && !all {
		return len(by) == 0 && cp != nil && cp.Session == model.Manual
	}
	return slices.ContainsFunc(by, func(name string) bool { return name != model.Manual })
}

// ownRestore is wrote for what a restore set.
func (j *Judge) ownRestore(op *refs.Operation) bool {
	return j.ofRestore(op).stays == "" && (op.Session != model.Manual || j.Session == model.Manual)
}
