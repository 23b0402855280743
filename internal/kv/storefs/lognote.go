package storefs

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv/ondisk"
)

// have takes in how far a log is on disk.
func (w *Logs) have(num uint64, n int64) {
	w.noting.Lock()
	defer w.noting.Unlock()
	if w.synced.Logs == nil {
		w.synced.Logs = map[uint64]int64{}
	}
	if old, ok := w.synced.Logs[num]; !ok || old != n {
		w.synced.Logs[num], w.stale = n, true
	}
}

// Forget is called when pebble has removed a log: all of it is in tables, and the MANIFEST that says so is on disk.
// Whoever reads the file takes that from there, so it need not be written.
func (w *Logs) Forget(num uint64) {
	w.noting.Lock()
	defer w.noting.Unlock()
	delete(w.synced.Logs, num)
}

// note writes the file, if it has something new to say: that all operations up to newest are on disk, and all that have
// was told. When that fails nothing is wrong: the file says less than it could.
func (w *Logs) note(newest uint64) {
	w.noting.Lock()
	defer w.noting.Unlock()
	if newest > w.synced.Newest {
		w.synced.Newest, w.stale = newest, true
	}
	if !w.stale || w.dir == "" {
		return
	}
	if w.file == nil {
		f, err := w.fs.OpenReadWrite(w.fs.PathJoin(w.dir, ondisk.LogOffsetsFile), vfs.WriteCategoryUnspecified)
		if err != nil {
			return
		}
		w.file = f
	}
	if _, err := w.file.WriteAt([]byte(w.synced.Line()), 0); err == nil {
		w.stale = false
	}
}

// reopen has the next note look for the file by its name.
func (w *Logs) reopen() {
	w.noting.Lock()
	defer w.noting.Unlock()
	if w.file != nil {
		_ = w.file.Close()
	}
	w.file, w.stale = nil, true
}
