package snapshot

import (
	"io"
	"slices"
	"strings"

	"rewind/internal/worktreefs"
	"rewind/tree"
)

// A database and its companions (tree.CompanionOf) are captured as one. A companion is captured if and only if its
// database is, whatever the rules say of it. All of them are captured as they were at one moment; otherwise the
// database is flagged torn.
//
// The size limit and the secret list hold for a companion all the same: a log of a gigabyte is not read at every hook,
// and who has named it a secret means it. It is noted then, and no restore sets the database of such a state.

// database is a file with the names beside it that could be its companions.
type database struct {
	name       string
	companions []string
}

// fate is what a companion shares with its database.
type fate struct {
	captured bool // the database is captured: no rule leaves the companion out
	left     bool // the database is not captured, and so neither is the companion
	secret   bool // the database is a secret file, and so is the companion
}

// databases takes the files with companions, and those, out of the sorted names of a listing.
func databases(names []worktreefs.Dirent) (others []worktreefs.Dirent, found []database) {
	var with map[string]int // by the name of the database: its index in found
	for i := range names {
		if of, ok := companionOf(names, i); ok {
			if with == nil {
				with = map[string]int{}
			}
			k, known := with[of]
			if !known {
				k = len(found)
				with[of], found = k, append(found, database{name: of})
			}
			found[k].companions = append(found[k].companions, names[i].Name)
		}
	}
	if len(found) == 0 {
		return names, nil
	}
	for i, e := range names {
		_, is := with[e.Name]
		if _, companion := companionOf(names, i); !is && !companion {
			others = append(others, e)
		}
	}
	return others, found
}

// companionOf is tree.CompanionOf of a name in a listing, where that has the other name, and both may be files.
func companionOf(names []worktreefs.Dirent, i int) (of string, ok bool) {
	isFile := func(t worktreefs.Type) bool { return t == worktreefs.TypeFile || t == 0 }
	if of, ok = tree.CompanionOf(names[i].Name); !ok || !isFile(names[i].Type) {
		return "", false
	}
	k, ok := slices.BinarySearchFunc(names, of,
		func(e worktreefs.Dirent, name string) int { return strings.Compare(e.Name, name) })
	return of, ok && isFile(names[k].Type)
}

// captureDatabase captures a database and its companions. If one of them changed between the first look and the last,
// all are looked at again, and after the last try the database is flagged torn.
func (s *scan) captureDatabase(n *node, d database) {
	for try := 1; ; try++ {
		before := s.stampsOf(n, d)
		s.captureMembers(n, d)
		if s.failed() || n.entry(d.name) == nil || slices.Equal(s.stampsOf(n, d), before) {
			return
		}
		if try == tries || s.isTorn(n, d) {
			break
		}
		s.takeBack(n, d)
	}
	e := n.entry(d.name)
	s.skip(n, tree.Skip{Path: tree.Join(n.path, d.name), Reason: tree.ReasonTorn, Size: e.Size})
	for _, name := range d.members() {
		s.unsure(n, name, touched)
	}
}

// members are the names of a database and its companions. The database is read first: what is appended to a log after
// that does not contradict it.
func (d database) members() []string { return append([]string{d.name}, d.companions...) }

// stampsOf are the stamps of a database and of all files whose coming, going or changing changes it; zero for what is
// not there.
func (s *scan) stampsOf(n *node, d database) []stamp {
	var stamps []stamp
	for _, name := range append(tree.Companions(d.name), d.members()...) {
		var is stamp
		if st, err := n.dir.Lstat(name); err == nil && !tree.IsRebuilt(name) {
			is = stampOf(cachedFile, st)
		}
		stamps = append(stamps, is)
	}
	return stamps
}

// captureMembers captures the database, and then each of its companions according to what became of that.
func (s *scan) captureMembers(n *node, d database) {
	s.captureOne(n, d.name)
	f := s.fateBy(n, d.name)
	head := headOf(n, d.name)
	for _, name := range d.companions {
		if tree.Accompanies(name, head, headOf(n, name)) {
			n.setFate(name, f)
		} else {
			n.setFate(name, fate{})
			n.undecided.Store(true)
		}
		s.captureOne(n, name)
	}
}

// captureOne looks at a member of a database, and reads it if that must be.
func (s *scan) captureOne(n *node, name string) {
	if m, ok := s.classify(n, name, 0); ok {
		m.member = true
		s.read(n, m)
	}
}

// fateBy is what became of a database that was just looked at.
func (s *scan) fateBy(n *node, name string) fate {
	if e := n.entry(name); e != nil {
		return fate{captured: e.Type == tree.TypeFile}
	}
	path := tree.Join(n.path, name)
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.skips {
		if n.skips[i].Path == path && n.skips[i].Reason == tree.ReasonSecret {
			return fate{secret: true}
		}
	}
	return fate{left: true}
}

