package authorship

import (
	"errors"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// undone has the paths that were changed in steps which an undo took back, or a redo or an undo-restore of it brought
// again, or which lie behind a state to which somebody went; true: a person alone changed it. That is a person's again:
// who takes back a step of their own does nothing for a session.
type undone map[string]bool

// maxUndone bounds how many steps are looked at.
const maxUndone = 1 << 10

// undoneBy has what was changed in the steps that an operation took back or brought again; nil: it did neither, or they
// are not known.
func (j *Judge) undoneBy(op *refs.Operation) (undone, error) {
	op, err := j.setBackBy(op)
	if err != nil {
		return nil, err
	}
	switch op.Kind {
	case refs.KindUndo, refs.KindRedo:
		return j.walkedBy(op)
	case refs.KindCheckout, refs.KindSwitch:
		return j.passedBy(op)
	}
	return nil, nil
}

// walkedBy is undoneBy for an undo or a redo: its steps lie between the places of the cursor.
func (j *Judge) walkedBy(op *refs.Operation) (undone, error) {
	newest, oldest := objstore.ID{}, objstore.ID{}
	for _, c := range op.Changes {
		if c.Name == refs.Cursor(op.Session) {
			newest, oldest = c.Old, c.New
		}
	}
	if op.Kind == refs.KindRedo {
		newest, oldest = oldest, newest
	}
	u := undone{}
	for n, id := 0, newest; id != oldest; n++ {
		cp, err := j.e.log.Checkpoint(id)
		if model.IsLost(err) || n == maxUndone {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if id = cp.Parent(); id.IsZero() {
			return nil, nil
		}
		if err := j.addUndone(u, cp); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// passedBy is undoneBy for a restore that went to a state: of the steps behind that, and of what it found unsaved. It
// took what a person had done in them away, or left it.
func (j *Judge) passedBy(op *refs.Operation) (undone, error) {
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
	steps, err := j.e.log.StepsBetween(target.Seq, op.Seq, maxUndone)
	if err != nil || steps == nil {
		return nil, err
	}
	u := undone{}
	err = j.addChanged(u, head.Tree, safety)
	for _, cp := range steps {
		err = errors.Join(err, j.addUndone(u, cp))
	}
	return u, err
}

func (j *Judge) addUndone(u undone, cp *model.Checkpoint) error {
	from, err := j.e.log.Before(cp)
	if err != nil {
		return err
	}
	return j.addChanged(u, from, cp)
}

// addChanged adds what lies between a tree and that of a checkpoint.
func (j *Judge) addChanged(u undone, from objstore.ID, cp *model.Checkpoint) error {
	of := cp.AuthorsOf()
	return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
		yours, known := u[ch.Path]
		u[ch.Path] = len(of(ch.Path)) == 0 && (yours || !known)
		return nil
	})
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

// without is a step without what the person had done and took back, where that is to stay.
func (u undone) without(set Step, stays bool) Step {
	if len(u) == 0 || !stays {
		return set
	}
	wrote := set.Wrote
	set.Wrote = func(ch tree.Change) (bool, error) {
		if u[ch.Path] {
			return false, nil
		}
		return wrote(ch)
	}
	return set
}
