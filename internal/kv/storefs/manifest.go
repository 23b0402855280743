package storefs

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// manifestFile is a MANIFEST that is being written.
type manifestFile struct {
	slowFile
	name    string // in db/
	written int64
	extent  vfs.File // nil: not opened yet
}

// Write refuses once the store is poisoned. pebble's next writes would rely on a directory that is no longer synced.
// After a record that could not be synced they would be the same change a second time, since pebble takes that one for
// not made. No pebble opens such a MANIFEST.
func (f *manifestFile) Write(p []byte) (int, error) {
	if err := f.fs.frozen(); err != nil {
		return 0, err
	}
	n, err := f.slowFile.Write(p)
	f.written += int64(n)
	return n, err
}

func (f *manifestFile) Sync() error { return f.note(f.slowFile.Sync()) }

func (f *manifestFile) SyncData() error { return f.note(f.slowFile.SyncData()) }

// note writes the file extent after a sync that ended with err. When that fails nothing is wrong: the file says less
// than it could.
func (f *manifestFile) note(err error) error {
	if err != nil {
		return err
	}
	if f.extent == nil {
		if f.extent, err = f.fs.OpenReadWrite(f.fs.PathJoin(f.fs.db, ondisk.ManifestOffsetFile), vfs.WriteCategoryUnspecified); err != nil {
			f.extent = nil
			return nil
		}
	}
	_, _ = f.extent.WriteAt([]byte(ondisk.ManifestOffsetLine(f.name, f.written)), 0)
	return nil
}

func (f *manifestFile) Close() error {
	if f.extent != nil {
		_ = f.extent.Close()
	}
	return f.slowFile.Close()
}
