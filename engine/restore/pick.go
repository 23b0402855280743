package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/textdiff"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// PickOptions are what a person asks of Pick and Revert, beside Options, of which they take Paths, DryRun, Session and Progress.
type PickOptions struct {
	Options
	Change string // a turn, a checkpoint, or a range "A..B": what it changed
	Of     string // of Revert, instead of Change: all that this session wrote
	Prefer textdiff.Side
}

// Pick brings a change into the worktree by a three-way merge: what was changed there since stays. Where both changed the same, a text gets
// the markers of a conflict, and anything else stays as it is. The conversation and the cursor stay. The outcomes are Checkout's;
// Result.Merges has what became of each path.
func (rs *Restorer) Pick(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindPick, o)
}

// Revert is Pick of the reverse of a change, or of all that a session wrote, the newest first.
func (rs *Restorer) Revert(ctx context.Context, o PickOptions) (*Result, error) {
	return rs.merge(ctx, refs.KindRevert, o)
}

func (rs *Restorer) merge(ctx context.Context, kind refs.Kind, o PickOptions) (*Result, error) {
	defer rs.log.Hold()()
	if err := rs.log.CheckWhole(); err != nil {
		return nil, err
	}
	if err := rs.log.LoadSessions(); err != nil {
		return nil, err
	}
	only, err := model.NewPathSet(o.Paths)
	if err != nil {
		return nil, err
	}
	change, err := rs.changeOf(ctx, o)
	if err != nil {
		return nil, err
	}
	at, err := rs.sessions.Position()
	if err != nil {
		return nil, err
	}
	o.CodeOnly, o.Scope = true, refs.Scope{Exact: true}
	r := o.newRequest(kind, at.Branch)
	r.keepCursor, r.partOf, r.merges = true, change.of, true
	if r.Before, err = rs.log.Refs.ID(refs.Cursor(at.Branch)); err != nil {
		return nil, err
	}
	var merges []value.Merge
	r.choose = func(pl *planner, c *capture.Capture) error {
		m := newMerger(rs, c, o.Prefer)
		for path, edits := range change.edits {
			if only.Has(path) {
				m.paths[path] = edits
			}
		}
		if kind == refs.KindRevert {
			m.reverse()
		}
		if err := m.merge(); err != nil {
			return err
		}
		to, err := rs.putMerged(c, change, kind, m.set)
		if err != nil {
			return err
		}
		merges, r.Paths = m.list, m.touched()
		pl.plan.Scope = r.Scope
		r.setTarget(to)
		return nil
	}
	res, err := rs.Run(ctx, r, o.Progress)
	if res != nil {
		res.Merges = merges
	}
	return res, err
}

// putMerged puts the captured worktree with some paths set into the capture's transaction as a checkpoint, which only the restore's
// operation names, see putParts. Its own tree is its base: whatever it lays out is known.
func (rs *Restorer) putMerged(c *capture.Capture, change *change, kind refs.Kind, set map[string]*tree.Entry) (*model.Checkpoint, error) {
	steps := make([]tree.Change, 0, len(set))
	for path, to := range set {
		steps = append(steps, tree.Change{Path: path, New: to})
	}
	slices.SortFunc(steps, func(a, b tree.Change) int { return tree.ComparePaths(a.Path, b.Path) })
	root, err := tree.Edit(c.Get, c.Tx, c.Res.Root, steps)
	if err != nil {
		return nil, err
	}
	of := change.of
	cp := &model.Checkpoint{
		Time: of.Time.Add(-time.Millisecond), Session: of.Session, Tree: root, Note: of.Note, Base: root,
		Cause: model.Cause{Event: model.EventSafety, Message: kind.String() + " of " + change.name}, Git: c.Git,
		Counts: model.Counts{Files: c.Res.Files + c.Res.Links, Bytes: c.Res.Bytes, Skipped: of.Counts.Skipped},
	}
	return cp, rs.log.PutCheckpoint(c.Tx, cp, of.Seq)
}

// change is what is to be brought: for each path the edits, the oldest first.
type change struct {
	name  string            // for people
	of    *model.Checkpoint // the newest checkpoint that it comes from
	edits map[string][]edit
}

// edit is one change of a path, in a step from one tree to another.
type edit struct {
	from, to         *tree.Entry
	fromTree, toTree objstore.ID
}

func (e edit) reverse() edit { return edit{e.to, e.from, e.toTree, e.fromTree} }

// add appends what changed between two trees, at paths that want has. Edits that follow each other are one.
func (ch *change) add(get objstore.Getter, from, to objstore.ID, want func(path string) bool) error {
	return tree.Diff(get, from, to, func(c tree.Change) error {
		if !want(c.Path) {
			return nil
		}
		list := ch.edits[c.Path]
		if n := len(list); n > 0 && same(list[n-1].to, c.Old) {
			list[n-1].to, list[n-1].toTree = c.New, to
		} else {
			list = append(list, edit{c.Old, c.New, from, to})
		}
		ch.edits[c.Path] = list
		return nil
	})
}

