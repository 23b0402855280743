package restore

import (
	"cmp"
	"maps"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/merge"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// takeOut, with Options.Merge, makes of the target one that at paths which stay has the worktree without what is taken
// away there: those are set. Where nothing is to be taken away they stay as they are. What it makes is put into the
// capture's transaction. Without it such paths stay, but for those of giveUp.
func (pl *planner) takeOut(c *capture.Capture) error {
	r, rs := pl.request, pl.restorer
	r.Target, pl.target = r.target.ID, r.target // an earlier look at the worktree may have made another one
	if pl.all() || len(pl.others.Stay) == 0 {
		return nil
	}
	if !r.options.Merge {
		return pl.giveUp(c)
	}
	if err := pl.compareWithBase(c); err != nil {
		return err
	}
	theirs := func(path string) bool { return pl.merged[path] || pl.others.Stay.Of(path) != "" }
	m, err := rs.merger.TakeOut(c, rs.going(r), cmp.Or(r.partOf, r.target), merge.Where{
		From: func(path string) bool { return r.Paths.Has(path) && theirs(path) },
		To:   func(path string) bool { return r.Paths.Has(path) && !pl.unknown[path] },
	}, merge.Options{Prefer: r.options.Prefer})
	pl.forgetBase()
	if err != nil {
		return err
	}
	if err := pl.addParents(c, m); err != nil {
		return err
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

// giveUp has files that only a person changed beside what is taken back become what the target has: people mend what an
// agent broke, and then give up. What has nothing of the session's stays.
func (pl *planner) giveUp(c *capture.Capture) error {
	g := pl.restorer.going(pl.request)
	if g.Way != authorship.TakeBack {
		return nil
	}
	steps, err := pl.restorer.authors.Behind(g, pl.request.target, c)
	if err != nil {
		return err
	}
	get := oplog.Lenient{Store: pl.restorer.log.Objs}
	for _, s := range steps {
		if s.From.IsZero() || s.To.IsZero() {
			continue // how the project was found
		}
		err := tree.Diff(get, s.From, s.To, func(ch tree.Change) error {
			its, err := s.Wrote(ch)
			if its && pl.others.Stay.Of(ch.Path) == model.Manual {
				pl.others.Stay[ch.Path] = ""
				pl.others.Went.Add(ch.Path, model.Manual)
			}
			return err
		})
		if err != nil {
			return err
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
			list[i] = value.Merge{Path: list[i].Path, Was: list[i].Was, Verdict: value.MergeConflict, Reason: value.ReasonBlocked}
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
		Cause: model.Cause{Message: shortOf(target) + ", merged", Turn: target.Cause.Turn},
	})
}
