package storefs

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// Logs is the set of log files with bytes that the kernel has and the disk may not. Within a time after they were
// written they are fsynced, together. Safe for concurrent use.
type Logs struct {
	every  time.Duration
	poison Poison
	fs     vfs.FS        // where they are
	dir    string        // "": nothing is noted
	newest func() uint64 // the newest operation that was written
	rescue func() error  // called when open logs are not where they were

	underRescue atomic.Bool // what a log held that is gone is not in tables yet

	rotating atomic.Int32 // calls of Rotating that have not ended

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

// NewLogs makes an empty set: every is how long a write waits for its fsync.
func NewLogs(every time.Duration, p Poison) *Logs {
	return &Logs{every: every, poison: p, open: make(map[*walFile]struct{})}
}

// Note has what is synced noted in pebble's directory dir of fs, with the newest operation as newest gives it, and
// rescue called when open logs are not where they were. It is called before the first log.
func (w *Logs) Note(fs vfs.FS, dir string, newest func() uint64, rescue func() error) {
	w.fs, w.dir, w.newest, w.rescue = fs, dir, newest, rescue
}

func (w *Logs) add(f *walFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[f] = struct{}{}
}

func (w *Logs) remove(f *walFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, f)
}

// arm makes sure that what was just written is synced within every.
func (w *Logs) arm() {
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
		_ = w.Sync() // a failure has poisoned the store
	})
}

// Sync returns once everything written before the call is on disk, and by the name that it is looked for.
func (w *Logs) Sync() error {
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
	if err := w.poison.Err(); err != nil {
		return err
	}
	w.note(newest)
	if (len(w.Missing()) > 0 || w.underRescue.Load()) && w.rescue != nil {
		return w.rescue()
	}
	return w.poison.Err()
}

// End stops the group loop and waits for a sync under way.
func (w *Logs) End() {
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

// Missing names the open logs whose names do not lead to them any more.
func (w *Logs) Missing() (gone []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.open {
		if f.gone() {
			gone = append(gone, f.name)
		}
	}
	return gone
}

// Rescuing says that what the missing logs held is being written anew, until end is called: whoever finds a new log
// meanwhile waits for the tables of what the old one held. The file of the synced offsets may be gone, too, and is
// looked for again.
func (w *Logs) Rescuing() (end func()) {
	w.underRescue.Store(true)
	w.reopen()
	return func() { w.underRescue.Store(false) }
}

// Rotating says that pebble begins a new log, until end is called: see stand.
func (w *Logs) Rotating() (end func()) {
	w.rotating.Add(1)
	return func() { w.rotating.Add(-1) }
}

// stand does not return while pebble begins a new log (Rotating) and the store is poisoned: where it cannot, pebble
// panics in the middle of locks that are then unlocked twice. In production nobody comes here: the process has ended.
func (w *Logs) stand() {
	if w.rotating.Load() > 0 && w.poison.Err() != nil {
		select {}
	}
}

// Pending tells whether open logs hold anything.
func (w *Logs) Pending() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.open {
		if f.written.Load() > 0 {
			return true
		}
	}
	return false
}

// bornAs is what a file is as it was just made; nil: it is not known.
func bornAs(f vfs.File) vfs.FileInfo {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return info
}
