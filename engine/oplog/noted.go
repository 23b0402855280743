package oplog

import (
	"rewind/objstore"
	"rewind/tree"
)

// StoredNote is a list of skips with the note that it is stored as. Snapshots that find the same share the list.
type StoredNote struct {
	Skips []tree.Skip
	Id    objstore.ID
}

// Is reports whether skips are the very list that was noted.
func (n StoredNote) Is(skips []tree.Skip) bool {
	return len(skips) > 0 && len(skips) == len(n.Skips) && &skips[0] == &n.Skips[0]
}
