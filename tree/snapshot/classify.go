package snapshot

import (
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
	"rewind/tree/ignore"
)

// classify decides about one name: it is skipped, known from the cache, a directory to enter, or a file to be read,
// which is returned. hint is its type in the listing, 0: unknown.
func (s *scan) classify(n *node, name string, hint worktreefs.Type) (miss, bool) {
	path := tree.Join(n.path, name)
	if s.passes(n, name, path) {
		return miss{}, false
	}
	forced, take := s.taken(n, path)
	named := s.Named.has(path)
	ignores := func(isDir bool) bool { return s.ignored(n, name, isDir, take || named && !isDir) }
	isDir, ignored := hint == worktreefs.TypeDir, false
	if hint != 0 {
		ignored = ignores(isDir)
		if ignored && !s.enters(isDir, path) {
			s.noteIgnored(n, name, path, isDir)
			return miss{}, false
		}
	}
	st, err := n.dir.Lstat(name)
	if err != nil {
		s.notStated(n, name, path, err, n.only && !take && !named)
		return miss{}, false
	}
	if hint == 0 || isDir != (st.Type == worktreefs.TypeDir) {
		isDir = st.Type == worktreefs.TypeDir
		ignored = ignores(isDir)
	}
	if ignored {
		s.noteIgnored(n, name, path, isDir)
		if !s.enters(isDir, path) {
			return miss{}, false
		}
	}
	if isDir {
		s.enter(n, name, path, st, ignored, forced, take)
		return miss{}, false
	}
	return s.classifyLeaf(n, miss{name: name, path: path, take: take}, st)
}

// passes reports whether a name is passed over whatever the rules say: it is ours, or no tree can have it.
func (s *scan) passes(n *node, name, path string) bool {
	if ours, sure := s.isOurs(n, name); ours {
		if !sure {
			s.unsure(n, name, moved)
		}
		if !n.only {
			s.skip(n, tree.Skip{Path: path, Reason: tree.ReasonBuiltin})
		}
		return true
	}
	if tree.CheckName(name) != "" || len(path) > tree.MaxPath || n.depth >= tree.MaxDepth-1 {
		s.unreadable(n, name, path, n.only)
		return true
	}
	return false
}

// taken reports whether a path is captured whatever the rules say: it is forced, or take: that or tracked.
func (s *scan) taken(n *node, path string) (forced, take bool) {
	forced = n.whole || s.Force != nil && s.Force(path)
	return forced, forced || s.Tracked != nil && s.Tracked.File(path)
}

// notStated notes a name of which nothing can be asked.
func (s *scan) notStated(n *node, name, path string, err error, quiet bool) {
	switch kindOfError(err) {
	case isFatal:
		s.fail(err)
	case isGone:
	default:
		s.unreadable(n, name, path, quiet)
	}
}

// classifyLeaf decides about what is no directory and not ignored.
func (s *scan) classifyLeaf(n *node, m miss, st worktreefs.Stat) (miss, bool) {
	reason := tree.ReasonDevice
	switch st.Type {
	case worktreefs.TypeSymlink:
		m.kind = cachedSymlink
		return s.known(n, m, st)
	case worktreefs.TypeFile:
		m.kind, m.size = cachedFile, st.Size
		if s.tooLarge(m, st.Size) {
			s.skip(n, tree.Skip{Path: m.path, Reason: tree.ReasonSize, Size: st.Size})
			return miss{}, false
		}
		if !m.take && s.isSecret(n, m) {
			m.kind = cachedSecret
		}
		return s.known(n, m, st)
	case worktreefs.TypePipe:
		reason = tree.ReasonPipe
	case worktreefs.TypeSocket:
		reason = tree.ReasonSocket
	}
	s.skip(n, tree.Skip{Path: m.path, Reason: reason})
	return miss{}, false
}

func (s *scan) tooLarge(m miss, size int64) bool {
	return !m.take && s.SizeLimit > 0 && size > s.SizeLimit
}

// isSecret reports whether a file is one of the secret list, or goes with one.
func (s *scan) isSecret(n *node, m miss) bool {
	return !s.StoreSecrets && (s.Secret != nil && s.Secret(m.path) || n.fate(m.name).secret)
}

// ignored decides by the rules. take (tracked, forced or named) beats them, and so does what became of a companion's
// database; in an ignored directory all else is ignored.
func (s *scan) ignored(n *node, name string, isDir, take bool) bool {
	if take {
		return false
	}
	if f := n.fate(name); f.captured || f.left {
		return f.left
	}
	if n.only {
		return true
	}
	ignored, _ := n.rules.Match(name, isDir)
	return ignored
}

func (s *scan) noteIgnored(n *node, name, path string, isDir bool) {
	if n.only {
		return // the skip of the ignored directory stands for all below
	}
	reason := tree.ReasonIgnored
	if _, by := n.rules.Match(name, isDir); by.Builtin() {
		reason = tree.ReasonBuiltin
	}
	s.skip(n, tree.Skip{Path: path, Reason: reason})
}

// wantedBelow reports whether something in an ignored directory is to be captured all the same.
func (s *scan) wantedBelow(dir string) bool {
	if s.Tracked != nil && s.Tracked.Below(dir) {
		return true
	}
	return s.Named.below(dir) || s.Force != nil && (s.ForceBelow == nil || s.ForceBelow(dir))
}

