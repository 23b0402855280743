// Package detach makes a process that outlives the one that started it, and serves others, the same whoever that was: of its limits, priority,
// umask, directory and environment nothing stays that counts, and what cannot be undone is named.
package detach

import (
	"fmt"
	"os"
	"strings"
)

// MinFileSize is the size in bytes that every file must be allowed to have: a store's log, a file that is restored. With less a process
// that others rely on would fail them in mid-write.
const MinFileSize = 1 << 30

// Limit is something of the process's that who started it has set, and that could not be taken back.
type Limit struct {
	Text    string
	Serious bool // work fails by it; else it only takes longer
}

// Self takes back what this process has from who started it: limits are raised as far as they go, priority and processors as of a new
// login, umask 077, environ for an environment, / for a directory. The error says why the process must not serve others.
func Self(environ []string) error {
	Narrow()
	os.Clearenv()
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("detach: set %s: %w", name, err)
		}
	}
	if err := os.Chdir(rootDir); err != nil {
		return fmt.Errorf("detach: change directory: %w", err)
	}
	Raise()
	reset()
	if size, ok := fileSize(); ok && size < MinFileSize {
		return fmt.Errorf("detach: files of this process can have at most %d bytes (ulimit -f), and that cannot be raised", size)
	}
	return nil
}

// Limits are what is left of them, in this process.
func Limits() []Limit {
	var out []Limit
	if size, ok := fileSize(); ok {
		out = append(out, Limit{fmt.Sprintf("files can have at most %d bytes (ulimit -f): what would be larger cannot be stored or restored", size), true})
	}
	return append(out, limitsHere()...)
}
