package history

import (
	"context"
	"errors"
	"strings"

	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// Entries are the names in a directory as a checkpoint has it, those of directories with a slash behind; "" is the root.
func (h *History) Entries(name, dir string) (list []string, err error) {
	cp, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	ent, err := h.log.Lookup(cp, strings.TrimSuffix(dir, "/"))
	if err != nil || ent.Type != tree.TypeDir {
		return nil, err
	}
	entries, err := tree.List(h.log.Objs, ent.ID)
	for _, e := range entries {
		if e.Type == tree.TypeDir {
			e.Name += "/"
		}
		list = append(list, e.Name)
	}
	return list, err
}

// Touched are the paths of files that the newest checkpoints added, changed or deleted, the newest first: at most so many, of at most so
// many checkpoints. What was gone by then or came later is not asked for: who looks at the worktree sees which of them are not there.
func (h *History) Touched(ctx context.Context, most, checkpoints int) (list []string, err error) {
	known := map[string]bool{}
	read := h.log.Checkpoints()
	trees := newMemo(h.log.Objs, objstore.Tree)
	err = h.log.Made(func(op *refs.Operation) error {
		if checkpoints--; checkpoints < 0 || len(list) == most {
			return kv.ErrStop
		}
		cp, err := read(op.Checkpoint)
		if err != nil || len(cp.Parents) == 0 { // the first has every file
			return errors.Join(err, ctx.Err())
		}
		from, err := h.log.Before(cp)
		if err != nil {
			return err
		}
		return errors.Join(ctx.Err(), tree.Diff(trees, from, cp.Tree, func(ch tree.Change) error {
			if (model.IsFile(ch.Old) || model.IsFile(ch.New)) && !known[ch.Path] {
				known[ch.Path] = true
				list = append(list, ch.Path)
			}
			if len(list) == most {
				return tree.SkipAll
			}
			return nil
		}))
	})
	return list, err
}
