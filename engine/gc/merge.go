package gc

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/tree"
)

// squashAll works out the squash records of the checkpoints that stay. A step that goes is merged into the next step of the log that stays,
// since the states before steps follow each other in the log, not along a line; the newest step always stays.
func (g *gcPlan) squashAll(p *pacer) error {
	g.squashes = map[objstore.ID]*model.Squash{}
	near := make([]int32, len(g.steps)) // the nearest one before, or itself, that stays
	run := int32(-1)                    // the first of the steps that are to be merged
	for i := range g.steps {
		s := &g.steps[i]
		parent := int32(-1)
		if s.parent >= 0 {
			parent = near[s.parent]
		}
		near[i] = int32(i)
		if !s.keep {
			near[i] = parent
			if !s.safety && run < 0 {
				run = int32(i)
			}
			continue
		}
		merges := run >= 0 && !s.safety
		if !merges && parent == s.parent {
			continue
		}
		to, err := g.squashOf(s)
		if err == nil && merges {
			err = g.merge(to, run, int32(i), p)
			run = -1
		}
		if err != nil {
			return err
		}
		if to.Parent = (objstore.ID{}); parent >= 0 {
			to.Parent = g.steps[parent].id
		}
		g.squashes[s.id] = to
		if err := p.pause(p.ctx); err != nil {
			return err
		}
	}
	return nil
}

// squashOf gives a checkpoint's squash record as it is now, or as it would be if it had one.
func (g *gcPlan) squashOf(s *stepFacts) (*model.Squash, error) {
	if s.merged > 0 {
		if old, err := g.read.squash(s.id); err != nil || old != nil {
			return old, err
		}
	}
	own := &model.Squash{Base: s.base, By: g.authors(s), Merged: s.merged, Counts: s.counts}
	if s.owned {
		cp, err := g.read.checkpoint(s.id)
		if err != nil {
			return nil, err
		}
		own.Owned = cp.Owned
	}
	return own, nil
}

// merge makes of a step's squash record what it is when the steps from the first to the one before it are merged into it.
func (g *gcPlan) merge(to *model.Squash, first, last int32, p *pacer) error {
	onLine := map[int32]bool{last: true}
	for at := g.steps[last].parent; at >= first; at = g.steps[at].parent {
		onLine[at] = true
	}
	was, changed := *to, claims{}
	for i := first; i <= last; i++ {
		s := &g.steps[i]
		if s.safety {
			continue
		}
		own := &was
		if i < last {
			var err error
			if own, err = g.squashOf(s); err != nil {
				return err
			}
			all := (&model.Checkpoint{By: own.By, Owned: own.Owned}).Authors()
			to.By, to.Merged = append(to.By, all...), to.Merged+own.Merged+1
			if !onLine[i] {
				to.Aside = append(to.Aside, all...)
			} else {
				to.Aside = append(to.Aside, own.Aside...)
			}
		}
		if len(own.By)+len(own.Owned) == 0 {
			continue // it came from outside, and is no session's
		}
		of := model.OwnersOf(own.By, own.Owned)
		for _, path := range own.Reverted {
			changed.add(path, of(path))
		}
		if err := g.between(s.base, s.tree, p, func(ch tree.Change) { changed.add(ch.Path, of(ch.Path)) }); err != nil {
			return err
		}
	}
	to.By, to.Aside = model.Sorted((&model.Checkpoint{By: to.By, Owned: was.Owned}).Authors()), model.Sorted(to.Aside)
	to.Base, to.Counts, to.Owned = g.steps[first].base, model.Counts{}, nil
	reverted := maps.Clone(changed)
	whose := map[string]*model.Owned{}
	err := g.between(to.Base, g.steps[last].tree, p, func(ch tree.Change) {
		to.Counts.Add(ch)
		delete(reverted, ch.Path)
		changed.own(whose, ch.Path, to.By)
	})
	to.Reverted = Coarse(slices.Collect(maps.Keys(reverted)), model.MaxReverted)
	for _, path := range to.Reverted {
		changed.own(whose, path, to.By)
	}
	to.Owned = few(whose, model.MaxReverted)
	return err
}

// claims say of paths which sessions changed them in the steps that are merged.
type claims map[string][]string

func (c claims) add(path string, by []string) {
	switch was, known := c[path]; {
	case !known:
		c[path] = by
	case !slices.Equal(was, by):
		c[path] = model.Sorted(append(slices.Clone(was), by...))
	}
}

// of are all that changed a path: by its name, or by that of a directory above it which stands for all that it holds.
func (c claims) of(path string) []string {
	by := c[path]
	for i := range len(path) {
		if path[i] == '/' && c[path[:i+1]] != nil {
			by = model.Sorted(append(slices.Clone(by), c[path[:i+1]]...))
		}
	}
	if c["/"] != nil {
		by = model.Sorted(append(slices.Clone(by), c["/"]...))
	}
	return by
}

// own lists a path under its authors where those are not all. What stands for a directory is everybody's, and so is what only came from outside:
// one path too many is kept, never one too few.
func (c claims) own(whose map[string]*model.Owned, path string, all []string) {
	by := c.of(path)
	if strings.HasSuffix(path, "/") || len(by) == 0 || len(all) < 2 || slices.Equal(by, all) {
		return
	}
	key := strings.Join(by, model.BySeparator)
	if whose[key] == nil {
		whose[key] = &model.Owned{By: by}
	}
	whose[key].Paths = append(whose[key].Paths, path)
}

// few gives the lists, as long as they have no more paths than so many together: the longest go first, and what they hold is everybody's.
func few(whose map[string]*model.Owned, most int) []model.Owned {
	keys := slices.SortedFunc(maps.Keys(whose), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(whose[a].Paths), len(whose[b].Paths)), cmp.Compare(a, b))
	})
	var out []model.Owned
	for _, k := range keys {
		if most -= len(whose[k].Paths); most < 0 {
			break
		}
		whose[k].Paths = model.Sorted(whose[k].Paths)
		out = append(out, *whose[k])
	}
	return out
}

// Coarse gives paths that cover the given ones, sorted and not more than so many: where there are too many, those deepest down are told by
// the directory that they are in, with a slash behind it.
func Coarse(paths []string, most int) []string {
	paths = model.Sorted(paths)
	depth := func(p string) int { return strings.Count(strings.TrimSuffix(p, "/"), "/") }
	deepest := 0
	for _, p := range paths {
		deepest = max(deepest, depth(p))
	}
	for ; len(paths) > most; deepest-- {
		for i, p := range paths {
			if depth(p) == deepest {
				dir, _ := tree.Split(strings.TrimSuffix(p, "/"))
				paths[i] = dir + "/"
			}
		}
		paths = model.Sorted(paths)
	}
	return paths
}

// authors are the sessions that could have changed something up to a step.
func (g *gcPlan) authors(s *stepFacts) []string {
	if joined := g.by.of[s.by]; joined != "" {
		return strings.Split(joined, model.BySeparator)
	}
	return nil
}

// between gives what differs between two trees.
func (g *gcPlan) between(from, to objstore.ID, p *pacer, fn func(tree.Change)) error {
	return tree.Diff(lostEmpty{g.read}, from, to, func(ch tree.Change) error {
		fn(ch)
		return p.pause(p.ctx)
	})
}

// lostEmpty gives trees that are known to be lost as empty.
type lostEmpty struct{ objstore.Getter }

// Get implements objstore.Getter.
func (l lostEmpty) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	raw, err := l.Getter.Get(k, id)
	if errors.Is(err, objstore.ErrLost) {
		return tree.Encode(nil)
	}
	return raw, err
}
