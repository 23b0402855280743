package authorship

import (
	"errors"
	"slices"
	"sort"

	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// undone has the paths of steps that an undo took back, of steps that its redo or undo-restore brought again, and of
// steps after a state to which somebody went. true: a person alone changed the path. That is a person's again: who
// takes back a step of their own does nothing for a session.
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
	steps, known, err := j.passed.between(j.e.log, target.Seq, op.Seq)
	if err != nil || !known {
		return nil, err
	}
	found, err := j.touchedIn(head.Tree, safety)
	if err != nil {
		return nil, err
	}
	u := undone{}
	u.add(found)
	for _, cp := range steps {
		if err := j.addUndone(u, cp); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// addUndone adds what a step changed. Many restores pass the same steps: each is compared once.
func (j *Judge) addUndone(u undone, cp *model.Checkpoint) error {
	list, known := j.passed.changed[cp.ID]
	if !known {
		from, err := j.e.log.Before(cp)
		if err != nil {
			return err
		}
		if list, err = j.touchedIn(from, cp); err != nil {
			return err
		}
		if j.passed.changed == nil {
			j.passed.changed = map[objstore.ID][]touched{}
		}
		j.passed.changed[cp.ID] = list
	}
	u.add(list)
	return nil
}

// touched is a path that a step changed; persons: nobody's call did.
type touched struct {
	path    string
	persons bool
}

func (u undone) add(list []touched) {
	for _, t := range list {
		yours, known := u[t.path]
		u[t.path] = t.persons && (yours || !known)
	}
}

// touchedIn are the paths that lie between a tree and that of a checkpoint.
func (j *Judge) touchedIn(from objstore.ID, cp *model.Checkpoint) (list []touched, err error) {
	of := cp.AuthorsOf()
	err = tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
		list = append(list, touched{ch.Path, len(of(ch.Path)) == 0})
		return nil
	})
	return list, err
}

// walked are the steps that restores passed, the newest first, each read once.
type walked struct {
	steps   []*model.Checkpoint // nil: not known any more
	seqs    []uint64            // their operations
	changed map[objstore.ID][]touched
}

// between are the steps behind an operation and before another one. They are not known if there are more than
// maxUndone, or one of them was lost.
func (p *walked) between(log *oplog.Log, behind, before uint64) (list []*model.Checkpoint, known bool, err error) {
	if err := p.readOn(log, behind, before); err != nil {
		return nil, false, err
	}
	list = p.steps[p.before(before):p.before(behind+1)]
	return list, len(list) <= maxUndone && !slices.Contains(list, nil), nil
}

// readOn reads steps until one is there that is not behind an operation, or more than maxUndone before the other.
func (p *walked) readOn(log *oplog.Log, behind, before uint64) error {
	enough := func() bool {
		n := len(p.seqs)
		return n > 0 && (p.seqs[n-1] <= behind || n-p.before(before) > maxUndone)
	}
	if enough() {
		return nil
	}
	oldest := uint64(0) // none was read: from the newest on
	if n := len(p.seqs); n > 0 {
		oldest = p.seqs[n-1]
	}
	return log.StepsBefore(oldest, func(op *refs.Operation, cp *model.Checkpoint) error {
		p.seqs, p.steps = append(p.seqs, op.Seq), append(p.steps, cp)
		if enough() {
			return kv.ErrStop
		}
		return nil
	})
}

// before is where those begin that lie before an operation.
func (p *walked) before(seq uint64) int {
	return sort.Search(len(p.seqs), func(i int) bool { return p.seqs[i] < seq })
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
