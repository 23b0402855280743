package find

import (
	"context"
	"fmt"
	"slices"

	"rewind/engine/model"
	"rewind/internal/cache"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// A step is a checkpoint on the line.
type step struct {
	*model.Checkpoint
	before objstore.ID // the tree that its changes are told against; zero: the empty one
	aside  bool        // left behind by a later step
}

// line reads the checkpoints of the log, the oldest first: of one session, unless that is "", and safety checkpoints where all are asked
// for.
func (f *Finder) line(ctx context.Context, all bool, session string) ([]step, error) {
	var steps []step
	onLine, err := f.history.Tips() // grows backwards: parents are older
	if err != nil {
		return nil, err
	}
	read := f.log.Checkpoints()
	trees := map[objstore.ID]objstore.ID{} // of every checkpoint
	err = f.log.Made(func(op *refs.Operation) error {
		cp, err := read(op.Checkpoint)
		if err != nil {
			return err
		}
		trees[cp.ID] = cp.Tree
		if onLine[cp.ID] && len(cp.Parents) > 0 {
			onLine[cp.Parents[0]] = true
		}
		safety := op.Kind == refs.KindSafety
		if (all || !safety) && (session == "" || op.Session == session) {
			steps = append(steps, step{Checkpoint: cp, aside: !safety && !onLine[cp.ID]})
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(steps)
	for i := range steps {
		cp := steps[i].Checkpoint
		if len(cp.Parents) > 0 && cp.Base.IsZero() {
			steps[i].before = trees[cp.Parents[0]]
		}
		if steps[i].before.IsZero() {
			if steps[i].before, err = f.log.Before(cp); err != nil {
				return nil, err
			}
		}
	}
	return steps, nil
}

// keptEntries is how many entries of directories are kept decoded, about 24 MB.
const keptEntries = 1 << 18

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
		name, below, more := cutPath(rest)
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

// diff calls fn for what differs between two trees as tree.Diff does, as far as it is meant: only directories in which something may be are
// read. An entry is not to be changed.
func (t *trees) diff(a, b objstore.ID, meant *names, fn func(tree.Change)) error {
	d := tree.Differ{List: t.list, Into: meant.below}
	return d.Diff(a, b, func(c tree.Change) error {
		if meant.has(c.Path) {
			fn(c)
		}
		return nil
	})
}
