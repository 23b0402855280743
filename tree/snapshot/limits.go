package snapshot

// Limits of a snapshot and of its cache.
const (
	// maxRuleFile is the longest ignore file that is read, in bytes. A longer one counts as absent: more is captured,
	// never less.
	maxRuleFile = 1 << 20
	// maxCachedPath is the longest path that has an entry in the stat cache on disk, in bytes.
	maxCachedPath = 8 << 10
	// maxFlush is about how many bytes of entries one Flush of the stat cache adds to a batch; the rest goes with later
	// ones. A larger batch would not go through pebble's memtable, and would stay in memory long after it was written.
	maxFlush  = 1 << 20
	smallFile = 256 << 10 // bytes; files up to this are read into memory and checked before they are stored
	maxRacy   = 256       // names that a Hasty snapshot leaves to a later one; with more it looks at all of them
)
