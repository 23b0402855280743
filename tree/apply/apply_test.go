package apply_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rewind/internal/torture"
	"rewind/internal/worktreefs/faultfs"
	"rewind/tree"
)

func init() { torture.Draws(34, 100) }

const (
	liteHead = "SQLite format 3\x00"
	walHead  = "\x37\x7f\x06\x82"
)

// applyScenarios are pairs of trees; every pair is used in both directions.
func applyScenarios() map[string][2]applyState {
	long := strings.Repeat("n", 255)
	return map[string][2]applyState{
		"edit": {
			{"a": nf("one", 0o644), "d": nd(0o755), "d/b": nf("two", 0o600), "same": nf("s", 0o644)},
			{
				"a": nf("uno", 0o755), "d": nd(0o755), "d/b": nf("two and a half", 0o600), "same": nf("s", 0o644),
				"new": nf("", 0o644),
			},
		},
		"file to dir": {
			{"x": nf("file", 0o644), "y": nl("x")},
			{
				"x": nd(0o755), "x/in": nf("below", 0o644), "x/deep": nd(0o700), "x/deep/er": nf("z", 0o444),
				"y": nd(0o711),
			},
		},
		"links": {
			{"l": nl("target"), "f": nf("file", 0o644), "d": nd(0o755), "d/l": nl("../f")},
			{"l": nl(strings.Repeat("t/", 1000)), "f": nl("d"), "d": nl("f"), "g": nf("x", 0o640)},
		},
		"nested deletes": {
			{
				"a": nd(0o755), "a/b": nd(0o755), "a/b/c": nd(0o755), "a/b/c/f": nf("f", 0o644),
				"a/b/g": nf("g", 0o644), "k": nf("k", 0o644),
			},
			{"k": nf("k", 0o644)},
		},
		"permissions": {
			{"f": nf("f", 0o644), "g": nf("g", 0o4755), "d": nd(0o755), "d/h": nf("h", 0o600), "s": nd(0o1777)},
			{"f": nf("f", 0o755), "g": nf("gg", 0o4711), "d": nd(0o750), "d/h": nf("h", 0o400), "s": nd(0o1755)},
		},
		"read-only": {
			{
				"ro": nd(0o555), "ro/f": nf("old", 0o444), "ro/sub": nd(0o500), "ro/sub/g": nf("g", 0o400), "no": nd(0),
				"no/h": nf("h", 0),
			},
			{
				"ro": nd(0o555), "ro/f": nf("new!", 0o444), "ro/new": nd(0o111), "ro/new/x": nf("x", 0),
				"ro/sub": nd(0o555), "no": nd(0),
				"no/h": nf("hh", 0o200), "no/i": nl("h"),
			},
		},
		"read-only goes": {
			{"ro": nd(0o555), "ro/f": nf("f", 0o444), "ro/e": nd(0o500), "w": nd(0o755)},
			{"ro": nf("file", 0o444), "w": nd(0o555)},
		},
		"odd names": {
			{
				"new\nline": nf("1", 0o644), "\xff\xfe": nf("2", 0o644), long: nd(0o755), long + "/" +
					long: nf("3", 0o644),
				"-rf": nf("4", 0o644),
			},
			{
				"new\nline": nf("11", 0o644), "\xff\xfe": nd(0o755), "\xff\xfe/\x01": nf("5", 0o644),
				long: nf("6", 0o600),
				" ":  nf("7", 0o644), "*": nf("8", 0o644), "git": nf("9", 0o644), ".gitignore": nf("x", 0o644),
			},
		},
		"database": {
			{
				"a.db": nf(liteHead+"one", 0o644), "a.db-wal": nf(walHead+"one", 0o644), "a.db-shm": nf("index", 0o644),
				"b.db": nf(liteHead+"b", 0o600), "d": nd(0o755), "d/c.db": nf(liteHead+"c", 0o644),
				"d/c.db-journal": nf("j", 0o644),
				"e.db":           nf(liteHead, 0o644), "e.db-wal": nf(walHead, 0o644), "notes": nf("n", 0o644),
				"notes-wal": nf("w", 0o644),
			},
			{
				"a.db": nf(liteHead+"another", 0o600), "a.db-wal": nf(walHead+"two", 0o644),
				"b.db": nf(liteHead+"bb", 0o600), "b.db-journal": nf("undo", 0o600), "d": nd(0o755),
				"e.db": nf(liteHead, 0o644), "notes-wal": nf("ww", 0o644), "n": nd(0o755),
				"n/new.db":     nf(liteHead, 0o644),
				"n/new.db-wal": nf(walHead, 0o644),
			},
		},
		"empty dirs": {
			{"e": nd(0o755), "e/e": nd(0o700), "f": nf("f", 0o644)},
			{"f": nd(0o755), "g": nd(0o755), "g/g": nd(0o755), "g/g/g": nd(0o1755)},
		},
	}
}

