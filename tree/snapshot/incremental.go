package snapshot

import (
	"slices"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// begin finds out what the snapshot need not look at.
func (s *scan) begin() error {
	if s.Cache == nil || s.Force != nil || s.Generation == "" {
		return nil
	}
	if s.Watcher != nil {
		st, err := s.Root.Stat()
		if err != nil {
			return err
		}
		s.sight = s.Watcher.begin(st)
	}
	if s.sight == nil {
		return s.beginUntracked()
	}
	if s.Full || !s.resumable() {
		return nil
	}
	b := s.Cache.base
	if !s.matches { // the tree was committed and nothing was removed since; ask whether the store is the same
		if s.has == nil {
			return nil
		}
		if there, err := s.has(objstore.Tree, b.root.id); err != nil || !there {
			return err
		}
	}
	s.base, s.matches = b, true
	return nil
}

// resumable reports whether this snapshot differs from the cache's baseline only by what was reported.
func (s *scan) resumable() bool {
	b := s.Cache.base
	sameLife := b != nil && b.watch == s.Watcher && b.epoch == s.sight.epoch
	if !sameLife || s.Cache.root != b.root.id || !s.Named.contains(b.inputs.named) {
		return false
	}
	was := b.inputs
	was.named = s.Named // those that are new are looked at
	return was == inputsOf(&s.Source)
}

// end asks the watcher whether the next snapshot can rely on this one, and after a full scan counts what the watcher
// has missed.
func (s *scan) end() {
	if s.sight == nil || s.err != nil {
		return
	}
	s.watched = s.sight.end(s.base == nil)
	fresh := s.watched && s.base == nil
	if fresh && s.resumable() && s.Cache.base.inputs.named == s.Named {
		b := s.Cache.base
		s.sight.missed(unreported(b.root, s.root, todoOf(append(s.sight.reports(), b.again, b.racy)...), b.inputs.ruleFiles[:]))
	}
}

// names lists what is to be looked at in a directory: all names, or those that may have changed; sorted.
func (s *scan) names(n *node) ([]worktreefs.Dirent, error) {
	if n.base != nil && (n.base.fileID() != n.id || s.decidedAnew(n)) {
		n.base, n.todo = nil, nil
	}
	if n.base == nil && !s.sight.watch(n.path, n.id) {
		s.unsure(n.parent, n.name, moved)
	}
	names, ok, err := s.changed(n)
	if err == nil && !ok {
		names, err = n.dir.ReadDir()
	}
	slices.SortFunc(names, func(a, b worktreefs.Dirent) int { return strings.Compare(a.Name, b.Name) })
	return names, err
}

func (b *baseDir) fileID() fileID { return fileID{b.dev, b.ino} }

// decidedAnew reports whether all below a directory is decided anew: an ignore file in it may have changed, or what it
// is.
func (s *scan) decidedAnew(n *node) bool {
	for _, name := range s.RuleFiles {
		if n.todo.names[name] != 0 {
			return true
		}
	}
	return n.base.foreign || n.parent != nil && n.todo.tellsForeign()
}

// changed gives the names that may have changed, as ReadDir would. ok false: the whole directory must be listed.
func (s *scan) changed(n *node) (names []worktreefs.Dirent, ok bool, err error) {
	if n.base == nil || n.todo.all {
		return nil, false, nil
	}
	n.withCompanions()
	for name := range n.todo.names {
		if s.passedOver(n, name) {
			continue
		}
		st, err := n.dir.Lstat(name)
		if err == nil {
			names = append(names, worktreefs.Dirent{Name: name, Type: st.Type})
			continue
		}
		switch kindOfError(err) {
		case isGone:
		case isFatal:
			return nil, false, err
		default: // a listing may have the type all the same
			n.todo.all = true
			return nil, false, nil
		}
	}
	return names, true, nil
}

// takeOver fills a directory with all of the last snapshot but the names that are looked at, and enters the directories
// below that have such.
func (s *scan) takeOver(n *node) {
	t := n.todo
	var subs []*baseDir
	n.subs = make([]*baseDir, 0, len(n.base.subs)+1)
	for _, sub := range n.base.subs {
		switch {
		case t.names[sub.name] != 0:
		case t.below[sub.name] != nil:
			subs = append(subs, sub)
		default:
			n.subs = append(n.subs, sub)
		}
	}
	before := n.base.list()
	n.entries = make([]tree.Entry, 0, len(before)+len(t.names))
	for i := range before {
		e := &before[i]
		if t.names[e.Name] == 0 && (e.Type != tree.TypeDir || t.below[e.Name] == nil) {
			n.entries = append(n.entries, *e)
		}
	}
	for _, k := range n.base.skips {
		if k.Path == n.path { // the directory itself is a mount, which is looked at again
			continue
		}
		if _, name := tree.Split(k.Path); t.names[name] == 0 {
			n.skips = append(n.skips, k)
		}
	}
	if n.old != nil {
		n.files = make([]cached, 0, len(n.known)+len(t.names))
		for i := range n.known {
			if t.names[n.known[i].name] == 0 {
				n.files = append(n.files, n.known[i])
			}
		}
	}
	for _, sub := range subs {
		s.descend(n, &node{
			parent: n, name: sub.name, path: tree.Join(n.path, sub.name), depth: n.depth + 1, only: sub.only,
			base: sub, todo: t.below[sub.name],
		})
	}
}

// resume finds the directory c, which was looked at, in the last snapshot; true: it is taken over as it is.
func (s *scan) resume(n, c *node, st worktreefs.Stat) bool {
	sub := n.base.sub(c.name)
	var m dirtyKind
	var t *todo
	if n.todo != nil {
		m, t = n.todo.names[c.name], n.todo.below[c.name]
	}
	if m&moved != 0 {
		s.sight.drop(c.path)
		return false
	}
	if sub == nil || sub.only != c.only || sub.fileID() != fileIDOf(st) {
		return false
	}
	if m == 0 && t == nil && sub.perm == st.Perm {
		if !sub.id.IsZero() {
			s.add(n, tree.Entry{Name: sub.name, Type: tree.TypeDir, Perm: sub.perm, ID: sub.id}, nil)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.subs = append(n.subs, sub)
		return true
	}
	if t == nil {
		t = &todo{}
	}
	t.all = t.all || m != 0 || sub.perm != st.Perm
	c.base, c.todo = sub, t
	return false
}

// note collects the skips of all directories.
func (s *scan) note() {
	for _, b := range []*baseline{s.base, s.prior} {
		if b != nil && s.root.noted == b.root.noted && b.inputs.named == s.Named {
			s.skips = b.skips
			return
		}
	}
	s.skips = s.root.gather(nil)
	slices.SortFunc(s.skips, tree.CompareSkips)
	s.skips = slices.CompactFunc(s.skips, func(a, b tree.Skip) bool { return tree.CompareSkips(a, b) == 0 })
	s.skips = s.Named.note(s.skips)
}

// stageGone tells the cache which directories do not exist any more.
func (s *scan) stageGone() {
	c := s.Cache
	gone := func(path string) {
		if c.dirs[path] != nil {
			c.staged.gone[path] = true
		}
		delete(c.rules, path)
	}
	s.base.root.gone(s.root, "", gone)
	for _, path := range s.gone {
		gone(path)
	}
}

// baseline is what the next snapshot starts from; nil: it cannot rely on this one.
func (s *scan) baseline() *baseline {
	switch {
	case !s.watched:
		return nil
	case s.base != nil && s.root == s.base.root && len(s.again) == 0 && len(s.base.again) == 0 && s.base.inputs.named == s.Named:
		return s.base
	}
	return &baseline{
		root: s.root, skips: s.skips, again: s.again, racy: s.racy, inputs: inputsOf(&s.Source), watch: s.Watcher,
		epoch: s.sight.epoch,
	}
}
