package find

import (
	"fmt"
	"strings"

	"rewind/internal/cache"
	"rewind/objstore"
	"rewind/tree"
)

// keptEntries is how many entries of directories are kept decoded, about 6 MB: more than a tree of 50,000 files has.
const keptEntries = 1 << 16

// trees reads directories of many states, mostly versions of what was read a moment ago. For one goroutine.
type trees struct {
	memo  *objstore.Memo
	lists *cache.Cache[objstore.ID, []tree.Entry]
}

func (f *Finder) trees() *trees {
	return &trees{
		memo:  f.log.Objs.Memo(objstore.Tree),
		lists: cache.New[objstore.ID](keptEntries, func(l []tree.Entry) int { return len(l) + 1 }),
	}
}

// Get implements objstore.Getter for trees.
func (t *trees) Get(_ objstore.Kind, id objstore.ID) ([]byte, error) { return t.memo.Get(id) }

// list gives the entries of a directory, not to be changed; the zero id is the empty one.
func (t *trees) list(id objstore.ID) ([]tree.Entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if l, ok := t.lists.Get(id); ok {
		return l, nil
	}
	l, err := tree.List(t, id)
	if err == nil {
		t.lists.Put(id, l)
	}
	return l, err
}

// at gives the entry at a path of a tree; nil: nothing is there.
func (t *trees) at(root objstore.ID, path string) (*tree.Entry, error) {
	id := root
	for rest := path; ; {
		name, below, more := strings.Cut(rest, "/")
		l, err := t.list(id)
		if err != nil {
			return nil, fmt.Errorf("lookup %q: %w", path, err)
		}
		i := tree.Find(l, name)
		if i < 0 {
			return nil, nil
		}
		if !more {
			return &l[i], nil
		}
		if l[i].Type != tree.TypeDir {
			return nil, nil
		}
		id, rest = l[i].ID, below
	}
}

// diff calls fn for what differs between two trees as tree.Diff does, as far as it is meant: only directories in which
// something may be are read. An entry is not to be changed.
func (t *trees) diff(a, b objstore.ID, meant *names, fn func(tree.Change)) error {
	d := tree.Differ{List: t.list, Into: meant.below}
	return d.Diff(a, b, func(c tree.Change) error {
		if meant.has(c.Path) {
			fn(c)
		}
		return nil
	})
}
