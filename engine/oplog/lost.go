package oplog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// LostError says which paths of a checkpoint are lost. Nothing was changed. The others can be restored by naming them.
type LostError struct {
	Checkpoint objstore.ID
	Paths      []string // a directory stands for all below it
}

func (e *LostError) Error() string {
	paths, more := e.Paths, ""
	if len(paths) > maxLostNamed {
		paths, more = paths[:maxLostNamed], fmt.Sprintf(" and %d more", len(e.Paths)-maxLostNamed)
	}
	quoted := make([]string, len(paths))
	for i, p := range paths {
		if quoted[i] = fmt.Sprintf("%q", p); p == "" {
			quoted[i] = "all files"
		}
	}
	return fmt.Sprintf("checkpoint %s cannot be restored whole: lost in it: %s%s; nothing was touched", e.Checkpoint.Short(),
		strings.Join(quoted, ", "), more)
}

// maxLostNamed is how many paths the error's text has.
const maxLostNamed = 10

// Is makes it an objstore.ErrLost.
func (e *LostError) Is(target error) bool { return target == objstore.ErrLost }

// LostIn is the paths of a checkpoint that are lost, and the lost ones among its trees. It reads nothing of a store
// that has lost nothing.
func (l *Log) LostIn(cp *model.Checkpoint) (paths []string, trees map[objstore.ID]bool, err error) {
	lost := map[objstore.Key]bool{}
	err = l.Objs.WalkTombstones(func(_ objstore.Kind, key objstore.Key, g objstore.Tombstone, err error) error {
		if err == nil && g.Reason == objstore.Lost {
			lost[key] = true
		}
		return nil
	})
	if err != nil || len(lost) == 0 {
		return nil, nil, err
	}
	trees = map[objstore.ID]bool{}
	var walk func(dir string, id objstore.ID) error
	walk = func(dir string, id objstore.ID) error {
		ents, err := tree.List(l.Objs, id)
		if lost[id.Key()] && (errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrCorrupt)) {
			paths, trees[id] = append(paths, dir), true
			return nil
		}
		if err != nil {
			return &value.OpError{Op: "checkpoint", Subject: cp.ID.Short(), Err: fmt.Errorf("%q: %w", dir, err)}
		}
		for _, ent := range ents {
			p := tree.Join(dir, ent.Name)
			switch {
			case ent.Type == tree.TypeDir:
				if err := walk(p, ent.ID); err != nil {
					return err
				}
			case lost[ent.ID.Key()]:
				if l.Objs.Verify(context.Background(), objstore.Blob, ent.ID) != nil {
					paths = append(paths, p)
				}
			}
		}
		return nil
	}
	return paths, trees, walk("", cp.Tree)
}
