package tree

import (
	"fmt"
	"slices"
	"strings"

	"rewind/internal/value"
	"rewind/objstore"
)

// Change is how one path differs: between two trees, or of the working tree, where Old is what is expected at the path
// now and New what shall be there after. Old is nil where it was added, New where it was removed. The Name of an entry
// is the path's last component. The entries are the receiver's.
type Change struct {
	Path     string
	Old, New *Entry
}

// Reverse gives the changes that undo changes.
func Reverse(changes []Change) []Change {
	back := slices.Clone(changes)
	for i := range back {
		back[i].Old, back[i].New = back[i].New, back[i].Old
	}
	return back
}

// Diff calls fn for every path that differs between the trees a and b, in the order of ComparePaths. The zero id is the
// empty tree. Subtrees with equal ids are not read.
//
// A directory is reported when it was added, removed or has other permission bits, not when only something in it
// differs. A path that became something else (a file a directory, ...) is one change; what was or is below it follows
// as removed or added. SkipAll from fn ends it without an error, any other error ends it and is returned as it is.
func Diff(g objstore.Getter, a, b objstore.ID, fn func(Change) error) error {
	d := Differ{List: func(id objstore.ID) ([]Entry, error) { return List(g, id) }}
	return d.Diff(a, b, func(c Change) error {
		return fn(Change{Path: c.Path, Old: clone(c.Old), New: clone(c.New)})
	})
}

// Differ compares trees for somebody who reads directories in a way of their own, and perhaps not all of them.
type Differ struct {
	List func(objstore.ID) ([]Entry, error) // the entries of a directory; the zero id is the empty one
	Into func(path string) bool             // whether to look at what is below a path; nil: everywhere
}

// Diff is as the function of that name, but the entries that fn gets are those that List gave: not to be changed.
func (d *Differ) Diff(a, b objstore.ID, fn func(Change) error) error {
	err := d.diff(a, b, "", 0, fn)
	if err == SkipAll { //nolint:errorlint // by identity, as in io/fs
		return nil
	}
	return err
}

func (d *Differ) diff(a, b objstore.ID, dir string, depth int, fn func(Change) error) error {
	if a == b {
		return nil
	}
	if depth >= MaxDepth || len(dir) > MaxPath {
		return fmt.Errorf("diff %.80q: %w", dir, &LimitError{What: "depth", Limit: MaxDepth})
	}
	olds, err := d.List(a)
	if err != nil {
		return &value.OpError{Op: "diff", Subject: dir, Typed: true, Err: err}
	}
	news, err := d.List(b)
	if err != nil {
		return &value.OpError{Op: "diff", Subject: dir, Typed: true, Err: err}
	}
	for len(olds) > 0 || len(news) > 0 {
		var o, n *Entry
		o, n, olds, news = nextPair(olds, news)
		if Same(o, n) {
			continue
		}
		if err := d.diffEntry(o, n, dir, depth, fn); err != nil {
			return err
		}
	}
	return nil
}

// nextPair takes the first name of two sorted lists, of which one is not empty, and its entry in each; nil: it is not
// there.
func nextPair(olds, news []Entry) (o, n *Entry, restOld, restNew []Entry) {
	if len(news) == 0 || len(olds) > 0 && olds[0].Name <= news[0].Name {
		o, restOld = &olds[0], olds[1:]
	} else {
		restOld = olds
	}
	if len(olds) == 0 || len(news) > 0 && news[0].Name <= olds[0].Name {
		n, restNew = &news[0], news[1:]
	} else {
		restNew = news
	}
	return o, n, restOld, restNew
}

// diffEntry tells how two entries of a name, of which one may be nil, differ, and what is below them.
func (d *Differ) diffEntry(o, n *Entry, dir string, depth int, fn func(Change) error) error {
	either := o
	if o == nil {
		either = n
	}
	path := Join(dir, either.Name)
	if !bothDirs(o, n) || o.Perm != n.Perm {
		if err := fn(Change{Path: path, Old: o, New: n}); err != nil {
			return err
		}
	}
	was, is := subtree(o), subtree(n)
	if was == is || d.Into != nil && !d.Into(path) {
		return nil
	}
	return d.diff(was, is, path, depth+1, fn)
}

func bothDirs(o, n *Entry) bool {
	isDir := func(e *Entry) bool { return e != nil && e.Type == TypeDir }
	return isDir(o) && isDir(n)
}

// subtree is the tree below an entry: the empty one for what is not a directory.
func subtree(e *Entry) objstore.ID {
	if e == nil || e.Type != TypeDir {
		return objstore.ID{}
	}
	return e.ID
}

// clone copies an entry, so that a kept change does not keep the whole directory in memory.
func clone(e *Entry) *Entry {
	if e == nil {
		return nil
	}
	c := *e
	c.Name = strings.Clone(c.Name)
	return &c
}
