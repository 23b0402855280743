package snapshot

import (
	"slices"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Without a watcher, every directory is opened and every file's stamp is read. A directory is not listed if no name in
// it came or went since the last snapshot. If nothing in it changed at all, it is taken over: it is not written and
// compared again.
//
// No name came or went if the directory has the same stamp as then, on a file system that stamps directories
// (Dir.StampsNames). It must have had the stamp for so long that any later change would have given it another
// (reliable, as for files).

// untrackedDir is what is known of a directory without a watcher, so that it need not be listed.
type untrackedDir struct {
	stamp dirStamp
	above *ignore.Dir // the rules without the ignore files in it
	ruled uint8       // bits: which of RuleFiles are in it
	plain bool        // no listing is needed while stamp and rules are the same
}

// dirStamp changes when names come or go in a directory.
type dirStamp struct{ mtime, ctime int64 }

// beginUntracked finds out whether the last snapshot is of use without a watcher, and whether this one will be.
func (s *scan) beginUntracked() error {
	s.keeps = s.Root.StampsNames()
	b := s.Cache.base
	if !s.keeps || !s.matches || b == nil {
		return nil
	}
	if b.watch == nil && b.inputs == inputsOf(&s.Source) && s.Cache.root == b.root.id {
		s.prior = b
	}
	return nil
}

// untrackedDirOf is what the next snapshot needs to know of a directory; nil: it must list it.
func (s *scan) untrackedDirOf(n *node) *untrackedDir {
	if !s.keeps {
		return nil
	}
	return &untrackedDir{stamp: n.stamp, above: n.above, ruled: n.ruled, plain: s.isPlain(n)}
}

// isPlain reports whether every name in a directory is decided by the listing, the rules and the stamps of the cache:
// none is unreadable, torn, over the size limit, a mount, racy, or perhaps a companion by and by.
func (s *scan) isPlain(n *node) bool {
	st := stamp{mtime: n.stamp.mtime, ctime: n.stamp.ctime}
	if n.foreign || n.undecided.Load() || worktreefs.SameName(n.name, ".agent") {
		return false
	}
	if n.id.dev != s.dev || !st.reliable(s.start) {
		return false
	}
	secrets, files := 0, 0
	for i := range n.skips {
		switch n.skips[i].Reason {
		case tree.ReasonSecret:
			secrets++
		case tree.ReasonIgnored, tree.ReasonBuiltin, tree.ReasonPipe, tree.ReasonSocket, tree.ReasonDevice:
		default:
			return false
		}
	}
	for i := range n.entries {
		if n.entries[i].Type != tree.TypeDir {
			files++
		}
	}
	for i := range n.files {
		if n.files[i].stamp.kind == cachedSecret {
			secrets--
		} else {
			files--
		}
	}
	return secrets == 0 && files == 0
}

// isUnchanged reports whether nothing in an open directory can have changed but what is in the directories below.
func (s *scan) isUnchanged(n *node) bool {
	b := n.prior
	if b == nil || !b.untracked.plain || b.untracked.stamp != n.stamp {
		return false
	}
	if b.fileID() != n.id || b.perm != n.perm {
		return false
	}
	if !s.sameRules(n) {
		return false
	}
	var bytes int64
	files := n.known
	for i := range files {
		f := &files[i]
		if i%64 == 0 && s.failed() {
			return false
		}
		st, err := n.dir.Lstat(f.name)
		other := err != nil || st.Type != f.stamp.fileType()
		if other || stampOf(f.stamp.kind, st) != f.stamp || !f.stamp.reliable(s.start) {
			return false
		}
		if f.stamp.kind == cachedFile {
			bytes += st.Size
		}
	}
	s.count.files.Add(int64(len(files))) // for Progress, which need not be exact about links and secrets
	s.count.bytes.Add(bytes)
	return true
}

// sameRules reports whether the ignore files in a directory are the same, of which the names are.
func (s *scan) sameRules(n *node) bool {
	k, above := n.prior.untracked, n.rules
	if k.ruled != 0 {
		var names []worktreefs.Dirent
		for i, name := range s.RuleFiles[:min(2, len(s.RuleFiles))] {
			if k.ruled>>i&1 != 0 {
				names = append(names, worktreefs.Dirent{Name: name, Type: worktreefs.TypeFile})
			}
		}
		slices.SortFunc(names, func(a, b worktreefs.Dirent) int { return strings.Compare(a.Name, b.Name) })
		s.readRules(n, names)
	}
	if n.rules == n.prior.rules {
		return true
	}
	n.rules, n.ruled = above, 0
	return false
}

// enterUnchanged enters the directories below an unchanged one.
func (s *scan) enterUnchanged(n *node) {
	n.unchanged = true
	subs := n.prior.subs
	if len(subs) == 0 {
		return
	}
	below := make([]node, len(subs))
	tasks := make([]task, len(subs))
	for i, sub := range subs {
		c := &below[i]
		c.parent, c.name, c.path, c.depth, c.only = n, sub.name, tree.Join(n.path, sub.name), n.depth+1, sub.only
		c.prior, c.rules, c.above = sub, sub.untracked.above, sub.untracked.above
		c.old = s.Cache.dir(c.path)
		c.users.Store(1)
		c.pending.Store(1)
		tasks[i].n = c
	}
	n.users.Add(int32(len(subs)))
	n.pending.Add(int32(len(subs)))
	s.push(tasks...)
}

// keep takes a directory over as it was, if it is unchanged; else it fills in from the last snapshot what was not
// looked at.
func (s *scan) keep(n *node) bool {
	b := n.prior
	slices.SortFunc(n.subs, func(a, b *baseDir) int { return strings.Compare(a.name, b.name) })
	if len(n.entries) == 0 && len(n.skips) == 0 && slices.Equal(n.subs, b.subs) {
		if n.old != nil && !b.id.IsZero() {
			n.old.seen = s
		}
		s.handUp(n, b)
		return true
	}
	n.entries = appendKnown(n.entries, n.known, n.subs)
	n.files = append(n.files, n.known...)
	n.skips = append(n.skips, b.skips...)
	return false
}

// handUp gives a finished directory to its parent.
func (s *scan) handUp(n *node, b *baseDir) {
	if n.parent == nil {
		s.root = b
		return
	}
	if !b.id.IsZero() && !n.parent.unchanged { // an unchanged parent has the entry by its subs
		s.add(n.parent, tree.Entry{Name: b.name, Type: tree.TypeDir, Perm: b.perm, ID: b.id}, nil)
	}
	n.parent.mu.Lock()
	defer n.parent.mu.Unlock()
	n.parent.subs = append(n.parent.subs, b)
}

// fileType is the type of entry that has the stamp.
func (s *stamp) fileType() worktreefs.Type {
	if s.kind == cachedSymlink {
		return worktreefs.TypeSymlink
	}
	return worktreefs.TypeFile
}
