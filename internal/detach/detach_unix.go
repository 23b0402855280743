//go:build unix

package detach

import "golang.org/x/sys/unix"

const rootDir = "/"

// noLimit is the least value that stands for no limit on any system.
const noLimit = 1<<63 - 1

// raised are the limits by which work could fail. A limit of processes is not among them: it counts all of a user's.
var raised = []int{unix.RLIMIT_FSIZE, unix.RLIMIT_CPU, unix.RLIMIT_DATA, unix.RLIMIT_AS, unix.RLIMIT_NOFILE}

// Narrow makes the umask 077, whatever it was.
func Narrow() { unix.Umask(0o077) }

// Own lets this process use what it makes: a umask can take its own rights from it.
func Own() {
	mask := unix.Umask(0o077)
	unix.Umask(mask &^ 0o700)
}

// Raise sets each limit as high as this process may.
func Raise() {
	for _, which := range raised {
		var l unix.Rlimit
		if unix.Getrlimit(which, &l) == nil && l.Cur != l.Max {
			l.Cur = l.Max
			_ = unix.Setrlimit(which, &l)
		}
	}
}

func limit(which int) (value uint64, ok bool) {
	var l unix.Rlimit
	err := unix.Getrlimit(which, &l)
	return uint64(l.Cur), err == nil && uint64(l.Cur) < noLimit //nolint:unconvert // the types differ between systems
}

// fileSize is the size in bytes that a file of this process can have; false: any.
func fileSize() (bytes uint64, ok bool) { return limit(unix.RLIMIT_FSIZE) }
