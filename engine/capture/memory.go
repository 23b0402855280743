package capture

import (
	"rewind/objstore"
	"rewind/tree"
)

// Forget drops what is known in memory of the worktree and of recent events; the next call reads it from the store. The
// log's lock is held.
func (wt *Worktree) Forget() { wt.cache, wt.Unsaved, wt.seen = nil, nil, nil }

// Pinned calls ref for the objects that the store must keep for what is known in memory of the worktree. The log's lock
// is held.
func (wt *Worktree) Pinned(ref func(objstore.Kind, objstore.ID) error) error {
	if wt.cache != nil {
		for _, id := range wt.cache.Roots() {
			if err := ref(objstore.Tree, id); err != nil {
				return err
			}
		}
	}
	if wt.Unsaved == nil {
		return nil
	}
	return wt.Unsaved.pinned(ref)
}

// pinned calls ref for the objects that the overlay's trees refer to.
func (s *Overlay) pinned(ref func(objstore.Kind, objstore.ID) error) error {
	for o, at := range s.objs {
		if o.Kind != objstore.Tree {
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
