package storefs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
)

// FS is the file system as pebble sees it. It keeps every file private, puts logs under the group loop, and checks what
// is read of tables. It turns archiving into removal once the check at open has passed, and slows down writes that
// fail. Once the store is poisoned, it removes nothing and makes no new version of the database. pebble may run on for
// a moment then: it would remove files that the disk's version needs, and name some that the disk may not have.
type FS struct {
	vfs.FS
	db      string
	disk    *beneath.FS
	logs    *Logs
	poison  Poison
	closing <-chan struct{}

	failing atomic.Bool // the last write to the database's files failed
	checked atomic.Bool // the check at open has passed

	lockless bool             // nothing can be written, and the lock of pebble's own is not taken
	readable map[uint64]int64 // how far damaged logs can be read, of a store that is salvaged
}

// Poison is the one-way switch that a failed write throws.
type Poison interface {
	Err() error            // nil, or why the store has failed
	Set(cause error) error // throws it; what Err gives then
}

// Options of New.
type Options struct {
	FS      vfs.FS          // below
	DB      string          // pebble's directory
	Disk    *beneath.FS     // nil: FS does not end at the operating system, permission bits mean nothing
	Logs    *Logs           // takes the logs in that are made
	Poison  Poison          // nil: nothing is refused once the store has failed
	Closing <-chan struct{} // closed when the store closes: nobody waits any more
}

// New makes the file system of one open store.
func New(o Options) *FS {
	return &FS{FS: o.FS, db: o.DB, disk: o.Disk, logs: o.Logs, poison: o.Poison, closing: o.Closing}
}

// Failing tells whether the last write to the database's files failed.
func (s *FS) Failing() bool { return s.failing.Load() }

// SetChecked says that the check at open has passed: what pebble archives is removed from now on.
func (s *FS) SetChecked() { s.checked.Store(true) }

// Checked tells whether it has.
func (s *FS) Checked() bool { return s.checked.Load() }

// SetLockless says, before pebble opens, that nothing can be written: the lock of pebble's own is not taken.
func (s *FS) SetLockless() { s.lockless = true }

// Lockless tells whether that was said.
func (s *FS) Lockless() bool { return s.lockless }

// CutLogs has damaged logs end, for pebble, where they can be read to: bytes by number. It is called before pebble
// opens.
func (s *FS) CutLogs(readable map[uint64]int64) { s.readable = readable }

func (s *FS) Unwrap() vfs.FS { return s.FS }

func (s *FS) inDB(name string) bool { return s.PathDir(name) == s.db }

func (s *FS) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		if s.inDB(name) {
			if strings.HasSuffix(name, ".log") && s.checked.Load() {
				defer s.logs.stand()
				return nil, s.poison.Set(err) // pebble panics when it has no log to go on with
			}
			s.slow(err)
		}
		return nil, err
	}
	if s.disk != nil {
		perm := os.FileMode(0o600) // whatever the umask is
		if err := beneath.Chmod(f, perm); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	if !s.inDB(name) {
		return f, nil
	}
	if strings.HasSuffix(name, ".log") {
		w := &walFile{File: f, name: s.PathBase(name), path: name, born: bornAs(f), set: s.logs}
		w.num, _ = ondisk.LogNumber(w.name)
		s.logs.add(w)
		return w, nil
	}
	slow := slowFile{File: f, fs: s}
	if base := s.PathBase(name); strings.HasPrefix(base, ondisk.ManifestPrefix) {
		return &manifestFile{slowFile: slow, name: base}, nil
	}
	return &slow, nil
}

// frozen is the reason why nothing may be removed any more, and no MANIFEST written.
func (s *FS) frozen() error {
	if s.poison == nil {
		return nil
	}
	return s.poison.Err()
}

// Open reads tables through Table.
func (s *FS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.Open(name, opts...)
	if err != nil || !s.inDB(name) {
		return f, err
	}
	if strings.HasSuffix(name, ".sst") || strings.HasPrefix(s.PathBase(name), ondisk.LoadPrefix) {
		return ondisk.NewTable(f, name), nil
	}
	if num, ok := ondisk.LogNumber(s.PathBase(name)); ok {
		if n, damaged := s.readable[num]; damaged {
			return &cutFile{File: f, left: n}, nil
		}
	}
	return f, nil
}

