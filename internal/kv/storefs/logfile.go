package storefs

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/beneath"
	"rewind/internal/kv/ondisk"
)

// walFile is a log file of pebble. pebble's Sync makes it write its block by write(2); that is what a Written commit
// waits for, so Sync ends there. The fsync is made by the group loop, by a Durable commit, or by Close.
type walFile struct {
	vfs.File
	name    string
	num     uint64
	path    string       // "": nobody looks whether it is still there
	born    vfs.FileInfo // as it was made
	set     *Logs
	written atomic.Int64 // bytes handed to the kernel
	synced  atomic.Int64 // bytes known to be on disk
	marked  atomic.Bool  // the mark of a clean close is the last thing written, or about to be

	mu     sync.Mutex // one fsync at a time, none after Close
	closed bool
}

func (f *walFile) Write(p []byte) (int, error) {
	if err := f.set.poison.Err(); err != nil {
		return 0, err
	}
	mark := ondisk.SetSyncedOffset(p, f.written.Load(), f.synced.Load())
	n, err := f.put(p[:mark])
	if err != nil || mark == len(p) {
		return n, err
	}
	// The mark of a clean close vouches for all before it, so it must not be on disk before that is.
	if err := f.syncReally(); err != nil {
		return n, err
	}
	f.marked.Store(true)
	m, err := f.put(p[mark:])
	return n + m, err
}

func (f *walFile) put(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.File.Write(p)
	f.written.Add(int64(n))
	if err != nil {
		return n, f.set.poison.Set(fmt.Errorf("write %s: %w", f.name, err))
	}
	f.set.arm()
	return n, nil
}

func (f *walFile) Sync() error                { return f.set.poison.Err() }
func (f *walFile) SyncData() error            { return f.set.poison.Err() }
func (f *walFile) SyncTo(int64) (bool, error) { return false, nil }

// Preallocate does nothing: 4.4 MiB a log is more than most stores hold.
func (f *walFile) Preallocate(int64, int64) error { return nil }

// syncReally fsyncs what is written. Waiters behind it whose bytes it covered do not sync again.
func (f *walFile) syncReally() error {
	want := f.written.Load()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.set.poison.Err() // Close synced it, or poisoned
	}
	return f.syncLocked(want)
}

func (f *walFile) syncLocked(want int64) error {
	if err := f.set.poison.Err(); err != nil {
		return err // never sync again after a sync that failed
	}
	if f.synced.Load() >= want {
		return nil
	}
	upTo := f.written.Load()
	err := f.File.SyncData()
	if err != nil {
		return f.set.poison.Set(fmt.Errorf("fsync %s: %w", f.name, err))
	}
	f.synced.Store(upTo)
	if f.marked.Load() {
		upTo = max(upTo-ondisk.LogTrailer, 0)
	}
	f.set.have(f.num, upTo)
	return nil
}

func (f *walFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	err := f.syncLocked(f.written.Load())
	if err == nil {
		f.set.note(0)
	}
	f.closed = true
	f.set.remove(f)
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	f.set.stand()
	return err
}

func (f *walFile) gone() bool {
	if f.path == "" || f.born == nil {
		return false
	}
	written := f.written.Load()
	now, err := f.set.fs.Stat(f.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !beneath.SameFile(now, f.born) || now.Size() < written
}
