package authorship

import (
	"errors"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// undone are the steps that an undo took back, or a redo or an undo-restore of it brought again, and those behind a
// state to which somebody went. What a person had done in them is a person's again: who takes back a step of their own
// does nothing for a session.
type undone []undoneStep

type undoneStep struct {
	was, is *oplog.Lookups
	of      func(path string) []string
}

// maxUndone bounds how many steps are looked at.
const maxUndone = 64

// undoneBy are the steps that an operation took back or brought again; none: it did neither, or they are not known.
func (j *Judge) undoneBy(op *refs.Operation) (list undone, err error) {
	if op, err = j.setBackBy(op); err != nil {
		return nil, err
	}
	switch op.Kind {
	case refs.KindUndo, refs.KindRedo:
	case refs.KindCheckout, refs.KindSwitch:
		return j.passedBy(op)
	default:
		return nil, nil
	}
	newest, oldest := objstore.ID{}, objstore.ID{}
	for _, c := range op.Changes {
		if c.Name == refs.Cursor(op.Session) {
			newest, oldest = c.Old, c.New
		}
	}
	if op.Kind == refs.KindRedo {
		newest, oldest = oldest, newest
	}
	get := oplog.Lenient{Store: j.e.log.Objs}
	for id := newest; id != oldest; {
		cp, err := j.e.log.Checkpoint(id)
		if model.IsLost(err) || len(list) == maxUndone {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(cp.Parents) == 0 {
			return nil, nil
		}
		from, err := j.e.log.Before(cp)
		if err != nil {
			return nil, err
		}
		list = append(list, undoneStep{oplog.NewLookups(get, from), oplog.NewLookups(get, cp.Tree), cp.AuthorsOf()})
		id = cp.Parents[0]
	}
	return list, nil
}

// passedBy are the steps between a state and a restore that went there, with what that found unsaved: what a person
// alone had done in them it took away, or left behind. None: it set some paths, or they are not known.
func (j *Judge) passedBy(op *refs.Operation) (list undone, err error) {
	whole := isSetting(op) && len(op.Restore.Paths) == 0
	if !whole || op.Thinned || !j.KeepsPerson() {
		return nil, nil
	}
	target, _, err := j.asked(op.Restore.Target)
	if err != nil {
		return nil, err
	}
	safety, err := j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return nil, err
	}
	head, err := j.e.log.Accounts(safety)
	if err != nil {
		return nil, err
	}
	get := oplog.Lenient{Store: j.e.log.Objs}
	add := func(from objstore.ID, cp *model.Checkpoint) {
		list = append(list, undoneStep{oplog.NewLookups(get, from), oplog.NewLookups(get, cp.Tree), cp.AuthorsOf()})
	}
	add(head.Tree, safety)
	_, err = j.e.log.NewestMade(op.Seq-1, func(of *refs.Operation) (bool, error) {
		if of.Seq <= target.Seq {
			return false, kv.ErrStop
		}
		if of.Kind != refs.KindCheckpoint {
			return false, nil
		}
		cp, err := j.e.log.Checkpoint(of.Checkpoint)
		if lost := model.IsLost(err); lost || len(list) == maxUndone {
			list = nil
			return false, kv.ErrStop
		}
		if err != nil {
			return false, err
		}
		from, err := j.e.log.Before(cp)
		add(from, cp)
		return false, err
	})
	return list, err
}

// setBackBy is the operation that an undo-restore, over any number of others, sets back; itself where it is none, or
// that is not known any more.
func (j *Judge) setBackBy(op *refs.Operation) (*refs.Operation, error) {
	for n := 0; op.Kind.Undoes() && n < maxUndone; n++ {
		of, err := j.e.log.Refs.Operation(op.Restore.Undoes)
		if errors.Is(err, refs.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		op = of
	}
	return op, nil
}

// persons reports whether a person alone had changed a path in the steps.
func (u undone) persons(path string) (is bool, err error) {
	for _, s := range u {
		was, err := s.was.Find(path)
		if err != nil {
			return false, err
		}
		now, err := s.is.Find(path)
		switch {
		case err != nil:
			return false, err
		case tree.Same(was, now):
		case len(s.of(path)) > 0:
			return false, nil
		default:
			is = true
		}
	}
	return is, nil
}

// without is a step without what the person had done and took back, where that is to stay.
func (u undone) without(set Step, stays bool) Step {
	if len(u) == 0 || !stays {
		return set
	}
	wrote := set.Wrote
	set.Wrote = func(ch tree.Change) (bool, error) {
		if is, err := u.persons(ch.Path); is || err != nil {
			return false, err
		}
		return wrote(ch)
	}
	return set
}
