package oplog

import (
	"rewind/objstore"
	"rewind/tree"
)

// StoredNote is a list of skips with the id of the note that has it. Snapshots that find the same share the list.
type StoredNote struct {
	Skips []tree.Skip
	Id    objstore.ID
}

// Is reports whether skips is the same list: the same memory, not only equal entries.
func (n StoredNote) Is(skips []tree.Skip) bool {
	return len(skips) > 0 && len(skips) == len(n.Skips) && &skips[0] == &n.Skips[0]
}
