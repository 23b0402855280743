package apply

// What the tests need to know of the inside: how files in the stage are named, what is copied and left out at a time,
// what becomes of permissions.
var (
	BadSteps = errBadSteps
	KeyOf    = keyOf
	LostBits = lostBits
	RestPerm = restoredPerm

	IsNameError = isNameError
	TellEach    = tellEach
)

func SortedPaths(m map[string]bool) []string { return sortedPaths(m) }

// The sizes at which writing turns.
const (
	CopyBuffer = copyBuffer
	HoleBlock  = holeBlock
)
