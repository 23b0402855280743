package tree

import "rewind/objstore"

// Limits. Decoders check them before they allocate; encoders refuse what a decoder would.
const (
	// MaxName is the longest name of an entry, in bytes; every supported file system has this limit or a lower one.
	MaxName = 255
	// MaxDepth is over the number of components of any path. What lies deeper is noted as unreadable, not entered.
	MaxDepth = 4096
	// MaxPath is the longest path from the root, in bytes. What lies beyond is noted as unreadable.
	MaxPath = 64<<10 - 1
	// MaxTree is the longest encoding of one directory, in bytes: about a million entries with names of 25 bytes.
	MaxTree = objstore.MaxObject
	// MaxEntries is how many entries one directory can have.
	MaxEntries = MaxTree / minEntry
	// MaxNote is the longest encoding of a note, in bytes.
	MaxNote = objstore.MaxObject
	// MaxNoteEntries is how many lines one note can have.
	MaxNoteEntries = MaxNote / minSkip
	// MaxRuleFile is the longest ignore file that is read, in bytes. A longer one counts as absent: more is captured, never less.
	MaxRuleFile = 1 << 20
	// MaxSymlink is the longest target of a symlink, in bytes.
	MaxSymlink = 64<<10 - 1
	// MaxCachedPath is the longest path that has an entry in the stat cache on disk, in bytes.
	MaxCachedPath = 8 << 10
	// MaxFlush is about how many bytes of entries one Flush of the stat cache adds to a batch; the rest goes with later ones. A larger batch would not
	// go through pebble's memtable, and would stay in memory long after it was written.
	MaxFlush = 1 << 20
)

const (
	minEntry  = 36        // bytes of the shortest entry of a tree
	minSkip   = 4         // bytes of the shortest line of a note
	permMask  = 0o7777    // what of a mode is kept
	smallFile = 256 << 10 // bytes; files up to this are read into memory and checked before they are stored
	maxYoung  = 256       // names that a Hasty snapshot leaves to a later one; with more it looks at all of them
)
