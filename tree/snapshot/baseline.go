package snapshot

import (
	"slices"
	"strings"

	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// baseline is a whole tree as a snapshot found it. Under a watcher the next snapshot takes over what was not reported
// since. Without one (watch is nil) it has no entries, and spares the next one the listing and writing of unchanged
// directories (untracked.go).
type baseline struct {
	root   *baseDir
	skips  []tree.Skip // of the whole tree, sorted
	again  dirtySet    // names that the next snapshot looks at, reported or not
	racy   dirtySet    // racy names: the next snapshot that is not Hasty looks at them
	inputs inputs
	watch  *Watcher
	epoch  uint64 // of the watcher
}

// inputs are what decides about a snapshot besides the tree.
type inputs struct {
	generation   string
	sizeLimit    int64
	storeSecrets bool
	secretKey    [32]byte
	ruleFiles    [2]string
	gitDirs      string
	named        *Named
}

func inputsOf(s *Source) inputs {
	in := inputs{generation: s.Generation, sizeLimit: s.SizeLimit, storeSecrets: s.StoreSecrets, secretKey: s.SecretKey, named: s.Named}
	copy(in.ruleFiles[:], s.RuleFiles)
	in.gitDirs = strings.Join(s.GitDirs, "\x00")
	return in
}

// baseDir is one directory of a baseline. It is immutable, and shared by all baselines in which nothing below it
// changed.
type baseDir struct {
	name     string
	perm     uint16
	only     bool
	foreign  bool // not captured for what it is: see whatForeign
	dev, ino uint64
	rules    *ignore.Dir  // with the ignore files in the directory
	id       objstore.ID  // zero: a foreign directory, or an ignored one that holds nothing to capture
	files    *cacheDir    // its files in the stat cache; nil: none
	rest     []tree.Entry // tree entries that follow from neither files nor subs
	flat     bool         // rest has all entries
	subs     []*baseDir   // the directories that were entered, by name
	skips    []tree.Skip  // of names in it and of the directory itself; sorted
	sum      sums
	noted    *byte // equal pointers: the skips of the directory and of all below are equal

	untracked *untrackedDir // without a watcher; nil: the directory must be listed
}

// sums count what is in a directory and below.
type sums struct {
	files, dirs, links, torn, skips int
	bytes                           int64
}

// seal sets what follows from the entries of the tree and the fields that are set. before is the directory in the
// previous snapshot; nil: none.
func (b *baseDir) seal(entries []tree.Entry, before *baseDir) {
	for i := range entries {
		switch entries[i].Type {
		case tree.TypeFile:
			b.sum.files++
			b.sum.bytes += entries[i].Size
		case tree.TypeSymlink:
			b.sum.links++
		case tree.TypeDir:
			b.sum.dirs++
		}
	}
	for i := range b.skips {
		b.sum.skips++
		if b.skips[i].Reason == tree.ReasonTorn {
			b.sum.torn++
		}
	}
	for _, sub := range b.subs {
		b.sum.files += sub.sum.files
		b.sum.dirs += sub.sum.dirs
		b.sum.links += sub.sum.links
		b.sum.torn += sub.sum.torn
		b.sum.skips += sub.sum.skips
		b.sum.bytes += sub.sum.bytes
	}
	if before != nil && slices.Equal(b.skips, before.skips) && sameNotes(b.subs, before.subs) {
		b.noted = before.noted
	} else {
		b.noted = new(byte)
	}
}

// sameNotes reports whether two lists of directories have equal skips below.
func sameNotes(a, b []*baseDir) bool {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && a[0].sum.skips == 0:
			a = a[1:]
		case len(b) > 0 && b[0].sum.skips == 0:
			b = b[1:]
		case len(a) == 0 || len(b) == 0 || a[0].name != b[0].name || a[0].noted != b[0].noted:
			return false
		default:
			a, b = a[1:], b[1:]
		}
	}
	return true
}

// sub is the directory of a name below b; nil: none was entered, or b is nil.
func (b *baseDir) sub(name string) *baseDir {
	if b == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(b.subs, name, func(d *baseDir, name string) int { return strings.Compare(d.name, name) })
	if !ok {
		return nil
	}
	return b.subs[i]
}

// gather appends the skips of the directory and of all below.
func (b *baseDir) gather(skips []tree.Skip) []tree.Skip {
	if b.sum.skips == 0 {
		return skips
	}
	skips = append(skips, b.skips...)
	for _, sub := range b.subs {
		skips = sub.gather(skips)
	}
	return skips
}

// gone calls f with the path of every directory of b that is not in now, which may be nil.
func (b *baseDir) gone(now *baseDir, path string, f func(path string)) {
	if b == now {
		return
	}
	if now == nil {
		f(path)
	}
	for _, sub := range b.subs {
		sub.gone(now.sub(sub.name), tree.Join(path, sub.name), f)
	}
}

// decides reports whether t has a name by which all below a directory is decided anew: an ignore file, or what says
// what it is.
func (t *todo) decides(was, is *baseDir, ruleFiles []string) bool {
	for _, name := range ruleFiles {
		if t.names[name] != 0 {
			return true
		}
	}
	return was.foreign != is.foreign && (t.all || t.tellsForeign())
}

// has reports whether t has a name, or one of the same database: what becomes of one decides about the others.
func (t *todo) has(name string) bool {
	if t.all || t.names[name] != 0 {
		return true
	}
	of, ok := tree.CompanionOf(name)
	return ok && t.names[of] != 0
}

// unreported counts the names that differ between two states of a directory, and below, and that t does not have.
func unreported(was, is *baseDir, t *todo, ruleFiles []string) int {
	if t == nil {
		t = &todo{}
	}
	if t.decides(was, is, ruleFiles) {
		return 0
	}
	n := 0
	if was.id != is.id {
		n = unreportedNames(was, is, t)
	}
	for _, sub := range is.subs {
		if old := was.sub(sub.name); old != nil && t.names[sub.name]&moved == 0 {
			n += unreported(old, sub, t.below[sub.name], ruleFiles)
		}
	}
	return n
}

// unreportedNames counts the names in the directory itself.
func unreportedNames(was, is *baseDir, t *todo) (n int) {
	differs := func(name string) {
		if !t.has(name) {
			n++
		}
	}
	one := func(name string) {
		if was.sub(name) == nil || is.sub(name) == nil { // else all below it came or went
			differs(name)
		}
	}
	a, b := was.list(), is.list()
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Name < b[0].Name:
			one(a[0].Name)
			a = a[1:]
		case b[0].Name < a[0].Name:
			one(b[0].Name)
			b = b[1:]
		default:
			if !sameInDir(&a[0], &b[0]) {
				differs(a[0].Name)
			}
			a, b = a[1:], b[1:]
		}
	}
	for _, e := range a {
		one(e.Name)
	}
	for _, e := range b {
		one(e.Name)
	}
	return n
}

// sameInDir reports whether two entries are the same but for what is below them.
func sameInDir(a, b *tree.Entry) bool {
	if a.Type == tree.TypeDir && b.Type == tree.TypeDir {
		return a.Perm == b.Perm
	}
	return tree.Same(a, b)
}
