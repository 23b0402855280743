package kv

import (
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestPromise07MarkerAfterAFailure: the directory is synced before a marker is made, unless the store has failed; then there is no marker.
func TestPromise07MarkerAfterAFailure(t *testing.T) {
	mem := vfs.NewMem()
	d := newDB("/store", Options{FS: mem, Fatal: func(error) {}}.withDefaults(), nil)
	if err := d.fs.MkdirAll(d.db, 0o700); err != nil {
		t.Fatal(err)
	}
	path := mem.PathJoin(d.db, "marker.manifest.000002.MANIFEST-000007")
	_ = d.poison.set(syscall.EIO)
	if f, err := d.fs.Create(path, vfs.WriteCategoryUnspecified); !errors.Is(err, ErrPoisoned) {
		t.Errorf("create: %v, %v", f, err)
	}
	if _, err := mem.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the marker: %v", err)
	}
}

// failingDir is a directory whose first fsync fails, and takes until goOn; the system tells that one alone.
type failingDir struct {
	vfs.File
	syncs   atomic.Int32
	entered chan struct{}
	goOn    chan struct{}
}

func (f *failingDir) Sync() error {
	n := f.syncs.Add(1)
	f.entered <- struct{}{}
	if n > 1 {
		return nil
	}
	<-f.goOn
	return syscall.EIO
}

// TestPromise07DirectoryTwice: of two that sync a directory at once, the one that is not told of the failure has not synced it either.
func TestPromise07DirectoryTwice(t *testing.T) {
	f := &failingDir{entered: make(chan struct{}), goOn: make(chan struct{})}
	d := &dbDir{File: f, poison: &poison{down: make(chan struct{}), fatal: func(error) {}}}
	done := make(chan error, 2)
	go func() { done <- d.Sync() }()
	<-f.entered
	go func() { done <- d.Sync() }()
	select {
	case <-f.entered:
		t.Error("it was synced while another sync was failing, and the store had not failed")
	case <-time.After(50 * time.Millisecond): // nothing depends on it: the second is on its way
	}
	close(f.goOn)
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("sync: %v", err)
		}
	}
	if d.poison.err() == nil || f.syncs.Load() != 1 {
		t.Errorf("%d syncs, %v", f.syncs.Load(), d.poison.err())
	}
}
