package faultfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"rewind/internal/worktreefs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// work does five mutating calls and some reads.
func work(d worktreefs.Dir) error {
	if err := d.Mkdir("sub", 0o755); err != nil {
		return err
	}
	sub, err := d.OpenDir("sub")
	if err != nil {
		return err
	}
	defer sub.Close()
	f, err := sub.CreateFile("f", 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write([]byte("0123456789")); err != nil {
		return err
	}
	parent, name, err := worktreefs.OpenParent(d, "top")
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := sub.Move("f", parent, name); err != nil {
		return err
	}
	return parent.Sync()
}

const workLog = "mkdir sub 0755\ncreate sub/f 0600\nwrite sub/f 10\nmove sub/f top\nsyncdir\n"

func root(t *testing.T) (worktreefs.Dir, string) {
	t.Helper()
	path := t.TempDir()
	d, err := worktreefs.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, path
}

func TestLog(t *testing.T) {
	d, _ := root(t)
	var struck []string
	s := &Script{Before: func(n int, c Call) { struck = append(struck, fmt.Sprint(n, c.Op)) }}
	if err := work(Wrap(d, s)); err != nil {
		t.Fatal(err)
	}
	if s.Log() != workLog || s.Calls() != 5 || s.Fired() || fmt.Sprint(struck) != "[1mkdir 2create 3write 4move 5syncdir]" {
		t.Errorf("%v\n%s", struck, s.Log())
	}
}

func TestFailAt(t *testing.T) {
	for n := 1; n <= 5; n++ {
		d, _ := root(t)
		s := &Script{FailAt: n, Err: syscall.EIO}
		if err := work(Wrap(d, s)); !errors.Is(err, syscall.EIO) || s.Calls() != n {
			t.Errorf("%d: %v after %d calls", n, err, s.Calls())
		}
		s.AssertFired(t)
	}
	d, path := root(t)
	s := &Script{FailAt: 1, FailOp: "write", Err: syscall.ENOSPC}
	if err := work(Wrap(d, s)); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(path, "sub", "f")); string(b) != "01234" {
		t.Errorf("a write that fails leaves %q, %v", b, err)
	}
}

func TestCrashAt(t *testing.T) {
	d, _ := root(t)
	s := &Script{CrashAt: 2}
	w := Wrap(d, s)
	if err := work(w); !errors.Is(err, ErrCrashed) {
		t.Error(err)
	}
	if _, err := w.Lstat("sub"); !errors.Is(err, ErrCrashed) {
		t.Errorf("a read after the crash: %v", err)
	}
	s.AssertFired(t)
}

type failing struct{ failed bool }

func (*failing) Helper()                 {}
func (f *failing) Errorf(string, ...any) { f.failed = true }

func TestAssertFired(t *testing.T) {
	var f failing
	(&Script{FailAt: 9}).AssertFired(&f)
	if !f.failed {
		t.Error("a fault that never fired passed")
	}
}
