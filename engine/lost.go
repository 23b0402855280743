package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rewind/objstore"
	"rewind/tree"
)

// LostError says which paths of a checkpoint are lost; nothing was touched. The others can be restored by naming them.
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
	return fmt.Sprintf("engine: checkpoint %s cannot be restored whole: lost in it: %s%s; nothing was touched", e.Checkpoint.Short(), strings.Join(quoted, ", "), more)
}

// maxLostNamed is how many paths the text names.
const maxLostNamed = 10

// Is makes it an objstore.ErrLost.
func (e *LostError) Is(target error) bool { return target == objstore.ErrLost }

// lostIn gives the paths of a checkpoint that are lost, and the trees among what is. In a store in which nothing ever was, it reads nothing of the tree.
func (e *Engine) lostIn(cp *Checkpoint) (paths []string, trees map[objstore.ID]bool, err error) {
	lost := map[objstore.Key]bool{}
	err = e.objs.WalkTombstones(func(_ objstore.Kind, key objstore.Key, g objstore.Tombstone, err error) error {
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
		ents, err := tree.List(e.objs, id)
		if lost[id.Key()] && (errors.Is(err, objstore.ErrNotFound) || errors.Is(err, objstore.ErrCorrupt)) {
			paths, trees[id] = append(paths, dir), true
			return nil
		}
		if err != nil {
			return fmt.Errorf("engine: checkpoint %s: %q: %w", cp.ID.Short(), dir, err)
		}
		for _, ent := range ents {
			p := tree.Join(dir, ent.Name)
			switch {
			case ent.Type == tree.TypeDir:
				if err := walk(p, ent.ID); err != nil {
					return err
				}
			case lost[ent.ID.Key()]:
				if e.objs.Verify(context.Background(), objstore.Blob, ent.ID) != nil {
					paths = append(paths, p)
				}
			}
		}
		return nil
	}
	return paths, trees, walk("", cp.Tree)
}

// refuseLost refuses a restore of what is lost. A lost directory that was not asked for reads as an empty one afterwards.
func (pl *planner) refuseLost() error {
	paths, trees, err := pl.e.lostIn(pl.target)
	if err != nil {
		return err
	}
	var asked []string
	for _, p := range paths {
		if pl.opt.paths.has(p) || p == "" || pl.opt.paths.hasBelow(p) {
			asked = append(asked, p)
		}
	}
	if len(asked) > 0 {
		return &LostError{Checkpoint: pl.target.ID, Paths: asked}
	}
	pl.lost = trees
	return nil
}

// sparing reads trees, the lost ones as empty.
type sparing struct {
	objstore.Getter
	lost map[objstore.ID]bool
}

func (s sparing) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == objstore.Tree && s.lost[id] {
		return tree.Encode(nil)
	}
	return s.Getter.Get(k, id)
}

// orphaned takes from a checkpoint the parents that are lost: its line begins with it.
func (e *Engine) orphaned(cp *Checkpoint, err error) (*Checkpoint, error) {
	if err != nil {
		return nil, err
	}
	for i, p := range cp.Parents {
		if g, ok, err := e.objs.Tombstone(objstore.Checkpoint, p.Key()); err != nil || ok && g.Reason == objstore.Lost {
			cp.Parents = cp.Parents[:i]
			break
		}
	}
	return cp, nil
}

// lenient reads trees that are known to be lost as empty: for whoever keeps more, the less is known.
type lenient struct{ *objstore.Store }

func (l lenient) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if g, ok, err := l.Tombstone(k, id.Key()); k == objstore.Tree && err == nil && ok && g.Reason == objstore.Lost {
		if raw, err := l.Store.Get(k, id); err == nil {
			return raw, nil
		}
		return tree.Encode(nil)
	}
	return l.Store.Get(k, id)
}
