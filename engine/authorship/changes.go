package authorship

import (
	"errors"
	"math"

	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Theirs has for paths the session that changed them. A key that ends with a slash stands for all below a directory.
type Theirs map[string]string

// Of is the session that changed a path; "": none.
func (t Theirs) Of(path string) string {
	by, _ := t.find(path)
	return by
}

// find is Of; known: path has an entry, or a directory above it has.
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

// add enters a change, unless a newer one of that path is there; it reports whether it did.
func (t Theirs) add(path, by string) bool {
	if _, known := t[path]; known {
		return false
	}
	t[path] = by
	return true
}

// Since is what others than a session's line changed behind a target, by path.
type Since struct {
	Stay   Theirs          // whose change keeps the path: a colleague's, else model.Manual's
	Shared map[string]bool // those of Stay that the session may have changed, too
	Went   Theirs          // who else changed it last, and is no reason to keep it: a session, or model.Manual

	hands   map[string]hand    // of a person, also of Stay
	set     map[string]foundBy // by colleagues' restores
	kept    map[string]uint64  // of Stay, the newest operation that changed the path
	persons map[string]bool    // by path, whether its newest change is a person's and is no reason to keep it
}

// KeptBy is who is told to have changed a path that stays: who did last.
func (s *Since) KeptBy(path string) string {
	if s.persons[path] {
		return model.Manual
	}
	return s.Stay.Of(path)
}

// Yours reports whether there is, in a path as it is now, what a person changed, also of Stay. merged says that the
// path is merged: what another session changed behind it stays then, and does not hide that the person's change goes.
func (s *Since) Yours(path string, merged bool) bool {
	h := s.hands[path]
	return h.newest || merged && h.any
}

// Before reports whether what keeps a path was done before an operation.
func (s *Since) Before(path string, seq uint64) bool { return s.kept[path] < seq }

// SharedWith are the sessions that may have written what the session may have changed, too.
func (s *Since) SharedWith() (by []string) {
	for path := range s.Shared {
		by = append(by, s.Stay.Of(path))
	}
	return model.Sorted(by)
}

// Others has what others changed behind a target, in the eyes of who goes back: as checkpoints and restores say, and
// what the capture finds unsaved. back leaves out what colleagues' restores took of this session's own work, where
// target has it.
func (a *Authors) Others(g Going, target *model.Checkpoint, c *capture.Capture, back bool) (*Since, error) {
	j, err := a.Judge(g)
	if err != nil {
		return nil, err
	}
	s := &Since{
		Stay: Theirs{}, Shared: map[string]bool{}, Went: Theirs{}, hands: map[string]hand{},
		set: map[string]foundBy{}, kept: map[string]uint64{}, persons: map[string]bool{},
	}
	since, err := j.beganOn(target)
	if err != nil {
		return nil, err
	}
	pairs, yours := j.takenBack(since), j.trails(oplog.NewLookups(c.Get, c.Res.Root))
	keeps := withoutNothing(s.note, g.Way != ByStep)
	changes := holding(keeps.visit)
	stays := pairs.without(changes.visit)
	visit := func(op *refs.Operation, ch tree.Change, d judged) {
		if op != nil && op.Seq <= since {
			return // what a restore found that is taken back here: the target has it
		}
		yours.visit(op, ch, d)
		stays(op, ch, d)
	}
	if err := j.unsaved(c, visit); err != nil {
		return nil, err
	}
	later := oplog.NewLookups(c.Get, c.Res.Root)
	err = a.log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Seq <= since {
			return kv.ErrStop
		}
		err := j.changed(op, &later, false, visit)
		if isSetting(op) && !op.Thinned && j.alone(op) {
			err = errors.Join(err, j.restore(op, nil, func(ch tree.Change) error {
				yours.visit(op, ch, judged{})
				return nil
			}))
		}
		return errors.Join(err, pairs.err, yours.err)
	})
	changes.end()
	keeps.end()
	yours.tell(s.hands)
	if err == nil && back {
		err = j.giveBack(s.Stay, s.set, target)
	}
	return s, err
}