// eachScenario calls fn with every scenario in both directions.
func eachScenario(t *testing.T, fn func(t *testing.T, from, to applyState, b applyBlobs)) {
	for name, s := range applyScenarios() {
		b := applyBlobs{}.add(s[0]).add(s[1])
		t.Run(name, func(t *testing.T) { fn(t, s[0], s[1], b) })
		t.Run(name+" back", func(t *testing.T) { fn(t, s[1], s[0], b) })
	}
}

// applyDir is like t.TempDir, but can remove what we make.
func applyDir(t testing.TB) string {
	t.Helper()
	base := "/dev/shm" // twenty times faster than a disk; TestApplyReachesTarget uses the disk
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	return applyDirIn(t, base)
}

// onDisk is applyDir on a disk.
func onDisk(t testing.TB) string {
	torture.OnDisk(t)
	return applyDirIn(t, "")
}

func applyDirIn(t testing.TB, base string) string {
	t.Helper()
	dir, err := os.MkdirTemp(base, "apply")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(p, 0o700)
			}
			return nil
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestApplyReachesTarget(t *testing.T) {
	eachScenario(t, func(t *testing.T, from, to applyState, b applyBlobs) {
		dir := onDisk(t)
		buildState(t, dir, from)
		steps := stepsBetween(from, to)
		if r := mustReach(t, dir, steps, b, to); r.Done != len(steps) {
			t.Errorf("%d of %d steps done", r.Done, len(steps))
		}
		s := &faultfs.Script{} // without privileges, closed directories are opened to be looked into
		if r, err := runApply(t, dir, steps, b, s); err != nil || r.Done != len(steps) || s.Calls() != 0 &&
			os.Getuid() == 0 {
			t.Errorf("applied again: %+v, %v; it did\n%s", r, err, s.Log())
		}
		mustReach(t, dir, tree.Reverse(steps), b, from)
	})
}

// TestT10Crash cuts every run short at every mutating call; then the same steps reach the target, and the reverse the
// applyState before.
func TestT10Crash(t *testing.T) {
	points := 0
	eachScenario(t, func(t *testing.T, from, to applyState, b applyBlobs) {
		steps := stepsBetween(from, to)
		for n := 1; ; n++ {
			done := false
			for _, back := range []bool{false, true} {
				dir := applyDir(t)
				buildState(t, dir, from)
				s := &faultfs.Script{CrashAt: n}
				_, err := runApply(t, dir, steps, b, s)
				if err == nil {
					done = true
					if s.Fired() {
						t.Fatalf("call %d crashed unnoticed", n)
					}
					break
				}
				s.AssertFired(t)
				if !errors.Is(err, faultfs.ErrCrashed) {
					t.Fatalf("call %d: %v", n, err)
				}
				points++
				if back {
					mustReach(t, dir, tree.Reverse(steps), b, from)
				} else {
					mustReach(t, dir, steps, b, to)
				}
				if t.Failed() {
					t.Fatalf("cut short at call %d (reversed: %v) of\n%s", n, back, s.Log())
				}
			}
			if done {
				break
			}
		}
	})
	t.Logf("%d crashes", points)
}

// TestT10CrashTwice cuts the continuation short as well, at changing points and directions.
func TestT10CrashTwice(t *testing.T) {
	eachScenario(t, func(t *testing.T, from, to applyState, b applyBlobs) {
		steps := stepsBetween(from, to)
		for n := 2; n < 60; n += 5 {
			dir := applyDir(t)
			buildState(t, dir, from)
			at := n
			for i := range 6 {
				run := steps
				if i%2 == 1 {
					run = tree.Reverse(steps)
				}
				_, _ = runApply(t, dir, run, b, &faultfs.Script{CrashAt: at})
				at = 1 + (at*7+i)%29
			}
			mustReach(t, dir, steps, b, to)
			if t.Failed() {
				t.Fatalf("first cut at %d", n)
			}
		}
	})
}

