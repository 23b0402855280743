//go:build !linux

package beneath

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// file is an open file as pebble wants it.
type file struct{ *os.File }

func wrap(f *os.File) vfs.File { return file{f} }

func (f file) Prefetch(int64, int64) error    { return nil }
func (f file) Preallocate(int64, int64) error { return nil }
func (f file) SyncData() error                { return f.Sync() }

func (f file) SyncTo(int64) (full bool, err error) {
	err = f.Sync()
	return err == nil, err
}
