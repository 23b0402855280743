package restore

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// errStores is what takeOut gives for a capture that stores nothing, where it has something to store.
var errStores = errors.New("what is made of a merge has to be stored")

// takeOut makes of the target one that at paths which stay has the worktree without what is taken away there: those
// are set. Where nothing is to be taken away they stay as they are, and without Options.Merge so does what cannot be
// merged, but for those of giveUp; undo and redo merge with it alone. What it makes is put into the capture's
// transaction.
func (pl *planner) takeOut(c *capture.Capture) error {
	r := pl.request
	r.Target, pl.target = r.target.ID, r.target // an earlier look at the worktree may have made another one
	if r.merges {                               // it has taken out what it takes out
		return nil
	}
	pl.plan.Mergeable = false
	if r.Kind == refs.KindUndoRestore || pl.all() || len(pl.others.Stay) == 0 {
		return nil
	}
	m, err := pl.mergeBehind(c)
	if err != nil || m == nil {
		return err
	}
	for i := range m.List {
		m.List[i].By = value.Text(pl.others.Stay.Of(string(m.List[i].Path)))
	}
	if pl.plan.Merges = m.List; len(m.Set) == 0 {
		return nil
	}
	if pl.target, err = pl.putTakenOut(c, m.Steps()); err != nil {
		return err
	}
	r.Target = pl.target.ID
	for path := range m.Set {
		pl.merged[path], pl.others.Stay[path] = true, ""
	}
	return nil
}

// mergeBehind merges what is to be taken away out of the paths that stay for others; nil: nothing is to be merged.
func (pl *planner) mergeBehind(c *capture.Capture) (*merge.Merged, error) {
	r, g := pl.request, pl.restorer.going(pl.request)
	byStep := g.Way == authorship.ByStep && !r.options.Merge
	var m *merge.Merged
	if byStep {
		var err error
		if m, err = pl.foundByUndone(c); err != nil {
			return nil, err
		}
	}
	away, err := pl.restorer.merger.Behind(c, g, r.since(), func(path string) bool {
		return pl.stays(path) && !m.Sets(path)
	})
	if err != nil || away.Empty() {
		return m, err
	}
	if byStep {
		return m, pl.foreseeMerge(c, away)
	}
	m, err = pl.merge(c, g, away)
	if err == nil && !r.options.Merge && len(pl.stuck) > 0 {
		err = pl.foreseeMerge(c, away)
	}
	return m, err
}

// stays reports whether a path of the request stays for others, or does but for a merge.
func (pl *planner) stays(path string) bool {
	return pl.request.Paths.Has(path) && (pl.merged[path] || pl.others.Stay.Of(path) != "")
}

