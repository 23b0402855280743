package worktreefs

import "time"

// permMask is the bits that a Perm can hold.
const permMask = 0o7777

const (
	// maxIO is the most bytes one read or write asks for; some systems refuse or cut more.
	maxIO = 1 << 30

	// listBuffer is the bytes of directory entries one system call may give.
	listBuffer = 32 << 10

	// A file under a lease is asked for this often, this long apart, before the open fails.
	leaseTries = 5
	leasePause = 20 * time.Millisecond
)
