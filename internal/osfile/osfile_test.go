package osfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// TestWrite holds that a file is what it was, or what it was to become, and that nothing else is left.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	bad := errors.New("bad")
	is := func(want string, perm os.FileMode) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil || string(b) != want {
			t.Fatalf("%q, %v; want %q", b, err, want)
		}
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != perm {
			t.Errorf("%v, %v; want %v", fi.Mode(), err, perm)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
	}
	if err := Write(path, Options{Temporary: ".x-"}, text("one")); err != nil {
		t.Fatal(err)
	}
	is("one", 0o600)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, Options{Temporary: ".x-", Like: fi}, text("two")); err != nil {
		t.Fatal(err)
	}
	is("two", 0o640)
	if err := Write(path, Options{Temporary: ".x-", Hint: true}, text("hint")); err != nil {
		t.Fatal(err)
	}
	is("hint", 0o600)
	if err := Write(path, Options{Temporary: ".x-", Like: fi}, text("two")); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {Hint: true}, {Before: func(tmp *os.File) error {
		if b, err := os.ReadFile(tmp.Name()); err != nil || string(b) != "three" {
			t.Errorf("before: %q, %v", b, err)
		}
		return bad
	}}} {
		err := Write(path, o, func(w io.Writer) error {
			if err := text("three")(w); err != nil || o.Before != nil {
				return err
			}
			return bad
		})
		if !errors.Is(err, bad) {
			t.Errorf("%v", err)
		}
		is("two", 0o640)
	}
}
