package engine

import (
	"rewind/objstore"
	"rewind/tree"
)

// forgetWorktree drops what is known in memory of the worktree, and which events were recorded lately: all of it is read again from the store. e.mu is held.
func (e *Engine) forgetWorktree() { e.cache, e.unsaved, e.seen = nil, nil, nil }

// pinned names the objects that the store has to keep for what is known in memory of the worktree; e.mu is held.
func (e *Engine) pinned(ref func(objstore.Kind, objstore.ID) error) error {
	if e.cache != nil {
		for _, id := range e.cache.Roots() {
			if err := ref(objstore.Tree, id); err != nil {
				return err
			}
		}
	}
	if e.unsaved == nil {
		return nil
	}
	return e.unsaved.pinned(ref)
}

// pinned names what a state refers to that was looked at and not stored.
func (s *sketch) pinned(ref func(objstore.Kind, objstore.ID) error) error {
	for o, at := range s.objs {
		if o.kind != objstore.Tree {
			continue
		}
		ents, err := tree.Decode(at.raw)
		if err != nil {
			return err
		}
		for i := range ents {
			k := objstore.Blob
			if ents[i].Type == tree.TypeDir {
				k = objstore.Tree
			}
			if err := ref(k, ents[i].ID); err != nil {
				return err
			}
		}
	}
	return nil
}