// isTorn reports whether a member of a database changed while it was read itself.
func (s *scan) isTorn(n *node, d database) bool {
	members := d.members()
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.skips, func(k tree.Skip) bool {
		_, name := tree.Split(k.Path)
		return k.Reason == tree.ReasonTorn && slices.Contains(members, name)
	})
}

// takeBack drops what was found of a database.
func (s *scan) takeBack(n *node, d database) {
	members := d.members()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = slices.DeleteFunc(n.entries, func(e tree.Entry) bool { return slices.Contains(members, e.Name) })
	n.files = slices.DeleteFunc(n.files, func(f cached) bool { return slices.Contains(members, f.name) })
	n.skips = slices.DeleteFunc(n.skips, func(k tree.Skip) bool {
		_, name := tree.Split(k.Path)
		return k.Path != n.path && slices.Contains(members, name)
	})
}

// checkCompanions captures a database again that was read while it had no companion in the listing, and has one by now:
// what was read may be half of a transaction that is under way.
func (s *scan) checkCompanions(n *node, name string) {
	d := database{name: name}
	for _, c := range tree.Companions(name) {
		if st, err := n.dir.Lstat(c); err == nil && st.Type == worktreefs.TypeFile {
			d.companions = append(d.companions, c)
		}
	}
	if len(d.companions) > 0 {
		s.takeBack(n, d)
		s.captureDatabase(n, d)
	}
}

// headOf is what a file begins with: tree.DatabaseHead bytes, or less; none of a file that cannot be read.
func headOf(n *node, name string) []byte {
	f, _, err := n.dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	return readHead(f)
}

func readHead(f io.ReaderAt) []byte {
	head := make([]byte, tree.DatabaseHead)
	k, err := f.ReadAt(head, 0)
	if err != nil && !ended(err) {
		return nil
	}
	return head[:k]
}

// head is what the file begins with that was read.
func (r *reading) head() []byte {
	if r.data != nil || r.size == 0 {
		return r.data[:min(len(r.data), tree.DatabaseHead)]
	}
	return readHead(r.file)
}

// entry is what was captured of a name; nil: nothing.
func (n *node) entry(name string) *tree.Entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.entries {
		if n.entries[i].Name == name {
			e := n.entries[i]
			return &e
		}
	}
	return nil
}

func (n *node) setFate(name string, f fate) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fates == nil {
		n.fates = map[string]fate{}
	}
	n.fates[name] = f
}

// fate is what the companion of that name shares with its database; for every other name it says nothing.
func (n *node) fate(name string) fate {
	if _, ok := tree.CompanionOf(name); !ok {
		return fate{}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fates[name]
}

// withCompanions adds to the names that may have changed in a directory the other members of their databases: what
// becomes of one decides about the others.
func (n *node) withCompanions() {
	var more []string
	for name := range n.todo.names {
		of, ok := tree.CompanionOf(name)
		if !ok {
			of = name
		} else {
			more = append(more, of)
		}
		if n.base.only { // what is ignored in it is not in the note
			more = append(more, tree.Companions(of)...)
		} else {
			more = n.appendCompanions(more, of)
		}
	}
	for _, name := range more {
		n.todo.names[name] |= touched
	}
}

// appendCompanions appends the names that the last snapshot knew in the directory and that could be companions of a
// file.
func (n *node) appendCompanions(names []string, of string) []string {
	add := func(name string) (more bool) {
		if !strings.HasPrefix(name, of) {
			return false
		}
		if is, ok := tree.CompanionOf(name); ok && is == of {
			names = append(names, name)
		}
		return true
	}
	at, _ := slices.BinarySearchFunc(n.known, of,
		func(f cached, name string) int { return strings.Compare(f.name, name) })
	for ; at < len(n.known) && add(n.known[at].name); at++ {
	}
	at, _ = slices.BinarySearchFunc(n.base.rest, of,
		func(e tree.Entry, name string) int { return strings.Compare(e.Name, name) })
	for ; at < len(n.base.rest) && add(n.base.rest[at].Name); at++ {
	}
	path := tree.Join(n.path, of)
	at, _ = slices.BinarySearchFunc(n.base.skips, path,
		func(k tree.Skip, path string) int { return strings.Compare(k.Path, path) })
	for ; at < len(n.base.skips) && strings.HasPrefix(n.base.skips[at].Path, path); at++ {
		_, name := tree.Split(n.base.skips[at].Path)
		add(name)
	}
	return names
}
