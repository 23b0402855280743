package tree

import "rewind/objstore"

// Limits. Decoders check them before they allocate; encoders refuse what a decoder would.
const (
	// maxName is the longest name of an entry, in bytes; every supported file system has this limit or a lower one.
	maxName = 255
	// MaxDepth is over the number of components of any path. What lies deeper is noted as unreadable, not entered.
	MaxDepth = 4096
	// MaxPath is the longest path from the root, in bytes. What lies beyond is noted as unreadable.
	MaxPath = 64<<10 - 1
	// maxTree is the longest encoding of one directory, in bytes: about a million entries with names of 25 bytes.
	maxTree = objstore.MaxObject
	// maxEntries is how many entries one directory can have.
	maxEntries = maxTree / minEntry
	// maxNote is the longest encoding of a note, in bytes.
	maxNote = objstore.MaxObject
	// maxNoteEntries is how many lines one note can have.
	maxNoteEntries = maxNote / minSkip
	// MaxSymlink is the longest target of a symlink, in bytes.
	MaxSymlink = 64<<10 - 1
)

const (
	minEntry = 36     // bytes of the shortest entry of a tree
	minSkip  = 4      // bytes of the shortest line of a note
	permMask = 0o7777 // what of a mode is kept
)
