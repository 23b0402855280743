package authorship

import (
	"rewind/engine/oplog"
	"rewind/refs"
	"rewind/tree"
)

// takenBack finds, in a walk from the newest operation on, what a restore set and an undo-restore behind it set back:
// together that is no change of anybody's.
type takenBack struct {
	j     *Judge
	since uint64                     // the walk ends there
	both  map[uint64]map[string]bool // by restore, the paths that were set back
	last  *setBetween                // what the undo-restore that is looked at has taken back
	err   error
}

// takenBack begins with a walk that ends at the operation since.
func (j *Judge) takenBack(since uint64) *takenBack {
	return &takenBack{j: j, since: since, both: map[uint64]map[string]bool{}}
}

// setBetween is what a restore set: the trees between which it lies.
type setBetween struct {
	by      uint64          // the undo-restore
	op      *refs.Operation // nil: it is not known
	was, is *oplog.Lookups
}

// without is a visitor that is not told of such changes.
func (t *takenBack) without(fn visitor) visitor {
	return func(op *refs.Operation, ch tree.Change, d judged) {
		is := false
		if op != nil && op.Kind.IsRestore() && t.err == nil {
			is, t.err = t.has(op, ch)
		}
		if !is {
			fn(op, ch, d)
		}
	}
}

// has reports whether a change by a restore is one of such a pair.
func (t *takenBack) has(op *refs.Operation, ch tree.Change) (bool, error) {
	if t.both[op.Seq][ch.Path] {
		return true, nil
	}
	if !op.Kind.Undoes() || op.Restore.Undoes <= t.since {
		return false, nil
	}
	if err := t.read(op); err != nil || t.last.op == nil {
		return false, err
	}
	if back, err := t.last.setBack(ch); err != nil || !back {
		return false, err
	}
	of := t.last.op.Seq
	if t.both[of] == nil {
		t.both[of] = map[string]bool{}
	}
	t.both[of][ch.Path] = true
	return true, nil
}

// setBack reports whether a change is the reverse of what was set at its path.
func (s *setBetween) setBack(ch tree.Change) (bool, error) {
	if paths := s.op.Restore.Paths; len(paths) > 0 && !paths.Has(ch.Path) {
		return false, nil
	}
	was, err := s.was.Find(ch.Path)
	if err != nil || !tree.Same(was, ch.New) {
		return false, err
	}
	is, err := s.is.Find(ch.Path)
	return err == nil && tree.Same(is, ch.Old), err
}

// read reads what an undo-restore has taken back. It is not known where gc has removed that.
func (t *takenBack) read(by *refs.Operation) error {
	if t.last != nil && t.last.by == by.Seq {
		return nil
	}
	t.last = &setBetween{by: by.Seq}
	op, err := t.j.e.log.Refs.Operation(by.Restore.Undoes)
	if err != nil || !isSetting(op) || op.Thinned {
		return err
	}
	from, to, err := t.j.set(op)
	if err != nil {
		return err
	}
	get := oplog.Lenient{Store: t.j.e.log.Objs}
	t.last.op, t.last.was, t.last.is = op, oplog.NewLookups(get, from), oplog.NewLookups(get, to)
	return nil
}
