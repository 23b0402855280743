package worktreefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
)

// Rename takes a free name and no other; MoveOrRename uses it only where Move is not to be had.
func TestRename(t *testing.T) {
	for _, plain := range []bool{false, true} {
		path := t.TempDir()
		real, err := worktreefs.OpenRoot(path)
		if err != nil {
			t.Fatal(err)
		}
		defer real.Close()
		s := &faultfs.Script{Plain: plain}
		d := faultfs.Wrap(real, s)
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(path, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"dir", "full", "full/in", "empty"} {
			if err := os.Mkdir(filepath.Join(path, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range [][2]string{{"a", "b"}, {"a", "empty"}, {"a", "full"}, {"dir", "a"}, {"dir", "full"}, {"dir", "empty"}} {
			for what, move := range map[string]func() error{
				"rename": func() error { return d.Rename(c[0], d, c[1]) },
				"either": func() error { return worktreefs.MoveOrRename(d, c[0], d, c[1]) },
			} {
				if err := move(); !errors.Is(err, worktreefs.ErrExist) {
					t.Errorf("plain %t, %s of %q: %v", plain, what, c, err)
				}
			}
		}
		for _, name := range []string{"a", "dir"} {
			if err := worktreefs.MoveOrRename(d, name, d, name+" moved"); err != nil {
				t.Errorf("plain %t, %s: %v", plain, name, err)
			}
		}
		if err := d.Rename("gone", d, "x"); !errors.Is(err, worktreefs.ErrNotExist) {
			t.Error(err)
		}
		if b, err := os.ReadFile(filepath.Join(path, "b")); err != nil || string(b) != "b" {
			t.Errorf("%q, %v", b, err)
		}
	}
}

// A probe says what the file system lacks, and leaves nothing, also of one that was killed at any call.
func TestProbe(t *testing.T) {
	all := worktreefs.Lacks{Moves: true, Symlinks: true, Permissions: true}
	for _, want := range []worktreefs.Lacks{{}, {Moves: true}, {Symlinks: true}, {Permissions: true}, all} {
		for _, refuses := range []bool{false, true} {
			for n := 1; ; n++ {
				path := t.TempDir()
				real, err := worktreefs.OpenRoot(path)
				if err != nil {
					t.Fatal(err)
				}
				defer real.Close()
				script := func(crash int) *faultfs.Script {
					return &faultfs.Script{
						CrashAt: crash, Plain: want.Moves, NoSymlinks: want.Symlinks, NoPerms: want.Permissions, Refuses: refuses,
					}
				}
				_, cut := worktreefs.Probe(faultfs.Wrap(real, script(n)), "probe")
				got, err := worktreefs.Probe(faultfs.Wrap(real, script(0)), "probe")
				if err != nil || got != want {
					t.Fatalf("cut at %d: %+v, %v, want %+v", n, got, err, want)
				}
				if list, err := os.ReadDir(path); err != nil || len(list) > 0 {
					t.Fatalf("cut at %d: left %v, %v", n, list, err)
				}
				if cut == nil {
					break
				}
			}
		}
	}
}
