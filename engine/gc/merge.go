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

// squashAll makes the squash records of the checkpoints that stay. A step that goes is merged into the next step of the
// log that stays, since the states before steps follow each other in the log, not along a line. The newest step always
// stays.
func (g *gcPlan) squashAll(p *pacer) error {
	g.squashes = map[objstore.ID]*model.Squash{}
	near := make([]int32, len(g.steps)) // of each step, the nearest on its line that stays, itself included
	run := int32(-1)                    // the first step that the next one takes in; -1: none
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

// squashOf is a checkpoint's squash record as it is now; without one, a record that changes nothing.
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

// merge makes of a step's squash record what it is with the steps from first up to last-1 merged into it.
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
			continue // the change came from outside: no session has made it
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

// claims are, by path, the sessions that changed it in the steps that are merged. A path with a slash at its end stands
// for all below.
type claims map[string][]string

func (c claims) add(path string, by []string) {
	switch was, known := c[path]; {
	case !known:
		c[path] = by
	case !slices.Equal(was, by):
		c[path] = model.Sorted(append(slices.Clone(was), by...))
	}
}

// of is all sessions that changed a path, by its own name or by a directory above it.
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

// own adds a path to the list of its authors in whose, if they are not all. A path that stands for a directory is
// everybody's, and so is one that only came from outside: rather one path too many is kept than one too few.
func (c claims) own(whose map[string]*model.Owned, path string, all []string) {
	by := c.of(path)
	nobodys := strings.HasSuffix(path, "/") || len(by) == 0
	if nobodys || len(all) < 2 || slices.Equal(by, all) {
		return
	}
	key := strings.Join(by, model.BySeparator)
	if whose[key] == nil {
		whose[key] = &model.Owned{By: by}
	}
	whose[key].Paths = append(whose[key].Paths, path)
}

// few gives the lists as long as they have at most so many paths together, the shortest first. The paths of the others
// are everybody's.
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

// Coarse gives at most so many paths that cover the given ones, sorted. Where there are more, those deepest down are
// replaced by their directory, with a slash at its end.
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

// authors are the sessions that a step has as its authors.
func (g *gcPlan) authors(s *stepFacts) []string {
	if joined := g.by.of[s.by]; joined != "" {
		return strings.Split(joined, model.BySeparator)
	}
	return nil
}

// between calls fn for what differs between two trees; lost ones count as empty.
func (g *gcPlan) between(from, to objstore.ID, p *pacer, fn func(tree.Change)) error {
	return tree.Diff(lostEmpty{g.read}, from, to, func(ch tree.Change) error {
		fn(ch)
		return p.pause(p.ctx)
	})
}

// lostEmpty is a Getter that gives trees known to be lost as empty ones.
type lostEmpty struct{ objstore.Getter }

// Get implements objstore.Getter.
func (l lostEmpty) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	raw, err := l.Getter.Get(k, id)
	if errors.Is(err, objstore.ErrLost) {
		return tree.Encode(nil)
	}
	return raw, err
}