// TestApplyStageFails: no space and a wrong object leave the tree as it was, and the stage empty.
func TestApplyStageFails(t *testing.T) {
	from := applyState{"a": nf("one", 0o644), "ro": nd(0o555), "ro/f": nf("f", 0o444)}
	to := applyState{
		"a": nf("uno", 0o644), "ro": nd(0o555), "ro/f": nf("ff", 0o444), "ro/g": nf("g", 0o444),
		"z": nl("a"), "y": nd(0o700),
	}
	good := applyBlobs{}.add(from).add(to)
	bad := applyBlobs{}.add(from).add(to)
	bad[nf("g", 0).entry("g").ID] = "G"
	for _, c := range []struct {
		name string
		s    *faultfs.Script
		b    applyBlobs
		want error
	}{
		{"no space in write", &faultfs.Script{FailAt: 3, FailOp: "write", Err: syscall.ENOSPC}, good, syscall.ENOSPC},
		{"no space in create", &faultfs.Script{FailAt: 2, FailOp: "create", Err: syscall.ENOSPC}, good, syscall.ENOSPC},
		{
			"no space in symlink", &faultfs.Script{FailAt: 1, FailOp: "symlink", Err: syscall.ENOSPC}, good,
			syscall.ENOSPC,
		},
		{"no space in mkdir", &faultfs.Script{FailAt: 1, FailOp: "mkdir", Err: syscall.ENOSPC}, good, syscall.ENOSPC},
		{"sync fails", &faultfs.Script{FailAt: 2, FailOp: "sync", Err: syscall.EIO}, good, syscall.EIO},
		{"stage sync fails", &faultfs.Script{FailAt: 1, FailOp: "syncdir", Err: syscall.EIO}, good, syscall.EIO},
		{"wrong object", nil, bad, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := applyDir(t)
			buildState(t, dir, from)
			s := c.s
			if s == nil {
				s = &faultfs.Script{}
			}
			_, err := runApply(t, dir, stepsBetween(from, to), c.b, s)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error is %v", err)
			}
			if c.s != nil {
				c.s.AssertFired(t)
			}
			if d := readState(t, dir).diff(from); d != "" {
				t.Errorf("touched:\n%s", d)
			}
			if left := stageHolds(t, dir); len(left) > 0 {
				t.Errorf("stage holds %q", left)
			}
		})
	}
}

// TestApplyFailsAnywhere: an I/O error of any call is an error or a conflict, loses nothing, and the steps can be run
// again.
func TestApplyFailsAnywhere(t *testing.T) {
	eachScenario(t, func(t *testing.T, from, to applyState, b applyBlobs) {
		steps := stepsBetween(from, to)
		for n := 1; ; n++ {
			dir := applyDir(t)
			buildState(t, dir, from)
			s := &faultfs.Script{FailAt: n, Err: syscall.EIO, Reads: true}
			_, err := runApply(t, dir, steps, b, s)
			if !s.Fired() {
				break
			}
			if err == nil {
				t.Fatalf("call %d failed unnoticed in\n%s", n, s.Log())
			}
			mustReach(t, dir, steps, b, to)
			if t.Failed() {
				t.Fatalf("failed at call %d of\n%s", n, s.Log())
			}
			if n > 12 {
				n += 8
			}
		}
	})
}

// TestApplyUntouched: files that are what they should be keep inode and times; what is not in the steps too.
func TestApplyUntouched(t *testing.T) {
	from := applyState{"a": nf("one", 0o644), "b": nf("two", 0o644), "c": nf("three", 0o644)}
	to := applyState{"a": nf("uno", 0o644), "b": nf("two", 0o644), "c": nf("three", 0o600)}
	b := applyBlobs{}.add(from).add(to)
	dir := applyDir(t)
	buildState(t, dir, applyState{"a": to["a"], "b": from["b"], "c": from["c"]})
	stat := func(p string) string {
		fi, err := os.Stat(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(fi.ModTime().UnixNano(), fi.Sys().(*syscall.Stat_t).Ino)
	}
	before := []string{stat("a"), stat("b"), stat("c")}
	mustReach(t, dir, stepsBetween(from, to), b, to)
	if after := []string{stat("a"), stat("b"), stat("c")}; fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("rewritten: %v is now %v", before, after)
	}
}

func TestApplyKeepsDirs(t *testing.T) {
	from := applyState{"d": nd(0o555), "d/f": nf("f", 0o644), "e": nd(0o755), "e/f": nf("f", 0o644)}
	to := applyState{"e": nf("a file", 0o644)}
	b := applyBlobs{}.add(from).add(to)
	dir := applyDir(t)
	disk := applyState{
		"d": nd(0o555), "d/f": nf("f", 0o644), "d/ignored": nf("!", 0o644), "e": nd(0o755), "e/f": nf("f", 0o644),
		"e/ignored": nf("?", 0o644),
	}
	buildState(t, dir, disk)
	r, err := runApply(t, dir, stepsBetween(from, to), b, &faultfs.Script{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.KeptDirs) != "[d e]" || len(r.Conflicts) != 1 || r.Conflicts[0].Path != "e" {
		t.Errorf("%+v", r)
	}
	delete(disk, "d/f")
	delete(disk, "e/f")
	if d := readState(t, dir).diff(disk); d != "" {
		t.Errorf("tree differs:\n%s", d)
	}
	if left := stageHolds(t, dir); len(left) > 0 {
		t.Errorf("stage holds %q", left)
	}
}