// enters reports whether something that is ignored is looked into all the same.
func (s *scan) enters(isDir bool, path string) bool { return isDir && s.wantedBelow(path) }

// enter takes a directory over, or makes it a task.
func (s *scan) enter(n *node, name, path string, st worktreefs.Stat, ignored, forced, take bool) {
	c := &node{parent: n, name: name, path: path, depth: n.depth + 1, whole: forced}
	c.only = ignored || n.only && !take
	if s.base != nil && s.resume(n, c, st) {
		return
	}
	s.descend(n, c)
}

// descend makes a directory a task.
func (s *scan) descend(n, c *node) {
	if c.prior = n.prior.sub(c.name); c.prior != nil && (c.prior.only != c.only || n.rules != n.prior.rules) {
		c.prior = nil
	}
	switch {
	case c.only || c.whole:
	case c.prior != nil:
		c.rules = c.prior.untracked.above
	default:
		rules := n.rules
		if rules == nil { // a tracked directory (a submodule) inside an ignored or forced one
			rules = ignore.New(ignore.Options{})
		}
		c.rules = rules.Child(c.name)
	}
	c.above = c.rules
	c.old = s.Cache.dir(c.path)
	c.users.Store(1)
	c.pending.Store(1)
	n.users.Add(1)
	n.pending.Add(1)
	s.push(task{n: c})
}

// isOurs reports whether a name is git's directory in any spelling, rewind's, or what a restore left. sure: the name
// alone decides that.
func (s *scan) isOurs(n *node, name string) (ours, sure bool) {
	if !mayBeOurs(name) {
		return false, true
	}
	if strings.HasPrefix(name, tree.StagePrefix) || worktreefs.IsDotGit(name) {
		return true, true
	}
	if n.parent == nil || !worktreefs.SameName(n.name, ".agent") || !worktreefs.SameName(name, "rewind") {
		return false, true
	}
	if n.depth == 1 && n.name == ".agent" && name == "rewind" {
		return true, true
	}
	// Further down, and in another spelling, a directory is a nested project's marker if it has an id.
	dir, err := n.dir.OpenDir(name)
	if err != nil {
		return false, false
	}
	defer dir.Close()        //nolint:errcheck // only read
	_, err = dir.Lstat("id") // the file that makes a directory a marker
	return err == nil, false
}

// mayBeOurs reports whether isOurs has to look at a name: by its first byte nearly none.
func mayBeOurs(name string) bool {
	if name == "" {
		return false
	}
	first := name[0]
	plain := first != '.' && first < 0x80
	may := !plain || first|0x20 == 'g'
	return may || first|0x20 == 'r' || strings.Contains(name, `\`)
}

// readRules sets the rules of a directory: the ignore files in it, on top of those above.
func (s *scan) readRules(n *node, names []worktreefs.Dirent) {
	if n.rules == nil || len(s.RuleFiles) == 0 {
		return
	}
	memo := s.Cache.ruleMemo(n.path)
	fresh := &ruleMemo{parent: n.rules}
	if s.base == nil {
		fresh.seen = s
	}
	any := false
	for i, name := range s.RuleFiles[:min(2, len(s.RuleFiles))] {
		if lists(names, name) {
			n.ruled |= 1 << i
			any = s.statRuleFile(n, i, name, fresh, memo) || any
		}
	}
	if !any {
		return
	}
	same := memo != nil && memo.parent == fresh.parent && memo.stamps == fresh.stamps
	if same && s.reliableAll(memo) {
		fresh.dir = memo.dir
	} else {
		fresh.dir = n.rules.WithFiles(fresh.files[0], fresh.files[1])
	}
	n.rules = fresh.dir
	s.Cache.setRuleMemo(n.path, fresh)
}

// statRuleFile takes an ignore file from the memo, or reads it; false: there is no such file.
func (s *scan) statRuleFile(n *node, i int, name string, fresh, memo *ruleMemo) bool {
	st, err := n.dir.Lstat(name)
	if err != nil || st.Type != worktreefs.TypeFile || st.Size > maxRuleFile {
		return false
	}
	stamp := stampOf(cachedFile, st)
	if !stamp.reliable(s.start) {
		s.unsure(n, name, touched)
	}
	fresh.stamps[i] = stamp
	if memo != nil && memo.stamps[i] == stamp && stamp.reliable(s.start) {
		fresh.files[i] = memo.files[i]
	} else {
		fresh.files[i] = ignore.File{Path: tree.Join(n.path, name), Data: s.readRuleFile(n, name)}
	}
	return true
}

// reliableAll reports whether all stamps of a memo are reliable.
func (s *scan) reliableAll(m *ruleMemo) bool {
	for i := range m.stamps {
		if m.stamps[i] != (stamp{}) && !m.stamps[i].reliable(s.start) {
			return false
		}
	}
	return true
}

// readRuleFile is the content of an ignore file. One that cannot be read counts as empty, so more is captured.
func (s *scan) readRuleFile(n *node, name string) []byte {
	f, _, err := n.dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := readAtMost(f, maxRuleFile)
	if err != nil {
		return nil
	}
	return data
}
