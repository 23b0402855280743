package authorship

import (
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/refs"
	"rewind/tree"
)

// Theirs tells of paths whose change they are. A key that ends with a slash stands for all below a directory.
type Theirs map[string]string

// Of gives the session that changed a path; "": none did.
func (t Theirs) Of(path string) string {
	by, _ := t.find(path)
	return by
}

// find is of, and whether the path is in it at all.
func (t Theirs) find(path string) (by string, known bool) {
	if by, known := t[path]; known {
		return by, true
	}
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if by, known := t[path[:i+1]]; known {
			return by, true
		}
	}
	by, known = t["/"]
	return by, known
}

// add takes in a change, unless a newer one of that path is in it.
func (t Theirs) add(path, by string) bool {
	if _, known := t[path]; known {
		return false
	}
	t[path] = by
	return true
}

// Others lists the paths that colleagues of a session changed after target, with whose change it was: as checkpoints and restores say,
// and of what the capture finds unsaved, those whose calls are running. both are those of which it is not known whether this session
// wrote them, too. back: what their restores took of this session's own, and target has, is not listed.
func (a *Authors) Others(session string, target *model.Checkpoint, c *capture.Capture, back bool) (paths Theirs, both map[string]bool, err error) {
	paths, both = Theirs{}, map[string]bool{}
	j, err := a.Judge(session)
	if err != nil {
		return paths, both, err
	}
	set := map[string]foundBy{}
	note := func(op *refs.Operation, ch tree.Change, who string, shared bool) {
		switch {
		case who == "" || !paths.add(ch.Path, who):
		case shared:
			both[ch.Path] = true
		case op != nil && op.Kind.IsRestore():
			set[ch.Path] = foundBy{op.Seq, who, ch.Old}
		}
	}
	if err := j.unsaved(c, note); err != nil {
		return nil, nil, err
	}
	later := oplog.NewLookups(c.Get, c.Res.Root)
	since, err := a.beganOn(j.session, target)
	if err != nil {
		return nil, nil, err
	}
	err = a.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= since {
			return kv.ErrStop
		}
		return j.changed(op, &later, false, note)
	})
	if err == nil && back {
		err = j.giveBack(paths, set, target)
	}
	return paths, both, err
}

// beganOn is the operation behind which changes count for a restore to a checkpoint: the one that made it, or if the session's first event
// found the worktree as that checkpoint has it, that event, for what was done and taken back in between is in neither. A fork does not
// begin so: what was kept beside it is not its own.
func (a *Authors) beganOn(session string, cp *model.Checkpoint) (uint64, error) {
	s := a.log.Records[session]
	if s == nil || s.Fork != nil || s.Began <= cp.Seq {
		return cp.Seq, nil
	}
	since, cursor := cp.Seq, refs.Cursor(session)
	err := a.log.Refs.Newest(s.Began+beginnings, func(op *refs.Operation) error {
		if op.Seq < s.Began {
			return kv.ErrStop
		}
		for _, c := range op.Changes {
			if op.Kind == refs.KindEvent && c.Name == cursor && c.Old.IsZero() && c.New == cp.ID {
				since = op.Seq
				return kv.ErrStop
			}
		}
		return nil
	})
	return since, err
}

// beginnings is how many operations of one batch are looked at for the one that gave a session its place.
const beginnings = 64

// visitor is told of a path that somebody changed: at which operation (nil: it is not saved yet), from what to what as far as that is
// known, the colleague whose change that was ("": none's), and whether it is also the session's own.
type visitor func(op *refs.Operation, ch tree.Change, who string, shared bool)

// unsaved calls fn for what differs from the head and was changed by a colleague whose call is running.
func (j *Judge) unsaved(c *capture.Capture, fn visitor) error {
	calls := j.e.worktree.OpenCalls()
	work := false
	for name := range calls {
		work = work || j.stranger(name, j.e.log.DB.LastSeq()+1)
	}
	if !work {
		return nil
	}
	was, err := j.e.log.Head()
	if err != nil {
		return err
	}
	of := calls.Authors()
	return tree.Diff(c.Get, was.Tree, c.Res.Root, func(ch tree.Change) error {
		who, shared := j.colleague(of(ch.Path), j.e.log.DB.LastSeq()+1)
		fn(nil, ch, who, shared)
		return nil
	})
}

