package treecopy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// trees are a project, and a directory that it is copied into.
func trees(t *testing.T) (c *Copier, from, to string) {
	t.Helper()
	from, to = filepath.Join(t.TempDir(), "p"), t.TempDir()
	must(t, os.MkdirAll(filepath.Join(from, "d/sub"), 0o755))
	must(t, os.MkdirAll(filepath.Join(from, "other"), 0o755))
	must(t, os.WriteFile(filepath.Join(from, "d/f"), []byte("content"), 0o640))
	must(t, os.WriteFile(filepath.Join(from, "d/sub/x"), []byte("x"), 0o555))
	must(t, os.WriteFile(filepath.Join(from, "other/o"), []byte("o"), 0o644))
	must(t, os.Link(filepath.Join(from, "d/f"), filepath.Join(from, "d/second")))
	must(t, syscall.Mkfifo(filepath.Join(from, "d/pipe"), 0o644))
	must(t, os.Chtimes(filepath.Join(from, "d/f"), time.Unix(1e9, 5000), time.Unix(1e9, 5000)))
	must(t, os.Chmod(filepath.Join(from, "d/sub"), 0o500))
	must(t, os.Chtimes(filepath.Join(from, "d"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(from, "d/sub"), 0o700) })
	c = &Copier{FromPath: from}
	var err error
	c.From, err = os.OpenRoot(from)
	must(t, err)
	c.To, err = os.OpenRoot(to)
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(c.From.Close(), Remove(c.To, "d"), c.To.Close())) })
	return c, from, to
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCopy(t *testing.T) {
	c, from, to := trees(t)
	must(t, c.Copy(context.Background(), "d"))
	for _, path := range []string{"d", "d/f", "d/second", "d/sub", "d/sub/x"} {
		was, err := os.Lstat(filepath.Join(from, path))
		must(t, err)
		is, err := os.Lstat(filepath.Join(to, path))
		must(t, err)
		if was.Mode() != is.Mode() || !was.ModTime().Equal(is.ModTime()) || os.SameFile(was, is) {
			t.Errorf("%s is %v, %v; was %v, %v", path, is.Mode(), is.ModTime(), was.Mode(), was.ModTime())
		}
	}
	if b, err := os.ReadFile(filepath.Join(to, "d/second")); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(to, "d/pipe")); err == nil {
		t.Error("a pipe was copied")
	}
	if err := c.Copy(context.Background(), "d"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second copy: %v", err)
	}
}

// TestT27Promise20Links: no link of a copy leads into the project.
func TestT27Promise20Links(t *testing.T) {
	c, from, to := trees(t)
	aside := filepath.Join(t.TempDir(), "aside")
	must(t, os.Symlink(filepath.Join(from, "other"), aside))
	want := map[string]string{
		"d/near": "f", "d/up": "../other/o", "d/abs": "../other", "d/root": "..", "d/round": "../other", "d/aside": "../other",
		"d/out": "/nosuch/place", "d/away": filepath.Join(filepath.Dir(from), "beside"), "d/deep": "../other/o", "d/gone": "../nosuch",
	}
	for path, target := range map[string]string{
		"d/near": "f", "d/up": "../other/o", "d/abs": filepath.Join(from, "other"), "d/root": from,
		"d/round": "../../" + filepath.Base(from) + "/other", "d/aside": aside, "d/out": "/nosuch/place", "d/away": "../../beside",
		"d/deep": from + "/d/../other/./o", "d/gone": from + "/nosuch",
	} {
		must(t, os.Symlink(target, filepath.Join(from, path)))
	}
	must(t, c.Copy(context.Background(), "d"))
	for path, target := range want {
		if got, err := os.Readlink(filepath.Join(to, path)); err != nil || got != target {
			t.Errorf("%s leads to %q, %v; want %q", path, got, err, target)
		}
	}
}

// A copy that is too large, or of which no reflink can be made, leaves nothing.
func TestCopyLeavesNothing(t *testing.T) {
	c, _, to := trees(t)
	for name, tt := range map[string]struct {
		limit Size
		clone Clone
		ctx   func() context.Context
		want  error
	}{
		"entries":   {Size{Entries: 3}, nil, context.Background, ErrTooLarge},
		"bytes":     {Size{Bytes: 9}, nil, context.Background, ErrTooLarge},
		"reflinks":  {Size{}, func(*os.File, *os.File) error { return ErrNoReflink }, context.Background, ErrNoReflink},
		"cancelled": {Size{}, nil, func() context.Context { return stopped }, context.Canceled},
	} {
		c.Limit, c.Clone = tt.limit, tt.clone
		if err := c.Copy(tt.ctx(), "d"); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if list, err := os.ReadDir(to); err != nil || len(list) > 0 {
			t.Errorf("%s: left %v, %v", name, list, err)
		}
	}
}

var stopped = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func TestMeasure(t *testing.T) {
	c, _, _ := trees(t)
	all := func(uint32, uint32) bool { return true }
	s, err := Measure(context.Background(), c.From, "d", Size{}, all)
	if err != nil || s.Entries != 6 || s.Bytes != 15 || s.Foreign != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = Measure(context.Background(), c.From, "d", Size{Entries: 2}, all); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%+v, %v", s, err)
	}
	other := func(_, gid uint32) bool { return gid == 1<<30 }
	if s, err = Measure(context.Background(), c.From, "d", Size{}, other); err != nil || s.Foreign != "d" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err = Measure(context.Background(), c.From, "nosuch", Size{}, all); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Reflinks of a file system that has them share nothing that a writer could change. The variable names a directory on
// one.
func TestReflink(t *testing.T) {
	dir := os.Getenv("REWIND_TEST_REFLINKS")
	if dir == "" {
		dir = t.TempDir()
	}
	from, err := os.Create(filepath.Join(dir, "from"))
	must(t, err)
	to, err := os.Create(filepath.Join(dir, "to"))
	must(t, err)
	defer os.Remove(from.Name())
	defer os.Remove(to.Name())
	must(t, func() error { _, err := from.WriteString(strings.Repeat("0123456789abcdef", 1<<12)); return err }())
	if err := Reflink(to, from); errors.Is(err, ErrNoReflink) && os.Getenv("REWIND_TEST_REFLINKS") == "" {
		return // most file systems have none, which is all that can be seen on them
	} else if err != nil {
		t.Fatal(err)
	}
	_, err = to.WriteAt([]byte("changed"), 0)
	must(t, err)
	var b [16]byte
	_, err = from.ReadAt(b[:], 0)
	must(t, err)
	if fmt.Sprintf("%s", b) != "0123456789abcdef" {
		t.Errorf("the original has %q", b)
	}
}

// TestRemoveAtOnce: several who remove the same directory have removed it.
func TestRemoveAtOnce(t *testing.T) {
	t.Parallel()
	in, err := os.OpenRoot(t.TempDir())
	must(t, err)
	defer in.Close()
	for range 20 {
		for i := range 30 {
			must(t, in.MkdirAll(fmt.Sprintf("d/%d/sub", i), 0o755))
		}
		done := make(chan error)
		for range 4 {
			go func() { done <- Remove(in, "d") }()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Errorf("%v", err)
			}
		}
		if _, err := in.Lstat("d"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is there: %v", err)
		}
	}
}
