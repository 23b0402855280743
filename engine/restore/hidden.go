package restore

import (
	"errors"
	"maps"
	"slices"

	"rewind/engine/authorship"
	"rewind/engine/capture"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/engine/project"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/tree"
)

// A turn can write an ignore file that hides what it had made, or what somebody else had. Such a file is in no capture
// any more, and comes into view again with the ignore file's end. What the session made goes with the turn, as the
// newest checkpoint has it; the rest stays, and is named.

// hiddenSince are the paths that rules leave out now, and left in, or that were not there, at the target.
func (pl *planner) hiddenSince(c *capture.Capture) (list []string) {
	r := pl.request
	made := r.merges || r.partOf != nil // of the worktree as it is
	if made || r.ContextOnly {
		return nil
	}
	for i := range c.Res.Skips {
		s := &c.Res.Skips[i]
		ignored := s.Reason == tree.ReasonIgnored && !s.IsNamed()
		if ignored && r.Paths.Has(s.Path) && !model.Covered(pl.targetSkips, s.Path) {
			list = append(list, s.Path)
		}
	}
	return list
}

// hiddenWork fills hidden: of what rules hide since the target the files that the session made behind it, as the newest
// checkpoint has them that does. They are to be captured. Only who takes back takes them: redo sets that back.
func (pl *planner) hiddenWork(c *capture.Capture) (paths []string, err error) {
	g := pl.restorer.going(pl.request)
	w := &hiddenWork{pl: pl, left: pl.hiddenSince(c), files: map[string]*tree.Entry{}, its: map[string]*tree.Entry{}}
	if len(w.left) == 0 || g.Way != authorship.TakeBack {
		return nil, nil
	}
	steps, _, err := pl.restorer.authors.Behind(g, pl.request.since(), c)
	if err != nil {
		return nil, err
	}
	for _, step := range slices.Backward(steps) {
		if step.Checkpoint == nil {
			continue
		}
		if err := w.older(&step); err != nil {
			return nil, err
		}
	}
	then := oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree)
	for _, p := range slices.Sorted(maps.Keys(w.its)) {
		was, err := then.Find(p)
		if err != nil {
			return nil, err
		}
		isDir, there, err := capture.OnDisk(pl.root, p)
		switch {
		case err != nil:
			return nil, err
		case there && !isDir && was == nil:
			paths = append(paths, p)
		}
	}
	pl.hidden = w.its
	return paths, nil
}

// hiddenWork looks for hidden files in the checkpoints behind a target, the newest first.
type hiddenWork struct {
	pl    *planner
	left  []string               // hidden paths that no checkpoint so far has
	files map[string]*tree.Entry // of the others, the files whose maker is not known yet
	its   map[string]*tree.Entry // those that the session made
}

// older looks at the next older step.
func (w *hiddenWork) older(step *authorship.Step) error {
	get := oplog.Lenient{Store: w.pl.restorer.log.Objs}
	was, is := oplog.NewLookups(get, step.From), oplog.NewLookups(get, step.To)
	if err := w.find(is, get); err != nil {
		return err
	}
	for p, file := range w.files {
		now, err := is.Find(p)
		if err != nil {
			return err
		}
		had, err := was.Find(p)
		if err != nil {
			return err
		}
		there := tree.Same(now, file)
		if there && tree.Same(had, file) {
			continue
		}
		its, err := step.Wrote(tree.Change{Path: p, Old: had, New: now})
		if err != nil {
			return err
		}
		if there && its {
			w.its[p] = file
		}
		delete(w.files, p)
	}
	return nil
}

// find moves from left to files what a checkpoint has.
func (w *hiddenWork) find(is *oplog.Lookups, get oplog.Lenient) (err error) {
	w.left = slices.DeleteFunc(w.left, func(p string) bool {
		ent, failed := is.Find(p)
		switch {
		case failed != nil:
		case model.IsFile(ent):
			w.files[p] = ent
		case ent != nil:
			failed = tree.Walk(get, ent.ID, func(below string, e tree.Entry) error {
				if model.IsFile(&e) {
					w.files[tree.Join(p, below)] = &e
				}
				return nil
			})
		}
		err = errors.Join(err, failed)
		return ent != nil
	})
	return err
}

// wasHidden reports whether what is at a path is what the session made there before it was hidden, or a directory above
// such a file.
func (pl *planner) wasHidden(at string, ent *tree.Entry) bool {
	if ent.Type != tree.TypeDir {
		return pl.hidden[at] != nil && tree.Same(pl.hidden[at], ent)
	}
	for p := range pl.hidden {
		if refs.Below(p, at) {
			return true
		}
	}
	return false
}

// keepHidden names what was hidden, stays, and comes into view with an ignore file that is set.
func (pl *planner) keepHidden(c *capture.Capture) error {
	steps := pl.plan.Steps
	ruled := slices.DeleteFunc(slices.Clone(steps), func(s tree.Change) bool { return !isRuleFile(s.Path) })
	if len(ruled) == 0 {
		return nil
	}
	then := oplog.NewLookups(lostAsEmpty{c.Get, pl.lostTrees}, pl.target.Tree)
	for _, p := range pl.hiddenSince(c) {
		under := func(s tree.Change) bool { dir, _ := tree.Split(s.Path); return refs.Below(p, dir) }
		set := slices.ContainsFunc(steps, func(s tree.Change) bool { return s.Path == p })
		if set || pl.isKeptAt(p) || !slices.ContainsFunc(ruled, under) {
			continue
		}
		was, err := then.Find(p)
		if err != nil {
			return err
		}
		isDir, there, err := capture.OnDisk(pl.root, p)
		if err != nil {
			return err
		}
		if there && was == nil { // else the target says what is there
			pl.keep(p, value.KeptHidden, isDir)
		}
	}
	return nil
}

// isKeptAt reports whether a path, or a directory above it, is kept.
func (pl *planner) isKeptAt(path string) bool {
	for ; path != ""; path, _ = tree.Split(path) {
		if pl.kept[path].Reason != "" {
			return true
		}
	}
	return false
}

// isRuleFile reports whether a path is that of an ignore file.
func isRuleFile(path string) bool {
	_, name := tree.Split(path)
	return slices.Contains(project.RuleFiles, name)
}
