package ignore

// File is a rules file.
type File struct {
	Path string // for messages and Rule.File; never opened
	Data []byte // not kept and not changed
}

// Options are fixed for a whole tree.
type Options struct {
	FoldCase bool // core.ignoreCase: A-Z and a-z are the same
}

// Rule names the line that decided.
type Rule struct {
	File    string // File.Path of its file
	Line    int    // 1-based
	Pattern string // the line without line end and trailing blanks, a leading ! included
}

// Builtin reports whether the rule is one of this program's own, see [Builtin].
func (r *Rule) Builtin() bool { return r != nil && r.File == BuiltinPath }

// Dir is the view of the rules from one directory. It is immutable and safe for concurrent use.
type Dir struct {
	fold  bool
	path  string // from the root: "" or "a/b/"
	depth int    // slashes in path
	git   []list // lowest precedence first
	own   []list
}

// list is what one rules file says below one directory: the rules that can still match there.
type list struct {
	rules []*rule // in file order
	tails []byte  // of each rule, the last byte of every name that it matches; 0: not known
	base  int     // length of the path of the directory that holds the file
	depth int     // depth of that directory
	paths bool    // some rule looks at the path, not only at the name
}

// New gives the root directory. The base files speak of paths from the root and are ordered lowest precedence first:
// built-in, core.excludesFile, info/exclude.
func New(o Options, base ...File) *Dir {
	d := &Dir{fold: o.FoldCase}
	for _, f := range base {
		d.git = d.with(d.git, f)
	}
	return d
}

// Child gives a directory below d without looking for rules files in it.
func (d *Dir) Child(name string) *Dir {
	c := &Dir{fold: d.fold, path: d.path + name + "/", depth: d.depth + 1}
	c.git, c.own = c.inherit(d.git), c.inherit(d.own)
	return c
}

// WithFiles adds the rules files that lie in d: its .gitignore as git and its .rewindignore as own. A zero File adds
// nothing.
func (d *Dir) WithFiles(git, own File) *Dir {
	c := *d
	c.git, c.own = d.with(d.git, git), d.with(d.own, own)
	return &c
}

// Match decides on a name in d, a directory that is not ignored itself. by is the deciding rule, nil where no rule
// matches; it is set as well when a negated rule decides that the name is not ignored.
func (d *Dir) Match(name string, isDir bool) (ignored bool, by *Rule) {
	r := d.last(d.own, name, isDir)
	if r == nil {
		r = d.last(d.git, name, isDir)
	}
	if r == nil {
		return false, nil
	}
	return !r.negate, &r.Rule
}

// last returns the rule of highest precedence that matches, or nil.
func (d *Dir) last(lists []list, name string, isDir bool) *rule {
	if name == "" {
		return nil
	}
	tail := name[len(name)-1]
	for i := len(lists) - 1; i >= 0; i-- {
		l := &lists[i]
		for j := len(l.tails) - 1; j >= 0; j-- {
			if l.tails[j] != tail && l.tails[j] != 0 {
				continue // nine of ten rules end here
			}
			r := l.rules[j]
			if r.dirOnly && !isDir {
				continue
			}
			if r.match(d.path[l.base:], d.depth-l.depth, name, d.fold) {
				return r
			}
		}
	}
	return nil
}

// with appends the rules of f to a copy of lists.
func (d *Dir) with(lists []list, f File) []list {
	rules := parse(f, d.fold)
	if len(rules) == 0 {
		return lists
	}
	l := list{base: len(d.path), depth: d.depth}
	l.fill(rules, d.fold)
	return append(lists[:len(lists):len(lists)], l)
}

// fill takes the rules, which are in file order.
func (l *list) fill(rules []*rule, fold bool) {
	l.rules, l.tails, l.paths = rules, make([]byte, len(rules)), false
	for i, r := range rules {
		l.paths = l.paths || r.isPath()
		if !fold {
			l.tails[i] = r.tail()
		}
	}
}

// inherit drops from the parent's lists the rules that can match nothing in d or below; where none is dropped the lists
// are shared.
func (d *Dir) inherit(lists []list) []list {
	out, copied := lists, false
	for i := range lists {
		l := &lists[i]
		if !l.paths {
			continue
		}
		rel, depth := d.path[l.base:], d.depth-l.depth
		first := 0
		for first < len(l.rules) && l.rules[first].reaches(rel, depth, d.fold) {
			first++
		}
		if first == len(l.rules) {
			continue
		}
		kept := append(make([]*rule, 0, len(l.rules)-1), l.rules[:first]...)
		for _, r := range l.rules[first+1:] {
			if r.reaches(rel, depth, d.fold) {
				kept = append(kept, r)
			}
		}
		if !copied {
			out, copied = append([]list(nil), lists...), true
		}
		out[i].fill(kept, d.fold)
	}
	return out
}
