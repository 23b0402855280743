package kv

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/bug"
	"rewind/internal/kv/ondisk"
)

// wals is the set of log files with bytes that the kernel has and the disk may not.
type wals struct {
	every  time.Duration
	poison *poison
	fs     vfs.FS        // where they are
	dir    string        // "": nothing is noted
	newest func() uint64 // the newest operation that was written
	rescue func() error  // called when open logs are not where they were

	underRescue atomic.Bool // what a log held that is gone is not in tables yet

	rotating atomic.Int32 // calls of flush that begin a new log

	noting sync.Mutex        // for these
	synced ondisk.LogOffsets // what is to be in the file synced
	stale  bool              // and is not
	file   vfs.File          // nil: not opened yet

	mu    sync.Mutex
	open  map[*walFile]struct{}
	timer *time.Timer // armed while a file is dirty; an idle store has none
	ended bool
	loops sync.WaitGroup
}

func newWALs(every time.Duration, p *poison) *wals {
	return &wals{every: every, poison: p, open: make(map[*walFile]struct{})}
}

func (w *wals) add(f *walFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[f] = struct{}{}
}

func (w *wals) remove(f *walFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, f)
}

// arm makes sure that what was just written is synced within every.
func (w *wals) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil || w.ended {
		return
	}
	w.loops.Add(1)
	w.timer = time.AfterFunc(w.every, func() {
		defer w.loops.Done()
		w.mu.Lock()
		w.timer = nil
		w.mu.Unlock()
		_ = w.sync() // a failure has poisoned the store
	})
}

// sync returns once everything written before the call is on disk, and by the name that it is looked for.
func (w *wals) sync() error {
	newest := uint64(0)
	if w.newest != nil {
		newest = w.newest()
	}
	w.mu.Lock()
	files := make([]*walFile, 0, 2)
	for f := range w.open {
		files = append(files, f)
	}
	w.mu.Unlock()
	for _, f := range files {
		if err := f.syncReally(); err != nil {
			return err
		}
	}
	if err := w.poison.err(); err != nil {
		return err
	}
	w.note(newest)
	if !bug.Is("log-unwatched") && (len(w.missing()) > 0 || w.underRescue.Load()) && w.rescue != nil {
		return w.rescue()
	}
	return w.poison.err()
}

// end stops the group loop and waits for a sync under way.
func (w *wals) end() {
	w.mu.Lock()
	w.ended = true
	if w.timer != nil && w.timer.Stop() {
		w.loops.Done()
	}
	w.timer = nil
	w.mu.Unlock()
	w.loops.Wait()
	w.noting.Lock()
	defer w.noting.Unlock()
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
}

// walFile is a log file of pebble. pebble's Sync makes it write its block by write(2); that is what a Written commit waits for, so
// Sync ends there. The fsync is made by the group loop, by a Durable commit, or by Close.
type walFile struct {
	vfs.File
	name    string
	num     uint64
	path    string       // "": nobody looks whether it is still there
	born    vfs.FileInfo // as it was made
	set     *wals
	written atomic.Int64 // bytes handed to the kernel
	synced  atomic.Int64 // bytes known to be on disk
	marked  atomic.Bool  // the mark of a clean close is the last thing written, or about to be

	mu     sync.Mutex // one fsync at a time, none after Close
	closed bool
}

func (f *walFile) Write(p []byte) (int, error) {
	if err := f.set.poison.err(); err != nil {
		return 0, err
	}
	mark := ondisk.SetSyncedOffset(p, f.written.Load(), f.synced.Load())
	n, err := f.put(p[:mark])
	if err != nil || mark == len(p) {
		return n, err
	}
	// The mark of a clean close vouches for all before it, so it must not be on disk before that is.
	if !bug.Is("clean-close-first") {
		if err := f.syncReally(); err != nil {
			return n, err
		}
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
		return n, f.set.poison.set(fmt.Errorf("write %s: %w", f.name, err))
	}
	f.set.arm()
	return n, nil
}

func (f *walFile) Sync() error                { return f.set.poison.err() }
func (f *walFile) SyncData() error            { return f.set.poison.err() }
func (f *walFile) SyncTo(int64) (bool, error) { return false, nil }

// Preallocate does nothing: 4.4 MiB a log is more than most stores hold.
func (f *walFile) Preallocate(int64, int64) error { return nil }

// syncReally fsyncs what is written. Waiters behind it whose bytes it covered do not sync again.
func (f *walFile) syncReally() error {
	want := f.written.Load()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.set.poison.err() // Close synced it, or poisoned
	}
	return f.syncLocked(want)
}

func (f *walFile) syncLocked(want int64) error {
	if err := f.set.poison.err(); err != nil {
		return err // never sync again after a sync that failed
	}
	if f.synced.Load() >= want {
		return nil
	}
	upTo := f.written.Load()
	err := f.File.SyncData()
	if err != nil && bug.Is("fsync-retried") {
		err = f.File.SyncData()
	}
	if err != nil && !bug.Is("fsync-ignored") {
		return f.set.poison.set(fmt.Errorf("fsync %s: %w", f.name, err))
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