// note takes in a change, the newest of a path first.
func (s *Since) note(op *refs.Operation, ch tree.Change, d judged) {
	restored := op != nil && op.Kind.IsRestore()
	goes := d.stays == ""
	if _, known := s.persons[ch.Path]; !known {
		s.persons[ch.Path] = goes && d.byNobody()
	}
	if goes && d.other != "" {
		s.Went.add(ch.Path, d.other)
	}
	if !goes {
		s.kept[ch.Path] = max(s.kept[ch.Path], seqOf(op))
	}
	switch {
	case goes || !s.stay(ch.Path, d.stays):
	case d.shared:
		s.Shared[ch.Path] = true
	case restored:
		s.set[ch.Path] = foundBy{op.Seq, d.stays, ch.Old, op.Restore.TakesBack}
	}
}

// seqOf is an operation's number; of what is unsaved one behind all.
func seqOf(op *refs.Operation) uint64 {
	if op == nil {
		return math.MaxUint64
	}
	return op.Seq
}

// stay enters whose change keeps a path: the newest one's, but a colleague's before a person's. It reports whether it
// did.
func (s *Since) stay(path, by string) bool {
	if s.Stay[path] == model.Manual && by != model.Manual {
		delete(s.Stay, path)
	}
	return s.Stay.add(path, by)
}

