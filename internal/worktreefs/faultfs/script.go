package faultfs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// ErrCrashed is what every call gives once the script has crashed.
var ErrCrashed = errors.New("faultfs: crashed")

// Call is one call as it is recorded.
type Call struct {
	// create, write, hole, chmod, chown, chgrp, setattr, sync, mkdir, symlink, move, rename, exchange, remove, rmdir,
	// syncdir, syncfs; for reads: lstat, stat, open, read, readlink, readdir, opendir, attrs, nodefaultacl
	Op   string
	Path string // below the wrapped root
	Rest string // what else matters: a second path, permissions
}

// String is the line of a call log.
func (c Call) String() string { return strings.TrimSpace(c.Op + " " + c.Path + " " + c.Rest) }

// Script decides what happens to the calls of all directories that were wrapped with it. The zero Script only records.
// Set the fields before the first call. Calls are counted from 1.
type Script struct {
	// Reads: also count, record, fail and call back for reads. Otherwise only mutating calls count.
	Reads bool
	// FailAt fails that call with Err; 0: none. With FailOp, the call is counted among calls of that Op alone.
	FailAt int
	FailOp string
	Err    error
	// CrashAt plays dead from that call on; 0: never.
	CrashAt int
	// NoSync: syncs are counted and recorded, but not passed on. Nothing but time depends on them while no power is
	// cut.
	NoSync bool
	// Plain plays a file system whose renames can neither refuse nor exchange, and that has no hard links.
	Plain bool
	// NoSymlinks plays a file system without symbolic links.
	NoSymlinks bool
	// NoPerms plays a file system that keeps no permissions: what is made has 0755 (a directory) or 0644, and a change
	// of them has no effect. With Refuses, it is refused.
	NoPerms, Refuses bool
	// Before is called before each counted call with its number, once at a time; it may use the directories that are
	// not wrapped.
	Before func(n int, c Call)

	before  sync.Mutex // held while Before runs: some calls are made at once
	mu      sync.Mutex
	n       int
	ofOp    int
	fired   bool
	crashed bool
	log     []string
}

// call counts a call and decides its fate. half asks for half of a write before the error is returned.
func (s *Script) call(mutates bool, c Call) (half bool, err error) {
	s.mu.Lock()
	if s.crashed {
		s.mu.Unlock()
		return false, ErrCrashed
	}
	if !mutates && !s.Reads {
		s.mu.Unlock()
		return false, nil
	}
	s.n++
	n := s.n
	s.log = append(s.log, c.String())
	if s.CrashAt > 0 && n >= s.CrashAt {
		s.crashed, s.fired = true, true
		s.mu.Unlock()
		return true, ErrCrashed
	}
	if s.FailAt > 0 {
		at := n
		if s.FailOp != "" {
			if at = 0; s.FailOp == c.Op {
				s.ofOp++
				at = s.ofOp
			}
		}
		if at == s.FailAt {
			s.fired = true
			s.mu.Unlock()
			return true, s.Err
		}
	}
	s.mu.Unlock()
	if s.Before != nil {
		s.before.Lock()
		defer s.before.Unlock()
		s.Before(n, c)
	}
	return false, nil
}

// changePerm decides what becomes of a change of permissions; pass: it is made.
func (s *Script) changePerm(path string) (pass bool, err error) {
	if s.NoPerms && s.Refuses {
		err = &fs.PathError{Op: "chmod", Path: path, Err: fs.ErrPermission}
	}
	return !s.NoPerms, err
}

// Calls is the number of calls counted so far.
func (s *Script) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Log is the calls counted so far, one a line.
func (s *Script) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.log {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// Fired tells whether the fault happened.
func (s *Script) Fired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fired
}

// AssertFired fails the test when the fault never happened.
func (s *Script) AssertFired(t interface {
	Helper()
	Errorf(format string, args ...any)
},
) {
	t.Helper()
	if !s.Fired() {
		t.Errorf("faultfs: the fault never fired in %d calls", s.Calls())
	}
}