// foundByUndone returns the states that the undone steps found at paths that stay for others, if those steps came after
// the others' changes. undo leads to the state in which the step was made, and redo to the step again.
func (pl *planner) foundByUndone(c *capture.Capture) (*merge.Merged, error) {
	m, behind := &merge.Merged{Set: map[string]*tree.Entry{}}, map[string]bool{}
	for _, cp := range pl.request.undone {
		from, err := pl.restorer.log.Before(cp)
		if err != nil {
			return nil, err
		}
		err = tree.Diff(oplog.Lenient{Store: pl.restorer.log.Objs}, from, cp.Tree, func(ch tree.Change) error {
			behind[ch.Path] = behind[ch.Path] || !pl.others.Before(ch.Path, cp.Seq)
			if pl.stays(ch.Path) && !behind[ch.Path] {
				m.Set[ch.Path] = ch.Old
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(m.Set) > 0 && c.Tx == nil {
		return nil, errStores
	}
	if err := pl.leaveDirs(c, m); err != nil {
		return nil, err
	}
	return m, pl.addParents(c, m)
}

// merge takes what is to be taken away out of the worktree.
func (pl *planner) merge(c *capture.Capture, g authorship.Going, away *merge.Change) (*merge.Merged, error) {
	r := pl.request
	m, err := pl.without(c, away, merge.Options{Prefer: r.options.Prefer, Clean: !r.options.Merge})
	if err != nil {
		return nil, err
	}
	if err := pl.leaveDirs(c, m); err != nil {
		return nil, err
	}
	if err := pl.addParents(c, m); err != nil {
		return nil, err
	}
	if !r.options.Merge {
		m.List = pl.withoutStuck(g, m.List)
	}
	return m, nil
}

// without is the worktree without what is to be taken away.
func (pl *planner) without(c *capture.Capture, away *merge.Change, o merge.Options) (*merge.Merged, error) {
	if c.Tx == nil {
		return nil, errStores
	}
	if err := pl.compareWithBase(c); err != nil {
		return nil, err
	}
	defer pl.forgetBase()
	r := pl.request
	if pl.restorer.going(r).Way == authorship.TakeBack {
		if err := pl.findOfAgent(); err != nil {
			return nil, err
		}
	}
	// a new file of a person's goes like any other, also where somebody else had a file of its name
	takesNew := o.Clean && pl.takesNew()
	known := func(path string) bool { return !pl.unknown[path] || pl.ofAgent[path] }
	may := func(path string) bool { return r.Paths.Has(path) && (takesNew || known(path)) }
	return pl.restorer.merger.TakeOut(c, away, may, o)
}

// foreseeMerge fills the plan's Mergeable: it merges, and sets nothing.
func (pl *planner) foreseeMerge(c *capture.Capture, away *merge.Change) error {
	m, err := pl.without(c, away, merge.Options{})
	if err != nil {
		return err
	}
	pl.plan.Mergeable = slices.ContainsFunc(m.List, func(v value.Merge) bool {
		path := string(cmp.Or(v.Was, v.Path))
		stays := v.Verdict == value.MergeConflict && v.Places == 0
		by := pl.others.Stay.Of(path)
		return !stays && by != "" && by != model.Manual
	})
	return nil
}

// withoutStuck takes out of a list of merges what could not be merged, and stays.
func (pl *planner) withoutStuck(g authorship.Going, list []value.Merge) []value.Merge {
	return slices.DeleteFunc(list, func(v value.Merge) bool {
		stuck, path := v.Verdict == value.MergeConflict, string(v.Path)
		if stuck {
			pl.stuck[path] = v.Reason
		}
		if mends := g.Way == authorship.TakeBack && !g.KeepMine; stuck && mends {
			pl.giveUp(path)
		}
		return stuck
	})
}

// giveUp sets a file that cannot be merged to what the target has, if only a person changed it beside the changes that
// are taken away: people mend what an agent broke, and then give up.
func (pl *planner) giveUp(path string) {
	if pl.others.Stay.Of(path) == model.Manual {
		pl.others.Stay[path], pl.gaveUp[path] = "", true
	}
}

// leaveDirs takes out of what a merge sets the directories that others removed and the target has: with such a one went
// all that the target has below it. remakeDirs decides on them.
func (pl *planner) leaveDirs(c *capture.Capture, m *merge.Merged) error {
	then := oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree)
	for path, to := range m.Set {
		if to != nil {
			continue
		}
		is, err := then.Find(path)
		if err != nil {
			return err
		}
		if is != nil && is.Type == tree.TypeDir {
			delete(m.Set, path)
		}
	}
	return nil
}

// addParents adds to what a merge sets the directories that the target lacks above it. Where that has something else
// there, the path is blocked.
func (pl *planner) addParents(c *capture.Capture, m *merge.Merged) error {
	now, then := oplog.NewLookups(c.Get, c.Res.Root), oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree)
	for _, path := range slices.Sorted(maps.Keys(m.Set)) {
		for dir, _ := tree.Split(path); m.Set[path] != nil && dir != ""; dir, _ = tree.Split(dir) {
			is, err := then.Find(dir)
			if to, ok := m.Set[dir]; ok {
				is = to
			}
			if err == nil && is == nil {
				if is, err = now.Find(dir); is != nil {
					m.Set[dir] = is
				}
			}
			switch {
			case err != nil:
				return err
			case is == nil || is.Type != tree.TypeDir:
				delete(m.Set, path)
				block(m.List, path)
			}
		}
	}
	return nil
}

// block says of a path that it cannot be set.
func block(list []value.Merge, path string) {
	for i := range list {
		if string(list[i].Path) == path {
			was := list[i].Was
			list[i] = value.Merge{Path: list[i].Path, Was: was, Verdict: value.MergeConflict, Reason: value.ReasonBlocked}
		}
	}
}

// putTakenOut puts the target with some paths set into the capture's transaction as a checkpoint behind it, so that
// lists name the target. What that accounts for, and the paths, is its base.
func (pl *planner) putTakenOut(c *capture.Capture, steps []tree.Change) (*model.Checkpoint, error) {
	rs, target := pl.restorer, pl.target
	get := lostAsEmpty{c.Get, pl.lostTrees}
	edit := func(root objstore.ID) (objstore.ID, error) { return tree.Edit(get, c.Tx, root, steps) }
	root, err := edit(target.Tree)
	if err != nil {
		return nil, err
	}
	base := root
	if known, err := rs.log.Accounts(target); err != nil {
		return nil, err
	} else if known.Tree != target.Tree {
		if base, err = edit(known.Tree); err != nil {
			return nil, err
		}
	}
	return rs.putState(c, target, model.Checkpoint{
		Tree: root, Base: base, Parents: []objstore.ID{target.ID}, Git: target.Git, Counts: target.Counts,
		Cause: model.Cause{Message: rs.shortOf(target) + ", merged", Turn: target.Cause.Turn},
	})
}