// changeOf is the change that is asked for.
func (rs *Restorer) changeOf(ctx context.Context, o PickOptions) (*change, error) {
	if o.Of != "" {
		return rs.writtenBy(o.Of)
	}
	if from, to, ok := strings.Cut(o.Change, ".."); ok {
		return rs.between(ctx, from, to, o.Session)
	}
	name := o.Change
	if o.Session.Session != "" && !strings.Contains(name, "@") {
		name += "@" + o.Session.Session
	}
	row, err := rs.history.TurnRow(ctx, name)
	if err != nil {
		return nil, err
	}
	if row != nil {
		ch := &change{name: fmt.Sprintf("turn:%d", row.Turn), of: row.Checkpoint, edits: map[string][]edit{}}
		for _, cp := range row.Steps {
			if err := rs.addStep(ch, cp, everyPath); err != nil {
				return nil, err
			}
		}
		return ch, nil
	}
	cp, err := rs.namedState(ctx, o.Change, o.Session)
	if err != nil {
		return nil, err
	}
	ch := &change{name: nameOf(cp), of: cp, edits: map[string][]edit{}}
	return ch, rs.addStep(ch, cp, everyPath)
}

func everyPath(string) bool { return true }

// nameOf is how a checkpoint is called in a message: by what a person has saved it as, else by its id.
func nameOf(cp *model.Checkpoint) string {
	if cp.Cause.Message != "" {
		return `"` + model.OneLine(cp.Cause.Message) + `"`
	}
	return cp.ID.String()[:7]
}

func (rs *Restorer) namedState(ctx context.Context, name string, who model.SessionChoice) (*model.Checkpoint, error) {
	if n, err := history.ParseName(name); err == nil && who.Session == "" {
		who.Session = n.Session
	}
	m, err := rs.history.NamedMoment(ctx, name, who)
	if err != nil {
		return nil, err
	}
	if m.Checkpoint == nil {
		why := fmt.Errorf("%w: no code was captured then", model.ErrNotFound)
		return nil, &value.OpError{Op: "checkpoint", Subject: name, Typed: true, Err: why}
	}
	return m.Checkpoint, nil
}

// between is the difference of two states.
func (rs *Restorer) between(ctx context.Context, from, to string, who model.SessionChoice) (*change, error) {
	if from == "" || to == "" {
		return nil, model.Usagef("%q: a range names two checkpoints, <from>..<to>", from+".."+to)
	}
	a, err := rs.namedState(ctx, from, who)
	if err != nil {
		return nil, err
	}
	b, err := rs.namedState(ctx, to, who)
	if err != nil {
		return nil, err
	}
	ch := &change{name: nameOf(a) + ".." + nameOf(b), of: b, edits: map[string][]edit{}}
	return ch, ch.add(rs.log.Objs, a.Tree, b.Tree, everyPath)
}

// addStep adds what a checkpoint changed at the paths that want has.
func (rs *Restorer) addStep(ch *change, cp *model.Checkpoint, want func(string) bool) error {
	refuse := func(why string) error {
		return &value.OpError{Op: "change of", Subject: nameOf(cp), Typed: true, Err: model.Usagef("%s; name a range, <from>..<to>", why)}
	}
	if len(cp.Parents) > 1 {
		return refuse("it has several checkpoints before it, and so several changes")
	}
	from, err := rs.log.Before(cp)
	if err != nil {
		return err
	}
	if from.IsZero() {
		return refuse("it is the first state of the project, and no change")
	}
	return ch.add(rs.log.Objs, from, cp.Tree, want)
}

// writtenBy is all that a session wrote, as the checkpoints say: also what it wrote beside another one, in a call of both.
func (rs *Restorer) writtenBy(session string) (*change, error) {
	name, err := rs.sessions.FindSession(session)
	if err != nil {
		return nil, err
	}
	steps, err := rs.authors.Wrote(name)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		why := fmt.Errorf("%w: no checkpoint says that it wrote something", model.ErrNotFound)
		return nil, &value.OpError{Op: "session", Subject: name, Typed: true, Err: why}
	}
	ch := &change{name: "session " + name, of: steps[len(steps)-1].Checkpoint, edits: map[string][]edit{}}
	for _, s := range steps {
		if from, err := rs.log.Before(s.Checkpoint); err != nil || from.IsZero() {
			if err != nil {
				return nil, err
			}
			continue // how the project was found
		}
		if err := rs.addStep(ch, s.Checkpoint, s.Wrote); err != nil {
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
