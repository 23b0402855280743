package tree

import "rewind/objstore"

// Roots are the trees that the cache and the watcher's baseline rely on: they, and all below them, must stay in the store for as long as the cache is used. Some may
// not be stored yet, or be zero.
func (c *Cache) Roots() []objstore.ID {
	roots := []objstore.ID{c.root}
	if c.base != nil {
		roots = append(roots, c.base.root.id)
	}
	return roots
}
