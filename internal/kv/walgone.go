package kv

import (
	"errors"
	"io/fs"

	"rewind/internal/kv/beneath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// missing are the open logs whose names do not lead to them any more.
func (w *wals) missing() (gone []*walFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.open {
		if f.gone() {
			gone = append(gone, f)
		}
	}
	return gone
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

// stand does not return while flush begins a new log and the store is poisoned. In production nobody comes here: the process has ended.
func (w *wals) stand() {
	if w.rotating.Load() > 0 && w.poison.err() != nil {
		select {}
	}
}

// hold reports whether open logs hold anything.
func (w *wals) hold() bool {
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
