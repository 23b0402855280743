package textdiff

import "time"

const (
	// MaxBytes bounds each side. Beyond it the answer is TooLarge: nobody reads
	// such a diff, and its cost grows with lines times edits.
	MaxBytes = 4 << 20

	// maxLines bounds the lines of each side likewise.
	maxLines = 100_000

	// binaryProbe is how many leading bytes are searched for a NUL, as git does.
	binaryProbe = 8000

	// timeBound ends the search for a minimal script; what is not matched by then
	// is reported as replaced.
	timeBound = time.Second

	// maxWordLine is the length in bytes of a line up to which words are compared.
	maxWordLine = 4096
)