// beganOn is the operation after which changes count for a restore to a checkpoint: the one that made it. If the
// session's first event found the worktree as the checkpoint has it, it is that event, since what was changed and
// changed back in between is in neither. For a fork it is not: what a restore kept for others is not its own.
func (j *Judge) beganOn(cp *model.Checkpoint) (uint64, error) {
	if j.Only != nil {
		return j.From, nil
	}
	s := j.e.log.Session(j.Session)
	since, cursor := max(cp.Seq, j.From), refs.Cursor(j.Session)
	if s == nil || s.Fork != nil || s.Began <= since {
		return since, nil
	}
	err := j.e.log.Refs.Newest(s.Began+beginnings, func(op *refs.Operation) error {
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

// beginnings is how many operations, from a session's first, are searched for the one that made its cursor.
const beginnings = 64

// visitor gets a path that somebody changed: the operation (nil: unsaved), the entries before and after as far as they
// are known, and whose change it is.
type visitor func(op *refs.Operation, ch tree.Change, d judged)

// unsaved calls fn for the differences from the head.
func (j *Judge) unsaved(c *capture.Capture, fn visitor) error {
	was, err := j.e.log.Head()
	if err != nil {
		return err
	}
	of, err := j.e.worktree.Whose(j.e.worktree.OpenCalls())
	if err != nil {
		return err
	}
	return tree.Diff(c.Get, was.Tree, c.Res.Root, func(ch tree.Change) error {
		by, err := of(ch)
		if err == nil {
			fn(nil, ch, j.judge(by, j.e.log.DB.LastSeq()+1))
		}
		return err
	})
}

// changed calls fn for each path that an operation changed. With all false, operations in which nobody else has part
// are left out. later is the worktree at some operation after; a checkpoint sets it to its own tree.
func (j *Judge) changed(op *refs.Operation, later **oplog.Lookups, all bool, fn visitor) error {
	after := *later
	cp, err := j.look(op, later)
	switch {
	case err != nil:
		return err
	case op.Kind == refs.KindCheckpoint:
		if !all && !j.concerns(cp) {
			return nil
		}
		return j.step(op, cp, fn)
	case isSetting(op):
		return j.setting(op, after, all, fn)
	}
	return nil
}

// setting is changed for a restore.
func (j *Judge) setting(op *refs.Operation, later *oplog.Lookups, all bool, fn visitor) error {
	if err := j.leftUnsaved(op, fn); err != nil {
		return err
	}
	if !all && j.alone(op) {
		return nil
	}
	d := j.ofRestore(op)
	d.shared = false
	back, err := j.undoneBy(op)
	if err != nil {
		return err
	}
	persons := j.judge(nil, op.Seq)
	return j.restore(op, later, func(ch tree.Change) error {
		if back[ch.Path] {
			fn(op, ch, persons)
		} else {
			fn(op, ch, d)
		}
		return nil
	})
}

// alone reports whether a restore set the whole tree, and was the session's own.
func (j *Judge) alone(op *refs.Operation) bool {
	d := j.ofRestore(op)
	return d.other == "" && len(op.Restore.Paths) == 0
}

// leftUnsaved calls fn for what a restore found unsaved and left, kept or merged: no step has that, only its safety
// checkpoint.
func (j *Judge) leftUnsaved(op *refs.Operation, fn visitor) error {
	if op.Thinned {
		return nil
	}
	safety, err := j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return err
	}
	was, err := j.e.log.Accounts(safety)
	if err != nil || was.Tree == safety.Tree {
		return err
	}
	target, goal, err := j.asked(op.Restore.Target)
	if err != nil {
		return err
	}
	left := op.Restore.Result
	if left.IsZero() {
		left = target.Tree
	}
	get := oplog.Lenient{Store: j.e.log.Objs}
	is, to := oplog.NewLookups(get, left), oplog.NewLookups(get, goal.Tree)
	found, of := &refs.Operation{
		Seq: safety.Seq, Kind: refs.KindSafety, Session: safety.Session, Checkpoint: safety.ID,
	}, safety.AuthorsOf()
	mixes := op.Kind == refs.KindRevert || op.Kind == refs.KindPick // what it brings into what it finds
	return tree.Diff(get, was.Tree, safety.Tree, func(ch tree.Change) error {
		if mixes && op.Restore.Paths.Has(ch.Path) {
			fn(found, ch, j.of(safety, of(ch.Path)))
			return nil
		}
		left, err := is.Find(ch.Path)
		if err != nil {
			return err
		}
		there, err := to.Find(ch.Path)
		if err == nil && !tree.Same(left, there) {
			fn(found, ch, j.of(safety, of(ch.Path)))
		}
		return err
	})
}

// asked is the checkpoint of a restore's target, and the one that was asked for: they differ where the target is a
// state that the restore made of that, with what it merged. Such a state has no operation of its own.
func (j *Judge) asked(id objstore.ID) (target, asked *model.Checkpoint, err error) {
	if target, err = j.e.log.Checkpoint(id); err != nil {
		return nil, nil, err
	}
	if target.Cause.Event != model.EventSafety || len(target.Parents) == 0 {
		return target, target, nil
	}
	op, err := j.e.log.Refs.Operation(target.Seq)
	if err != nil {
		return nil, nil, err
	}
	if op.Checkpoint == id || op.Thinned {
		return target, target, nil
	}
	asked, err = j.e.log.Checkpoint(target.Parents[0])
	return target, asked, err
}

// look reads the checkpoint of a step, or of the state before a restore, and sets later to its tree. Of other
// operations there is none.
func (j *Judge) look(op *refs.Operation, later **oplog.Lookups) (*model.Checkpoint, error) {
	if op.Kind != refs.KindCheckpoint && op.Kind != refs.KindSafety {
		return nil, nil
	}
	cp, err := j.e.log.Checkpoint(op.Checkpoint)
	if err == nil {
		*later = oplog.NewLookups(oplog.Lenient{Store: j.e.log.Objs}, cp.Tree)
	}
	return cp, err
}

// isSetting reports whether an operation is a restore that has set files.
func isSetting(op *refs.Operation) bool {
	return op.Kind.IsRestore() && op.Restore != nil && !op.Restore.ContextOnly
}

// step is changed for a checkpoint.
func (j *Judge) step(op *refs.Operation, cp *model.Checkpoint, fn visitor) error {
	of := cp.AuthorsOf()
	for _, path := range cp.Reverted {
		fn(op, tree.Change{Path: path}, j.of(cp, of(path)))
	}
	from, err := j.e.log.Before(cp)
	if err != nil {
		return err
	}
	return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
		fn(op, ch, j.of(cp, of(ch.Path)))
		return nil
	})
}

