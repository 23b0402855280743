//go:build !unix

package beneath

import (
	"io"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gofrs/flock"
)

// FS is the disk: without handles of directories, files are opened by their paths.
type FS struct{ vfs.FS }

// New is the disk beneath dir.
func New(string, Rules) (*FS, error) { return &FS{FS: vfs.Default}, nil }

// Add puts another directory beside the first.
func (f *FS) Add(string) error { return nil }

// Close does nothing.
func (f *FS) Close() error { return nil }

// Survey finds nothing.
func (f *FS) Survey(string, []string, func(string) bool, bool) ([]*RefusedError, error) {
	return nil, nil
}

// Chmod does nothing.
func Chmod(vfs.File, os.FileMode) error { return nil }

// Held is a lock that is held until Close, or until the process ends.
type Held struct {
	l    *flock.Flock
	path string
}

// Note puts text into the file of the lock.
func (h *Held) Note(text string) error { return os.WriteFile(h.path, []byte(text), 0o600) }

// Close lets go.
func (h *Held) Close() error { return h.l.Close() }

func try(name string, take func(*flock.Flock) (bool, error)) (*Held, error) {
	l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	ok, err := take(l)
	if err != nil || !ok {
		return nil, err
	}
	return &Held{l, name}, nil
}

// TryLock takes the lock that is the file name. nil without an error: somebody else holds it.
func (f *FS) TryLock(name string) (*Held, error) { return try(name, (*flock.Flock).TryLock) }

// TryShared takes the lock beside others who only read.
func (f *FS) TryShared(name string) (*Held, error) { return try(name, (*flock.Flock).TryRLock) }

// Lock takes a lock of pebble's kind.
func (f *FS) Lock(name string) (io.Closer, error) { return vfs.Default.Lock(name) }

// SetTime gives an open file the time of its last change, which is about now.
func SetTime(vfs.File, time.Time) error { return nil }

// Writable does not know.
func (f *FS) Writable(string) error { return nil }

// SameFile is always so: a file that is open cannot be removed or replaced here.
func SameFile(_, _ vfs.FileInfo) bool { return true }
