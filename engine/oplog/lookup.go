package oplog

import (
	"cmp"
	"errors"
	"slices"

	"rewind/engine/model"
	"rewind/objstore"
	"rewind/tree"
)

// Lookups finds many paths in one tree; each directory is decoded once.
type Lookups struct {
	get  objstore.Getter
	root objstore.ID
	dirs map[string][]tree.Entry
}

// NewLookups makes Lookups in the tree root.
func NewLookups(get objstore.Getter, root objstore.ID) *Lookups {
	return &Lookups{get: get, root: root, dirs: map[string][]tree.Entry{}}
}

// Find returns the entry at path, nil when there is none.
func (l *Lookups) Find(path string) (*tree.Entry, error) {
	dir, name := tree.Split(path)
	ents, err := l.dir(dir)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(ents, name, func(e tree.Entry, n string) int { return cmp.Compare(e.Name, n) })
	if !ok {
		return nil, nil
	}
	return &ents[i], nil
}

// dir is the entries of a directory; none if the tree does not have it.
func (l *Lookups) dir(path string) ([]tree.Entry, error) {
	if ents, ok := l.dirs[path]; ok {
		return ents, nil
	}
	id := l.root
	if path != "" {
		ent, err := l.Find(path)
		if err != nil {
			return nil, err
		}
		if ent == nil || ent.Type != tree.TypeDir {
			l.dirs[path] = nil
			return nil, nil
		}
		id = ent.ID
	}
	ents, err := tree.List(l.get, id)
	if err == nil {
		l.dirs[path] = ents
	}
	return ents, err
}

// Lenient is a store that gives trees known to be lost as empty ones, for callers that keep the more the less is known.
type Lenient struct{ *objstore.Store }

// Get gives an empty tree for one that is lost or purged.
func (l Lenient) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if g, ok, err := l.Tombstone(k, id.Key()); k == objstore.Tree && err == nil && ok && g.Reason == objstore.Lost {
		if raw, err := l.Store.Get(k, id); err == nil {
			return raw, nil
		}
		return tree.Encode(nil)
	}
	return l.Store.Get(k, id)
}

// Lookup finds a path in a checkpoint; *PathError when it is not there.
func (l *Log) Lookup(cp *model.Checkpoint, p string) (tree.Entry, error) {
	ent, err := tree.Lookup(l.Objs, cp.Tree, p)
	if errors.Is(err, tree.ErrNotFound) {
		return ent, &model.PathError{Checkpoint: cp.ID, Path: p}
	}
	return ent, err
}
