package storefs

import (
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// switchOf is a Poison of tests.
type switchOf struct{ cause atomic.Pointer[error] }

func (s *switchOf) Err() error {
	if p := s.cause.Load(); p != nil {
		return *p
	}
	return nil
}

func (s *switchOf) Set(cause error) error {
	s.cause.CompareAndSwap(nil, &cause)
	return s.Err()
}

// TestPromise07MarkerAfterAFailure: the directory is synced before a marker is made, unless the store has failed; then
// there is no marker.
func TestPromise07MarkerAfterAFailure(t *testing.T) {
	mem := vfs.NewMem()
	failed := &switchOf{}
	f := New(Options{FS: mem, DB: "/store/db", Logs: NewLogs(time.Second, failed), Poison: failed})
	if err := f.MkdirAll("/store/db", 0o700); err != nil {
		t.Fatal(err)
	}
	path := mem.PathJoin("/store/db", "marker.manifest.000002.MANIFEST-000007")
	_ = failed.Set(syscall.EIO)
	if f, err := f.Create(path, vfs.WriteCategoryUnspecified); !errors.Is(err, syscall.EIO) {
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

// TestPromise07DirectoryTwice: of two that sync a directory at once, the one that is not told of the failure has not
// synced it either.
func TestPromise07DirectoryTwice(t *testing.T) {
	f := &failingDir{entered: make(chan struct{}), goOn: make(chan struct{})}
	d := &dbDir{File: f, poison: &switchOf{}}
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
	if d.poison.Err() == nil || f.syncs.Load() != 1 {
		t.Errorf("%d syncs, %v", f.syncs.Load(), d.poison.Err())
	}
}
