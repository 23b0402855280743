package kv

import (
	"time"

	"rewind/internal/kv/ondisk"
)

// Limits and defaults. Sizes are bytes.
const (
	// MaxKey is the longest key.
	MaxKey = 32 << 10
	// MaxValue is the longest value.
	MaxValue = 64 << 20
	// maxBatch is the largest batch, as Batch.Len counts it.
	maxBatch = 256 << 20

	// defaultCache is the block cache of an open store. The memtables count into it: the one that is written and one
	// that pebble keeps for reuse. What is above these two is always for blocks.
	defaultCache = 2*memtableBytes + 4<<20
	// trimmedCache is what TrimCaches leaves of it.
	trimmedCache = 2 << 20
	// defaultGroupSync is how long a Written commit may wait for its fsync.
	defaultGroupSync = time.Second
	// DefaultFatalExit is the exit status of a process whose store failed and that gave no Options.Fatal.
	DefaultFatalExit = 70

	// BallastBytes is the size of the file ballast.
	BallastBytes = 4 << 20
	// reserveBytes must be free for a write to begin: one log and one flush of a full memtable.
	reserveBytes = 8 << 20

	_ = uint(ondisk.MaxBlock - MaxKey - MaxValue - 1<<20) // a block holds a pair at least

	// tightHeap is the heap in bytes below which tables are written with a compression that needs no memory: two
	// encoders that have met a large value hold 20 MB. What is large is compressed already, and tables of both kinds
	// are read side by side.
	tightHeap = 128 << 20

	memtableBytes   = 2 << 20
	maxOpenFiles    = 256
	ingestFileBytes = 32 << 20
	maxFormatBytes  = 256
	lockPoll        = 10 * time.Millisecond
	backoffFirst    = 250 * time.Millisecond // after a write of a table or MANIFEST that failed
	stallLimit      = 10 * time.Second       // of a commit that waits for flushes, or an open, while these fail
	holdAfter       = time.Second            // from the end of a Hold until compactions go on
	backoffLimit    = 30 * time.Second       // between two compactions that fail
	backoffStuck    = 3                      // compactions that fail in a row
	poisonedClose   = 500 * time.Millisecond // only where Options.Fatal returned
)