// changed calls fn for each path that an operation changed, with the colleague whose change that was; "": it was none's. all false: of
// operations that no colleague has part in nothing is told. later is the worktree some time after it; it is set to what it was before.
func (j *Judge) changed(op *refs.Operation, later **oplog.Lookups, all bool, fn visitor) error {
	switch {
	case op.Kind == refs.KindCheckpoint, op.Kind == refs.KindSafety:
		cp, err := j.e.log.Checkpoint(op.Checkpoint)
		if err != nil {
			return err
		}
		*later = oplog.NewLookups(oplog.Lenient{Store: j.e.log.Objs}, cp.Tree)
		if op.Kind == refs.KindSafety {
			return nil
		}
		if who, _ := j.of(cp, cp.Authors()); who == "" && !all {
			return nil
		}
		return j.step(op, cp, fn)
	case op.Kind.IsRestore() && op.Restore != nil && !op.Restore.ContextOnly:
		who, _ := j.colleague([]string{op.Session}, op.Seq-1) // the one that it made begins with it
		if who == "" && !all {
			return nil
		}
		return j.restore(op, *later, func(ch tree.Change) { fn(op, ch, who, false) })
	}
	return nil
}

// step is changed for a checkpoint.
func (j *Judge) step(op *refs.Operation, cp *model.Checkpoint, fn visitor) error {
	of := cp.AuthorsOf()
	for _, path := range cp.Reverted {
		who, shared := j.of(cp, of(path))
		fn(op, tree.Change{Path: path}, who, shared)
	}
	from, err := j.e.log.Before(cp)
	if err != nil {
		return err
	}
	return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
		who, shared := j.of(cp, of(ch.Path))
		fn(op, ch, who, shared)
		return nil
	})
}

// restore is changed for a restore: what it set is the change of the session that went back. One of a whole tree is told by what was
// known before and after; one of some paths by what is there later as its target has it.
func (j *Judge) restore(op *refs.Operation, later *oplog.Lookups, fn func(tree.Change)) error {
	safety, err := j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return err
	}
	target, err := j.e.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return err
	}
	if paths := op.Restore.Paths; len(paths) > 0 {
		return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, safety.Tree, target.Tree, func(ch tree.Change) error {
			if !paths.Has(ch.Path) {
				return nil
			}
			is, err := later.Find(ch.Path)
			if err == nil && tree.Same(is, ch.New) {
				fn(ch)
			}
			return err
		})
	}
	from, err := j.e.log.Accounts(safety)
	if err != nil {
		return err
	}
	to := op.Restore.Result
	if to.IsZero() {
		h, err := j.e.log.Accounts(target)
		if err != nil {
			return err
		}
		to = h.Tree
	}
	return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from.Tree, to, func(ch tree.Change) error {
		fn(ch)
		return nil
	})
}

// stretch is the log from a state of a session's line back, as far as it was asked about.
type stretch struct {
	j       *Judge
	newer   *model.Checkpoint
	seen    uint64 // the oldest operation that was looked at; one after newer: none
	taken   uint64 // the oldest whose changes are in last
	work    bool   // a colleague has part in one of them
	last    Theirs // of each path whose change the last one was; "": no colleague's alone
	earlier *oplog.Lookups
}

// Stretch begins to compare a step, newer, with those before it; what the walk meets between is looked at once.
func (j *Judge) Stretch(newer *model.Checkpoint) *stretch {
	return &stretch{
		j: j, newer: newer, seen: newer.Seq + 1, taken: newer.Seq + 1, last: Theirs{}, earlier: oplog.NewLookups(oplog.Lenient{Store: j.e.log.Objs}, newer.Tree),
	}
}

// Same reports whether the state is for the session what an older one is: they differ in nothing but what colleagues changed last
// between the two.
func (s *stretch) Same(older *model.Checkpoint) (bool, error) {
	if s.newer.Tree == older.Tree {
		return true, nil
	}
	if !s.work {
		var none *oplog.Lookups
		err := s.back(&s.seen, older.Seq, func(op *refs.Operation) error {
			return s.j.changed(op, &none, false, func(_ *refs.Operation, _ tree.Change, who string, _ bool) { s.work = s.work || who != "" })
		})
		if err != nil || !s.work {
			return false, err
		}
	}
	err := s.back(&s.taken, older.Seq, func(op *refs.Operation) error {
		return s.j.changed(op, &s.earlier, true, func(_ *refs.Operation, ch tree.Change, who string, shared bool) {
			if shared {
				who = ""
			}
			s.last.add(ch.Path, who)
		})
	})
	same := err == nil
	if err == nil {
		err = tree.Diff(oplog.Lenient{Store: s.j.e.log.Objs}, older.Tree, s.newer.Tree, func(ch tree.Change) error {
			if s.last.Of(ch.Path) == "" {
				same = false
				return tree.SkipAll
			}
			return nil
		})
	}
	return same, err
}

// back walks from before an operation down to the one after another.
func (s *stretch) back(from *uint64, until uint64, fn func(*refs.Operation) error) error {
	if *from <= until+1 {
		return nil
	}
	err := s.j.e.log.Refs.Newest(*from-1, func(op *refs.Operation) error {
		if op.Seq <= until {
			return kv.ErrStop
		}
		return fn(op)
	})
	*from = until + 1
	return err
}
