package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rewind/engine/authorship"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/naming"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// Ask says which change is meant.
type Ask struct {
	Change  string              // a turn, a checkpoint, or a range "A..B": what it changed
	Of      string              // instead of Change: all that this session wrote
	Session model.SessionChoice // whose turns are meant
	Reverse bool                // it is to be taken out: what another session may have written, too, is no part of it
}

// Change is what is to be brought: for each path the edits, the oldest first.
type Change struct {
	Name  string            // for people
	Turn  string            // the turn that it is, by its name; "": it is none
	Of    *model.Checkpoint // the newest checkpoint that it comes from; of a change from elsewhere, one of here
	Lent  *model.Checkpoint // of a change from elsewhere: there, the newest checkpoint that it comes from; nil: it is of here
	edits map[string][]edit
	cut   bool            // older edits are not known any more
	from  *oplog.Log      // of the worktree that has lent it
	by    string          // the session that did it
	steps map[uint64]bool // the operations of the session that did it; of what is no session's there are none
	first uint64          // the oldest of them; 0: there is none
	both  map[string]both // what another session may have written, too, and so is left out
}

// both is what two sessions may have written.
type both struct {
	other string
	was   *tree.Entry // before the oldest of it
}

// Empty reports whether it changes nothing.
func (ch *Change) Empty() bool { return len(ch.edits) == 0 }

// edit is one change of a path, in a step from one tree to another.
type edit struct {
	from, to         *tree.Entry
	fromTree, toTree objstore.ID
}

func (e edit) reverse() edit { return edit{e.to, e.from, e.toTree, e.fromTree} }

// add appends what changed between two trees, where want says so. Edits that follow each other are one, and none where
// the last has made it what it was.
func (ch *Change) add(get objstore.Getter, from, to objstore.ID, want func(tree.Change) (bool, error)) error {
	return tree.Diff(get, from, to, func(c tree.Change) error {
		if wanted, err := want(c); err != nil || !wanted {
			return err
		}
		list := ch.edits[c.Path]
		n := len(list)
		switch follows := n > 0 && same(list[n-1].to, c.Old); {
		case follows && same(list[n-1].from, c.New):
			list = list[:n-1]
		case follows:
			list[n-1].to, list[n-1].toTree = c.New, to
		default:
			list = append(list, edit{c.Old, c.New, from, to})
		}
		if ch.edits[c.Path] = list; len(list) == 0 {
			delete(ch.edits, c.Path)
		}
		return nil
	})
}

// ChangeOf is the change that is asked for.
func (m *Merger) ChangeOf(ctx context.Context, o Ask) (*Change, error) {
	if o.Of != "" {
		return m.writtenBy(o.Of, o.Reverse)
	}
	if from, to, ok := strings.Cut(o.Change, ".."); ok {
		return m.between(ctx, from, to, o.Session)
	}
	name, err := m.history.Named(o.Session, o.Change)
	if err != nil {
		return nil, err
	}
	row, err := m.history.TurnRow(ctx, name, "")
	if err != nil {
		return nil, err
	}
	if row.Coded() {
		turn := naming.TurnName(row.Turn, row.Whose)
		ch := newChange(turn, row.Checkpoint)
		ch.Turn, ch.by = turn, row.Of
		for _, cp := range slices.Concat(row.Steps, row.Found) {
			its := cp.PartOf(row.Of)
			wrote := func(c tree.Change) (bool, error) { return its(c.Path), nil }
			if err := m.addPart(ch, cp, m.alone(ch, cp, row.Of, o.Reverse, wrote)); err != nil {
				return nil, err
			}
		}
		return ch, nil
	}
	cp, err := m.namedState(ctx, name, o.Session)
	if err != nil {
		return nil, err
	}
	ch := newChange(nameOf(cp), cp)
	return ch, m.addStep(ch, cp, all)
}

func newChange(name string, of *model.Checkpoint) *Change {
	return &Change{
		Name: name, Of: of, by: of.Session,
		edits: map[string][]edit{}, steps: map[uint64]bool{}, both: map[string]both{},
	}
}

// Takes is who goes back that takes the change out, as to what else was done to its paths.
func (ch *Change) Takes() authorship.Going {
	from := ch.Of.Seq
	if ch.first > 0 {
		from = ch.first - 1
	}
	return authorship.Going{Session: ch.by, Way: authorship.TakeBack, From: from, Only: ch.steps}
}

// Adds reports whether nothing was at a path before the change.
func (ch *Change) Adds(path string) bool {
	list := ch.edits[path]
	return len(list) > 0 && list[0].from == nil
}