// Create makes a file, of the owner's alone. A marker waits for the directory's other entries.
func (s *FS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if s.inDB(name) && s.frozen() != nil {
		time.Sleep(failBackoff) // pebble may be trying again and again
	}
	if s.inDB(name) && strings.HasPrefix(s.PathBase(name), "marker.") {
		// The entry of the marker must not reach the disk before that of the file it points to. pebble syncs them
		// together.
		if err := errors.Join(ondisk.SyncDir(s, s.db), s.frozen()); err != nil {
			return nil, err
		}
	}
	f, err := s.FS.Create(name, c)
	return s.wrap(name, f, err)
}

// OpenReadWrite opens a file to be written in place.
func (s *FS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := s.FS.OpenReadWrite(name, c, opts...)
	return s.wrap(name, f, err)
}

// ReuseForWrite makes a new file: logs are never recycled, since recycled bytes would look like a log's own.
func (s *FS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.Create(newname, c)
	if err != nil {
		return nil, err
	}
	if err := s.Remove(oldname); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Remove removes a file, unless the store has failed.
func (s *FS) Remove(name string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.Remove(name)
}

// RemoveAll removes a directory with all in it, unless the store has failed.
func (s *FS) RemoveAll(name string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	return s.FS.RemoveAll(name)
}

// OpenDir opens a directory for syncing. pebble panics, in whatever goroutine, when its own directory cannot be synced.
func (s *FS) OpenDir(name string) (vfs.File, error) {
	f, err := s.FS.OpenDir(name)
	if err != nil || name != s.db || s.poison == nil {
		return f, err
	}
	return &dbDir{File: f, poison: s.poison}, nil
}

// MkdirAll makes directories of the owner's alone.
func (s *FS) MkdirAll(dir string, _ os.FileMode) error {
	_, statErr := s.Stat(dir)
	if err := s.FS.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if s.disk == nil || statErr == nil {
		return nil
	}
	h, err := s.FS.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(beneath.Chmod(h, 0o700), h.Close())
}

// Lock is pebble's own; the store's is held already.
func (s *FS) Lock(name string) (io.Closer, error) {
	switch {
	case s.lockless:
		return nopCloser{}, nil
	case s.disk != nil:
		return s.disk.Lock(name)
	}
	return s.FS.Lock(name)
}

// Rename removes instead, where pebble archives a file that no version of the database needs and the check has passed.
func (s *FS) Rename(oldname, newname string) error {
	if err := s.frozen(); err != nil {
		return err
	}
	if s.checked.Load() && s.PathDir(newname) == s.PathJoin(s.db, ondisk.ArchiveDir) {
		return s.Remove(oldname)
	}
	return s.FS.Rename(oldname, newname)
}

// slow waits a little after a write that failed: pebble tries a failed flush again at once, for ever.
func (s *FS) slow(err error) {
	if err == nil {
		s.failing.Store(false)
		return
	}
	s.failing.Store(true)
	t := time.NewTimer(failBackoff)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.closing:
	}
}

// slowFile is a file of the database that is not a log.
type slowFile struct {
	vfs.File
	fs *FS
}

func (f *slowFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.fs.slow(err)
	return n, err
}

func (f *slowFile) Sync() error {
	err := f.File.Sync()
	f.fs.slow(err)
	return err
}

func (f *slowFile) SyncData() error {
	err := f.File.SyncData()
	f.fs.slow(err)
	return err
}

// dbDir poisons the store when the directory's entries cannot be synced, and then says that they were: what relies on
// it is refused (frozen).
type dbDir struct {
	vfs.File
	poison Poison
	mu     sync.Mutex // held until the store is poisoned: the system tells one of two that sync at once
}

func (d *dbDir) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.poison.Err() != nil {
		return nil
	}
	if err := d.File.Sync(); err != nil {
		_ = d.poison.Set(fmt.Errorf("fsync of the directory: %w", err))
	}
	return nil
}

func (d *dbDir) SyncData() error { return d.Sync() }

// cutFile is a damaged log, up to where it can be read.
type cutFile struct {
	vfs.File
	left int64
}

func (f *cutFile) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, io.EOF
	}
	n, err := f.File.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

// failBackoff is how long a write of a table or MANIFEST that failed is waited for.
const failBackoff = 250 * time.Millisecond

type nopCloser struct{}

func (nopCloser) Close() error { return nil }
