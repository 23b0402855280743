package snapshot

import (
	"errors"
	"slices"
	"strings"

	"rewind/objstore"
	"rewind/tree"
)

// finish writes the tree of a directory whose content is complete, and enters it in its parent.
func (s *scan) finish(n *node) error {
	if n.absent {
		s.unsure(n.parent, n.name, moved)
		return nil
	}
	if n.unchanged && s.keep(n) {
		return nil
	}
	slices.SortFunc(n.entries, tree.ByName)
	// two reports of one path
	n.entries = slices.CompactFunc(n.entries, func(a, b tree.Entry) bool { return a.Name == b.Name })
	if n.foreign || n.only && len(n.entries) == 0 {
		s.leave(n, objstore.ID{}, nil)
		return nil
	}
	raw, err := tree.Encode(n.entries)
	var limit *tree.LimitError
	switch {
	case errors.As(err, &limit) && n.parent != nil:
		s.skip(n.parent, tree.Skip{Path: n.path, Reason: tree.ReasonSize})
		s.unsure(n.parent, n.name, moved)
		return nil
	case err != nil:
		return err
	}
	id, err := s.putTree(n, raw)
	if err != nil {
		return err
	}
	s.leave(n, id, s.stageDir(n, id))
	return nil
}

// leave hands a finished directory to its parent; id zero: it is not in the tree.
func (s *scan) leave(n *node, id objstore.ID, files *cacheDir) {
	b := &baseDir{
		name: strings.Clone(n.name), perm: n.perm, only: n.only, foreign: n.foreign, dev: n.id.dev, ino: n.id.ino, rules: n.rules, id: id,
		subs: n.subs,
	}
	slices.SortFunc(b.subs, func(a, b *baseDir) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(b.subs); i++ {
		if b.subs[i-1].name == b.subs[i].name { // looked at twice: it is not known which of both is in the tree
			s.unsure(n, b.subs[i].name, moved)
		}
	}
	b.subs = slices.CompactFunc(b.subs, func(a, b *baseDir) bool { return a.name == b.name })
	slices.SortFunc(n.skips, tree.CompareSkips)
	b.skips = slices.CompactFunc(n.skips, func(a, b tree.Skip) bool { return tree.CompareSkips(a, b) == 0 })
	if n.base != nil {
		b.seal(n.entries, n.base)
	} else {
		b.seal(n.entries, n.prior)
	}
	if s.sight != nil {
		b.hold(n.entries, n.files, files)
	} else if b.untracked = s.untrackedDirOf(n); b.untracked == nil {
		b.rules = nil
	}
	n.entries, n.files, n.known, n.prevDir, n.skips, n.subs = nil, nil, nil, nil, nil, nil
	if id.IsZero() && n.parent != nil {
		s.drop(n)
	}
	s.handUp(n, b)
}

// drop takes a directory that is not in the tree out of the cache.
func (s *scan) drop(n *node) {
	if n.old == nil || s.base == nil {
		return // stage finds it after a full scan
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(s.gone, n.path)
}

// putTree stores a tree, unless it is known to be stored.
func (s *scan) putTree(n *node, raw []byte) (objstore.ID, error) {
	id := objstore.Sum(objstore.Tree, raw)
	if s.matches && n.old != nil && n.old.tree == id {
		return id, nil
	}
	if s.has != nil {
		there, err := s.has(objstore.Tree, id)
		if err != nil {
			return id, &storeError{err}
		}
		if there {
			return id, nil
		}
	}
	prev := s.prevTree(n)
	if prev == id {
		return id, nil
	}
	return s.put(objstore.Tree, raw, prev)
}

// put stores an object and counts it.
func (s *scan) put(k objstore.Kind, raw []byte, prev objstore.ID) (objstore.ID, error) {
	s.count.puts.Add(1)
	id, err := s.Put.Put(k, raw, prev)
	if err != nil {
		return id, &storeError{err}
	}
	return id, nil
}

// prevTree is the tree of the same path in the previous snapshot; zero: none.
func (s *scan) prevTree(n *node) objstore.ID {
	switch {
	case s.matches && n.old != nil && !n.old.tree.IsZero():
		return n.old.tree
	case n.parent == nil:
		return s.Prev
	}
	prev := s.prev(n.parent)
	if i := tree.Find(prev, n.name); i >= 0 && prev[i].Type == tree.TypeDir {
		return prev[i].ID
	}
	return objstore.ID{}
}

// prev is the entries of the same directory in the previous snapshot, for delta bases. A tree that cannot be read
// counts as empty.
func (s *scan) prev(n *node) []tree.Entry {
	n.prevOnce.Do(func() {
		if id := s.prevTree(n); !id.IsZero() {
			n.prevDir, _ = tree.List(s.Get, id)
		}
	})
	return n.prevDir
}

// prevBlob is the content of the same path in the previous snapshot; zero: none.
func (s *scan) prevBlob(n *node, name string) objstore.ID {
	if s.matches {
		if f := findCached(n.known, name); f != nil && f.stamp.kind != cachedSecret {
			return f.id
		}
	}
	prev := s.prev(n)
	if i := tree.Find(prev, name); i >= 0 && prev[i].Type != tree.TypeDir {
		return prev[i].ID
	}
	return objstore.ID{}
}

// exists reports whether the object that a cache entry names is in the store. It is if the cache describes the previous
// tree, or that tree has it; else the store is asked.
func (s *scan) exists(n *node, f *cached) bool {
	if f.stamp.kind == cachedSecret {
		return true
	}
	if s.refused(f.id) {
		return false
	}
	if s.matches {
		return true
	}
	prev := s.prev(n)
	if i := tree.Find(prev, f.name); i >= 0 && prev[i].ID == f.id && prev[i].Type != tree.TypeDir {
		return true
	}
	if s.has == nil {
		return false
	}
	there, err := s.has(objstore.Blob, f.id)
	return err == nil && there
}

// stageDir notes for the cache what was found in a directory, and returns that.
func (s *scan) stageDir(n *node, id objstore.ID) *cacheDir {
	if s.Cache == nil {
		return nil
	}
	if n.old != nil && s.base == nil {
		n.old.seen = s
	}
	slices.SortFunc(n.files, func(a, b cached) int { return strings.Compare(a.name, b.name) })
	n.files = slices.CompactFunc(n.files, func(a, b cached) bool { return a.name == b.name })
	d := &cacheDir{tree: id}
	if n.old != nil && slices.Equal(n.known, n.files) {
		if d.files = n.old.files; n.old.tree == id {
			return n.old
		}
	} else {
		d.files = packOf(n.files)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs[n.path] = d
	return d
}

// stage puts what the snapshot found into the cache's staged changes.
func (s *scan) stage() {
	c := s.Cache
	if c == nil {
		return
	}
	gather(s.dirs)
	c.staged = &staged{root: s.root.id, dirs: s.dirs, gone: map[string]bool{}, sight: s.sight}
	if s.sight != nil {
		c.staged.base = s.baseline()
	} else if s.keeps {
		c.staged.base = &baseline{root: s.root, skips: s.skips, inputs: inputsOf(&s.Source)}
	}
	if s.base != nil {
		s.stageGone()
		return
	}
	for path, d := range c.dirs {
		if d.seen != s && s.dirs[path] == nil {
			c.staged.gone[path] = true
		}
		d.seen = nil
	}
	for path, m := range c.rules {
		if m.seen != s {
			delete(c.rules, path)
		}
		m.seen = nil
	}
}
