// Package detach is for a process that outlives the one that started it, and serves others. It makes the process the
// same whoever that was: of its limits, priority, umask, directory and environment nothing stays that counts. What
// cannot be undone is named.
package detach

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// minFileSize is the size in bytes that every file must be allowed to have: a store's log, a file that is restored.
// With less a process that others rely on would fail them in mid-write.
const minFileSize = 1 << 30

// Limit is something of the process's that who started it has set, and that could not be taken back.
type Limit struct {
	Text    string
	Serious bool // work fails by it; else it only takes longer
}

// Self takes back what this process has from the one that started it. Limits are raised as far as they go, and priority
// and processors become those of a new login. The umask is 077, environ the environment, / the directory. The error
// says why the process must not serve others.
func Self(environ []string) error {
	narrow()
	os.Clearenv()
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("change directory: %w", err)
	}
	Raise()
	reset()
	if size, ok := fileSize(); ok && size < minFileSize {
		return fmt.Errorf("files of this process can have at most %d bytes (ulimit -f), and that cannot be raised", size)
	}
	return nil
}

// Limits are what is left of them, in this process.
func Limits() []Limit {
	var out []Limit
	if size, ok := fileSize(); ok {
		text := fmt.Sprintf("files can have at most %d bytes (ulimit -f): what would be larger cannot be stored or restored", size)
		out = append(out, Limit{text, true})
	}
	return append(out, limitsHere()...)
}

// noLimit is the least value that stands for no limit on any system.
const noLimit = 1<<63 - 1

// raised are the limits by which work could fail. A limit of processes is not among them: it counts all of a user's.
var raised = []int{unix.RLIMIT_FSIZE, unix.RLIMIT_CPU, unix.RLIMIT_DATA, unix.RLIMIT_AS, unix.RLIMIT_NOFILE}

// narrow makes the umask 077, whatever it was.
func narrow() { unix.Umask(0o077) }

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
