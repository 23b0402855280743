package snapshot

import (
	"slices"

	"rewind/tree"
)

// Named are paths that calls of agents have named: files there are captured although a rule leaves them out, each below
// the size limit and no secret, as any other file. A directory is not: what is in it nobody named. Every snapshot looks
// at all of them, and its note lists them, so that a path that is not in the tree was not there. A Named does not
// change; nil has no paths.
type Named struct {
	paths        []string // ascending
	exact, above map[string]bool
}

// MaxNamed is how many paths a Named is to have.
const MaxNamed = 1024

// NewNamed is a Named with the given paths; nil for none.
func NewNamed(paths []string) *Named {
	if len(paths) == 0 {
		return nil
	}
	n := &Named{paths: slices.Compact(slices.Sorted(slices.Values(paths))), exact: map[string]bool{}, above: map[string]bool{}}
	for _, p := range n.paths {
		n.exact[p] = true
		for dir, _ := tree.Split(p); dir != "" && !n.above[dir]; dir, _ = tree.Split(dir) {
			n.above[dir] = true
		}
	}
	return n
}

// With is n with more paths. n itself, if it has them all.
func (n *Named) With(paths []string) *Named {
	if !slices.ContainsFunc(paths, func(p string) bool { return !n.has(p) }) {
		return n
	}
	return NewNamed(append(slices.Clone(n.Paths()), paths...))
}

// Paths lists the paths, ascending; they are not to be changed.
func (n *Named) Paths() []string {
	if n == nil {
		return nil
	}
	return n.paths
}

// has reports whether a path is one of them.
func (n *Named) has(path string) bool { return n != nil && n.exact[path] }

// below reports whether one of them lies below a directory.
func (n *Named) below(dir string) bool { return n != nil && n.above[dir] }

// contains reports whether n has all paths of other.
func (n *Named) contains(other *Named) bool {
	return n == other || !slices.ContainsFunc(other.Paths(), func(p string) bool { return !n.has(p) })
}

// note adds a line for each path to the sorted lines of a note. A path that has a line as an ignored one, for something
// else is there now than a file, keeps that.
func (n *Named) note(skips []tree.Skip) []tree.Skip {
	var more []tree.Skip
	for _, p := range n.Paths() {
		if !slices.ContainsFunc(tree.LinesAt(skips, p), func(s tree.Skip) bool { return s.Reason == tree.ReasonIgnored }) {
			more = append(more, tree.NamedSkip(p))
		}
	}
	if len(more) == 0 {
		return skips
	}
	skips = append(skips, more...)
	slices.SortFunc(skips, tree.CompareSkips)
	return skips
}

// newlyNamed are the names to look at for the paths that the baseline does not know as named: the path itself, or the
// topmost directory above it that was not entered.
func (s *scan) newlyNamed() dirtySet {
	was := s.base.inputs.named
	if was == s.Named {
		return nil
	}
	look := dirtySet{}
	for _, path := range s.Named.Paths() {
		if was.has(path) {
			continue
		}
		dir, at := "", s.base.root
		name, rest := first(path)
		for rest != "" {
			sub := at.sub(name)
			if sub == nil {
				break
			}
			dir, at = tree.Join(dir, name), sub
			name, rest = first(rest)
		}
		look.add(dir, name, touched)
	}
	return look
}

// passedOver reports whether a name in an ignored directory is of no interest, so that it need not be looked at when it
// has changed.
func (s *scan) passedOver(n *node, name string) bool {
	if !n.only {
		return false
	}
	path := tree.Join(n.path, name)
	take := s.Tracked != nil && s.Tracked.File(path) || s.Force != nil
	return !take && !s.Named.has(path) && !s.wantedBelow(path)
}

// Sees reports whether the last committed snapshot entered the directory of a path, so that this is one and no link,
// and whether there may be a link at the path itself. It looks at nothing but what is in memory, and allocates nothing.
func (c *Cache) Sees(path string) (entered, link bool) {
	dir, name := tree.Split(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dirs[dir]
	if d == nil {
		return false, false
	}
	kind := d.files.kindOf(name)
	return true, kind == cachedSymlink || kind == 0 && c.base.unsureOf(dir, name)
}

// unsureOf reports whether a name that the stat cache does not have may be there all the same: its stamp proved
// nothing.
func (b *baseline) unsureOf(dir, name string) bool {
	return b == nil || b.watch == nil || b.racy[dir][name]|b.again[dir][name] != 0
}