// EachShared calls fn for the files that another session may have written, too, and that are not as they were before.
func (ch *Change) EachShared(now *oplog.Lookups, fn func(path, other string)) error {
	for path, b := range ch.both {
		is, err := now.Find(path)
		if err != nil {
			return err
		}
		if !same(is, b.was) && !isDir(is) && !isDir(b.was) {
			fn(path, b.other)
		}
	}
	return nil
}

// alone is what a session wrote of a step, as wrote says, and, where the change is to be taken out, no other one may
// have written, too.
func (m *Merger) alone(
	ch *Change, cp *model.Checkpoint, session string, reverse bool, wrote func(tree.Change) (bool, error),
) func(tree.Change) (bool, error) {
	of := cp.AuthorsOf()
	return func(c tree.Change) (bool, error) {
		its, err := wrote(c)
		if err != nil || !its || !reverse {
			return its, err
		}
		other := m.authors.Beside(session, of(c.Path))
		if _, known := ch.both[c.Path]; other != "" && !known {
			ch.both[c.Path] = both{other, c.Old}
		}
		return other == "", nil
	}
}

// addPart is addStep of a step of the session whose change it is.
func (m *Merger) addPart(ch *Change, cp *model.Checkpoint, want func(tree.Change) (bool, error)) error {
	if ch.steps[cp.Seq] = true; ch.first == 0 || cp.Seq < ch.first {
		ch.first = cp.Seq
	}
	return m.addStep(ch, cp, want)
}

func all(tree.Change) (bool, error) { return true, nil }

// nameOf is how a checkpoint is called in a message: by what a person has saved it as, else by its id.
func nameOf(cp *model.Checkpoint) string {
	if cp.Cause.Message != "" {
		return `"` + model.OneLine(cp.Cause.Message) + `"`
	}
	return cp.ID.String()[:7]
}

func (m *Merger) namedState(ctx context.Context, name string, who model.SessionChoice) (*model.Checkpoint, error) {
	at, err := m.history.NamedMoment(ctx, name, who)
	if err != nil {
		return nil, err
	}
	if at.Checkpoint == nil {
		return nil, m.history.NoCode("checkpoint", name, at)
	}
	return at.Checkpoint, nil
}

// between is the difference of two states.
func (m *Merger) between(ctx context.Context, from, to string, who model.SessionChoice) (*Change, error) {
	if from == "" || to == "" {
		return nil, model.Usagef("%q: a range names two checkpoints, <from>..<to>", from+".."+to)
	}
	a, err := m.namedState(ctx, from, who)
	if err != nil {
		return nil, err
	}
	b, err := m.namedState(ctx, to, who)
	if err != nil {
		return nil, err
	}
	ch := newChange(nameOf(a)+".."+nameOf(b), b)
	return ch, ch.add(m.log.Objs, a.Tree, b.Tree, all)
}

// addStep adds what a checkpoint changed where want says so.
func (m *Merger) addStep(ch *Change, cp *model.Checkpoint, want func(tree.Change) (bool, error)) error {
	refuse := func(why string) error {
		return &value.OpError{Op: "change of", Subject: nameOf(cp), Typed: true, Err: model.Usagef("%s; name a range, <from>..<to>", why)}
	}
	if len(cp.Parents) > 1 {
		return refuse("it has several checkpoints before it, and so several changes")
	}
	from, err := m.log.Before(cp)
	if err != nil {
		return err
	}
	if from.IsZero() {
		return refuse("it is the first state of the project, and no change")
	}
	return ch.add(m.log.Objs, from, cp.Tree, want)
}

// writtenBy is all that a session wrote, as the checkpoints say.
func (m *Merger) writtenBy(session string, reverse bool) (*Change, error) {
	name, err := m.sessions.FindSession(session)
	if err != nil {
		return nil, err
	}
	steps, err := m.authors.Wrote(name)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		why := fmt.Errorf("%w: no checkpoint says that it wrote something", model.ErrNotFound)
		return nil, &value.OpError{Op: "session", Subject: name, Typed: true, Err: why}
	}
	ch := newChange("session "+name, steps[len(steps)-1].Checkpoint)
	ch.by = name
	for _, s := range steps {
		if s.From.IsZero() {
			continue // how the project was found
		}
		if err := m.addPart(ch, s.Checkpoint, m.alone(ch, s.Checkpoint, name, reverse, s.Wrote)); err != nil {
			return nil, err
		}
	}
	return ch, nil
}

// lookups are trees of edits, each read once.
type lookups map[objstore.ID]*oplog.Lookups

func (l lookups) find(get objstore.Getter, root objstore.ID, path string) (*tree.Entry, error) {
	if l[root] == nil {
		l[root] = oplog.NewLookups(get, root)
	}
	return l[root].Find(path)
}