// restore is changed for a restore: what it set.
func (j *Judge) restore(op *refs.Operation, later *oplog.Lookups, fn func(tree.Change) error) error {
	from, to, err := j.set(op)
	if err != nil {
		return err
	}
	return tree.Diff(oplog.Lenient{Store: j.e.log.Objs}, from, to, func(ch tree.Change) error {
		done, err := left(op, later, ch)
		if err != nil || !done {
			return err
		}
		return fn(ch)
	})
}

// set are the trees between which lies what a restore set: of a whole tree the heads before and after; of some paths
// the state before and the target, see left.
func (j *Judge) set(op *refs.Operation) (from, to objstore.ID, err error) {
	safety, err := j.e.log.Checkpoint(op.Restore.Safety)
	if err != nil {
		return from, to, err
	}
	target, err := j.e.log.Checkpoint(op.Restore.Target)
	if err != nil {
		return from, to, err
	}
	if len(op.Restore.Paths) > 0 {
		return safety.Tree, target.Tree, nil
	}
	was, err := j.e.log.Accounts(safety)
	if err != nil || !op.Restore.Result.IsZero() {
		return was.Tree, op.Restore.Result, err
	}
	is, err := j.e.log.Accounts(target)
	return was.Tree, is.Tree, err
}

// left reports whether a restore has set a path between its trees: one of some paths that has kept some, only what
// later has as the target has it.
func left(op *refs.Operation, later *oplog.Lookups, ch tree.Change) (bool, error) {
	paths := op.Restore.Paths
	switch all := len(paths) == 0; {
	case all, !paths.Has(ch.Path):
		return all, nil
	case op.Restore.Kept == 0:
		return true, nil
	}
	is, err := later.Find(ch.Path)
	return err == nil && tree.Same(is, ch.New), err
}

// stretch compares a step with those before it. It remembers the operations that it has looked at.
type stretch struct {
	j       *Judge
	newer   *model.Checkpoint
	seen    uint64 // the oldest operation that was searched for work; at first one after newer's
	taken   uint64 // the oldest operation whose changes are in last
	work    bool   // a colleague has part in one of the operations
	last    Theirs // the colleague that changed a path last; "": no colleague alone
	earlier *oplog.Lookups
	pairs   *takenBack // of those in last
}

// Stretch begins to compare the step newer with those before it. Each operation between is read once.
func (j *Judge) Stretch(newer *model.Checkpoint) *stretch {
	return &stretch{
		j: j, newer: newer, seen: newer.Seq + 1, taken: newer.Seq + 1, last: Theirs{},
		earlier: oplog.NewLookups(oplog.Lenient{Store: j.e.log.Objs}, newer.Tree), pairs: j.takenBack(newer.Seq),
	}
}

// Same reports whether newer and older are the same for the session: they differ only in paths that others changed last
// between the two. For a session that takes back, only others may have changed them.
func (s *stretch) Same(older *model.Checkpoint) (bool, error) {
	if s.newer.Tree == older.Tree {
		return true, nil
	}
	if !s.work {
		var none *oplog.Lookups
		err := s.back(&s.seen, older.Seq, func(op *refs.Operation) error {
			return s.j.changed(op, &none, false,
				func(_ *refs.Operation, _ tree.Change, d judged) { s.work = s.work || d.stays != "" })
		})
		if err != nil || !s.work {
			return false, err
		}
	}
	s.pairs.since = min(s.pairs.since, older.Seq)
	changes := holding(s.note)
	visit := s.pairs.without(changes.visit)
	err := s.back(&s.taken, older.Seq, func(op *refs.Operation) error {
		return errors.Join(s.j.changed(op, &s.earlier, true, visit), s.pairs.err)
	})
	changes.end()
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

// note takes in a change, the newest of a path first.
func (s *stretch) note(_ *refs.Operation, ch tree.Change, d judged) {
	if d.shared {
		d.stays = ""
	}
	s.last.add(ch.Path, d.stays)
	if s.j.Way == TakeBack && d.stays == "" {
		s.last[ch.Path] = "" // it is taken out of what others made of it since
	}
}

// back calls fn for the operations before from, newest first, down to the one after until, and sets from for the next
// call.
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
