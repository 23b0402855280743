package kvtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"rewind/internal/kv"
)

// Kind is a class of calls on a file system.
type Kind int

// The classes.
const (
	Read   Kind = iota // read, list, stat, open
	Write              // write, create, link, rename, remove, mkdir
	Sync               // fsync of a file or directory
	Ignore             // close, lock, preallocate, disk usage: never failed
)

func (k Kind) String() string { return [...]string{"read", "write", "sync", "other"}[k] }

// Call is one call on the file system.
type Call struct {
	Kind Kind
	Op   string // what it is: "create", "sync", ...
	Path string
}

// Fault makes the Nth call of a kind fail.
type Fault struct {
	Kind   Kind
	N      int    // 1: the first
	Path   string // counts only paths that contain this; empty: all
	Err    error  // what the call returns, a syscall.Errno as a rule
	Sticky bool   // later calls fail too

	seen, fired int
	hit         string // path of the first call that failed
}

// FaultFS passes calls on to another file system, but for those that its faults match.
type FaultFS struct {
	kv.FS

	mu     sync.Mutex
	faults []*Fault
	calls  map[Kind]int
	hook   func(Call)
}

// NewFaultFS wraps below.
func NewFaultFS(below kv.FS, faults ...*Fault) *FaultFS {
	f := &FaultFS{faults: faults, calls: make(map[Kind]int)}
	f.FS = errorfs.Wrap(below, errorfs.InjectorFunc(f.inject))
	return f
}

// Set replaces the faults; counting starts anew.
func (f *FaultFS) Set(faults ...*Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
	f.calls = make(map[Kind]int)
}

// Hook is called before each call of kind Read, Write or Sync, from whatever goroutine makes it. It may not use this
// file system.
func (f *FaultFS) Hook(fn func(Call)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = fn
}

// Calls is the number of calls of a kind since the faults were set.
func (f *FaultFS) Calls(k Kind) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[k]
}

// Fired tells whether every fault has made a call fail.
func (f *FaultFS) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ft := range f.faults {
		if ft.fired == 0 {
			return false
		}
	}
	return true
}

// Hit is the path of the first call that the first fault made fail; "" before that.
func (f *FaultFS) Hit() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) == 0 {
		return ""
	}
	return f.faults[0].hit
}

// AssertFired fails the test when a fault made no call fail: it proved nothing.
func (f *FaultFS) AssertFired(t testing.TB) {
	t.Helper()
	if !f.Fired() {
		t.Error("a fault did not fire")
	}
}

func (f *FaultFS) inject(op errorfs.Op) error {
	c := Call{Op: opNames[op.Kind], Path: op.Path, Kind: kindOf(op.Kind)}
	if c.Kind == Ignore {
		return nil
	}
	f.mu.Lock()
	hook := f.hook
	f.calls[c.Kind]++
	var err error
	for _, ft := range f.faults {
		if ft.Kind != c.Kind || !strings.Contains(c.Path, ft.Path) {
			continue
		}
		ft.seen++
		if ft.seen == ft.N || ft.Sticky && ft.seen > ft.N {
			if ft.fired++; ft.fired == 1 {
				ft.hit = c.Path
			}
			err = fmt.Errorf("%s %s: %w", c.Op, c.Path, ft.Err)
		}
	}
	f.mu.Unlock()
	if hook != nil {
		hook(c)
	}
	return err
}

var opNames = map[errorfs.OpKind]string{
	errorfs.OpCreate: "create", errorfs.OpLink: "link", errorfs.OpOpen: "open", errorfs.OpOpenDir: "open directory",
	errorfs.OpRemove: "remove", errorfs.OpRemoveAll: "remove all", errorfs.OpRename: "rename",
	errorfs.OpReuseForWrite: "reuse", errorfs.OpMkdirAll: "mkdir", errorfs.OpList: "list", errorfs.OpStat: "stat",
	errorfs.OpFileRead: "read", errorfs.OpFileReadAt: "read", errorfs.OpFileStat: "stat", errorfs.OpFileWrite: "write",
	errorfs.OpFileWriteAt: "write", errorfs.OpFileSync: "sync", errorfs.OpFileSyncData: "sync",
	errorfs.OpFileSyncTo: "sync", errorfs.OpFileFlush: "sync",
}

func kindOf(k errorfs.OpKind) Kind {
	switch k {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpFileFlush:
		return Sync
	case errorfs.OpOpen, errorfs.OpOpenDir, errorfs.OpList, errorfs.OpStat, errorfs.OpFileRead, errorfs.OpFileReadAt,
		errorfs.OpFileStat:
		return Read
	case errorfs.OpCreate, errorfs.OpLink, errorfs.OpRemove, errorfs.OpRemoveAll, errorfs.OpRename,
		errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpFileWrite, errorfs.OpFileWriteAt:
		return Write
	}
	return Ignore
}
