package authorship

import (
	"slices"

	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// trails say in which paths there is, as they are now, what a person changed. They follow each path's states back from
// the present one, and leave out every detour that returns to a state passed already. So a change that was taken back
// does not count, whatever took it back. If it was brought back, it counts again.
type trails struct {
	j     *Judge
	now   *oplog.Lookups
	of    map[string][]passed
	mixed map[string]objstore.ID // what a person had changed, as the safety checkpoint of the next restore found it
	last  found
	err   error
}

// found is what a restore found unsaved.
type found struct {
	safety objstore.ID
	head   *oplog.Lookups // before that
	of     func(path string) []string
}

// passed is a state of a path, and who made it of the next older one.
type passed struct {
	state *tree.Entry
	maker
}

// maker is a person, or a restore that mixed in what a person had changed, or another session. Behind the change of
// another one a person's is that one's affair.
type maker struct{ yours, theirs bool }

func (j *Judge) trails(now *oplog.Lookups) *trails {
	return &trails{j: j, now: now, of: map[string][]passed{}, mixed: map[string]objstore.ID{}}
}

// visit takes in a change, the newest of a path first.
func (t *trails) visit(op *refs.Operation, ch tree.Change, d judged) {
	unknown := ch.Old == nil && ch.New == nil // it was changed and changed back in one step
	if t.err != nil || unknown {
		return
	}
	by := maker{yours: d.byNobody()}
	by.theirs = !by.yours && d.other != ""
	switch {
	case op == nil || op.Kind == refs.KindCheckpoint:
	case op.Kind == refs.KindSafety:
		if by.yours {
			t.mixed[ch.Path] = op.Checkpoint
		}
		return
	default: // a restore makes nothing of its own, but mixes in what it found
		by.yours = t.mixed[ch.Path] == op.Restore.Safety
		by.theirs = by.theirs && t.j.e.sessions.Family(op.Session) != t.j.family
	}
	way, known := t.of[ch.Path]
	if !known {
		is, err := t.now.Find(ch.Path)
		if err != nil {
			t.err = err
			return
		}
		way = []passed{{state: is}}
	}
	way = back(back(way, ch.New, maker{}), ch.Old, by)
	if broughtBack := len(way) == 1 && op != nil && op.Restore != nil; broughtBack {
		way, t.err = t.foundBy(op, ch, way)
	}
	t.of[ch.Path] = way
}

// foundBy is a way with what a person had changed, and not saved, before a restore of some paths that was taken back:
// such a restore does not move the head, so that no step behind it has that change.
func (t *trails) foundBy(op *refs.Operation, ch tree.Change, way []passed) ([]passed, error) {
	if len(op.Restore.Paths) == 0 {
		return way, nil
	}
	if err := t.read(op.Restore.Safety); err != nil {
		return way, err
	}
	was, err := t.last.head.Find(ch.Path)
	persons := len(t.last.of(ch.Path)) == 0
	if err != nil || !persons || tree.Same(was, ch.Old) {
		return way, err
	}
	return back(way, was, maker{yours: true}), nil
}

// read reads what a restore found, once for all its paths.
func (t *trails) read(id objstore.ID) error {
	if t.last.safety == id {
		return nil
	}
	safety, err := t.j.e.log.Checkpoint(id)
	if err != nil {
		return err
	}
	head, err := t.j.e.log.Accounts(safety)
	if err == nil {
		t.last = found{id, oplog.NewLookups(oplog.Lenient{Store: t.j.e.log.Objs}, head.Tree), safety.AuthorsOf()}
	}
	return err
}

// back is a way with the next older state, of which by made the last one.
func back(way []passed, older *tree.Entry, by maker) []passed {
	for i := range way {
		if tree.Same(way[i].state, older) {
			way[i].maker = maker{}
			return way[:i+1]
		}
	}
	way[len(way)-1].maker = by
	return append(way, passed{state: older})
}

// A hand is where in a path a person's change is: at all, and behind all that other sessions changed.
type hand struct{ any, newest bool }

// tell enters the paths.
func (t *trails) tell(hands map[string]hand) {
	for path, way := range t.of {
		i := slices.IndexFunc(way, func(p passed) bool { return p.yours || p.theirs })
		if slices.ContainsFunc(way, func(p passed) bool { return p.yours }) {
			hands[path] = hand{any: true, newest: way[i].yours}
		}
	}
}
