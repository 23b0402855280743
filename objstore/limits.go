package objstore

import "rewind/internal/kv"

// Sizes are in bytes.
const (
	_ = uint(kv.MaxValue - MaxObject - 64) // an envelope fits a value of the store

	// spillBytes is the size of what a transaction holds in memory before it goes to the store, where there is enough
	// of it; twice as much may be held, since puts go on meanwhile. leastSpill is that size where there is little: each
	// spill is a table, and merging them holds a block of each, which is as long as a chunk.
	spillBytes = 32 << 20
	leastSpill = 4 << 20
	// spillShare is which part of the heap a spill may be.
	spillShare = 8
	// minPrefix is the least number of hex digits that Resolve accepts, minShort the least that ShortID gives.
	minPrefix = 4
	minShort  = 7
	// maxCandidates bounds the ids an AmbiguousError lists.
	maxCandidates = 10

	// inlineBytes is the size up to which a commit's objects travel in its batch; more are ingested before it.
	inlineBytes = 1 << 20
	// maxHeld is how many spills of a transaction lie in the store side by side before it may merge them.
	maxHeld = 8
	// entryOverhead is what a pending object costs beside its envelope.
	entryOverhead = 160
	// pageObjects bounds the objects that Walk holds at a time.
	pageObjects = 1024
	// sweepBatch bounds the objects that a collection removes at a time: commits wait for that long.
	sweepBatch = 1024
	// maxBaseCandidates bounds the objects tried for one base prefix of 8 bytes.
	maxBaseCandidates = 16
	// maxSearch bounds the objects looked at to read one whose bases are in doubt.
	maxSearch = 64
)

// spill is the size of what a transaction holds in memory where the heap may have so many bytes.
func spill(heap int64) int { return int(min(max(heap/spillShare, leastSpill), spillBytes)) }
