package object

// Sizes are in bytes. Every length that is read is compared with one of these before anything is allocated for it.
const (
	// MaxObject bounds an object that is held in memory as a whole: every object that is not a chunked blob. Its
	// envelope is at most 64 bytes longer.
	MaxObject = 64<<20 - 64
	// ChunkThreshold is the size above which a blob is stored as chunks.
	ChunkThreshold = 8 << 20
	// MinChunk, NormalChunk and MaxChunk steer the content-defined cut. They are part of the format in so far as the
	// same content gives the same chunks; a decoder accepts any chunk of 1 to MaxChunk bytes.
	MinChunk    = 256 << 10
	NormalChunk = 1 << 20
	MaxChunk    = 4 << 20
	// MaxChunks bounds a chunk list: about 1 TiB of ordinary content.
	MaxChunks = 1 << 20
	// MaxIndex is the last position in a delta chain; the next version is stored whole.
	MaxIndex = 1023
	// MaxDepth bounds the number of deltas that lead to an object: the sum of the digits of MaxIndex in base 8 (1777).
	MaxDepth = 22

	// deltaPlain is the size up to which a delta is not worth a compressed frame.
	deltaPlain = 96
	// A delta with at most 1/deltaLikely of the object, before compression, is taken without a comparison. Comparing
	// would compress the whole object, which costs more than the rest of storing an edit. The copied part is mostly as
	// hard to compress as the rest.
	deltaLikely = 4
	// deltaShare: a delta of more than 1/deltaShare of the whole compressed object ends its delta chain. A rewrite
	// comes back in one version of every length of step (1, 8, 64, 512): what is not much smaller than the whole costs
	// more in the end.
	deltaShare = 2
	// deltaSmall is the size of a compressed object up to which any delta is taken that is smaller.
	deltaSmall = 1024
)
