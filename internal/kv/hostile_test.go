package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rewind/internal/kv"
	"rewind/internal/torture"
)

// hostileNames are the files and directories of a store; a name that ends in * is each file that begins so, *. that
// ends so.
var hostileNames = []string{
	"lock", "format", "tide", "checked", "ballast", "last-fatal", "making", "swap", "gc-ran", "project.json", "repair",
	"quarantine",
	"db", "db/LOCK", "db/extent", "db/MANIFEST-*", "db/marker.format-version.*", "db/marker.manifest.*", "db/*.log",
	"db/*.sst",
	"db/OPTIONS-*", "db/archive",
}

// hostileKinds put something else in the place of a name. outside is a directory with a file `victim` and a directory
// `victims`.
var hostileKinds = map[string]func(path, outside string) error{
	"link to a file":      func(path, outside string) error { return os.Symlink(filepath.Join(outside, "victim"), path) },
	"link to a directory": func(path, outside string) error { return os.Symlink(filepath.Join(outside, "victims"), path) },
	"link to nothing":     func(path, outside string) error { return os.Symlink(filepath.Join(outside, "none"), path) },
	"pipe":                func(path, _ string) error { return unix.Mkfifo(path, 0o600) },
	"device":              func(path, _ string) error { return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))) },
	"file or directory": func(path, _ string) error {
		if !isDirName(path) {
			return os.Mkdir(path, 0o700)
		}
		return os.WriteFile(path, []byte("x"), 0o600)
	},
	"second name":  func(path, outside string) error { return os.Link(filepath.Join(outside, "victim"), path) },
	"huge":         nil, // made larger
	"somebody's":   nil, // given to another user
	"open to all":  nil, // a directory that others can write
	"whole in one": nil, // a link to itself elsewhere: right bytes, wrong place
}

func isDirName(path string) bool {
	switch filepath.Base(path) {
	case "repair", "quarantine", "db", "archive":
		return true
	}
	return false
}

// hostileStore makes a store that has all kinds of files, and what hostileNames names in it.
func hostileStore(t *testing.T, dir string) {
	t.Helper()
	d := open(t, dir, kv.Options{})
	for n := uint64(1); n <= 20; n++ {
		must(t, step(d, n, 4<<10, kv.Durable))
	}
	must(t, d.Compact(bg))
	must(t, step(d, 21, 4<<10, kv.Durable))
	must(t, d.Close())
	for _, name := range []string{"checked", "last-fatal", "gc-ran", "project.json"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600))
	for _, name := range []string{"quarantine/old/db", "db/archive"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, "db/archive/000001.sst"), []byte("old"), 0o600))
}

// outsideWorld is what must not change, as text.
func outsideWorld(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s mode %o links %d owner %d mtime %v %q\n", path, st.Mode, st.Nlink, st.Uid, st.Mtim, data)
		return nil
	}))
	return b.String()
}

// inTime runs what must not wait for anybody.
func inTime(t *testing.T, what string, fn func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s: hangs", what)
		return nil
	}
}

// use does all that can be done with a store; the first error counts.
func use(dir string, o kv.Options) error {
	d, err := kv.Open(bg, dir, o)
	if err != nil {
		return err
	}
	if !o.ReadOnly && !o.Salvage {
		err = errors.Join(put(d, kv.Durable, "o\x01key", "value"), d.Compact(bg), d.Scrub(bg))
	}
	_, uerr := d.Usage()
	return errors.Join(err, uerr, d.CheckTables(bg), d.Close())
}

// TestPromise17HostileStore: whatever stands in the place of a file or directory of a store, nothing outside of the
// store is opened for writing, emptied, given another mode or another name; nothing hangs, memory stays bounded, and
// the error says which file it is.
func TestPromise17HostileStore(t *testing.T) {
	top := t.TempDir()
	template := filepath.Join(top, "template")
	hostileStore(t, template)
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as what users run: make test collects half as often
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for _, name := range hostileNames {
		for _, kind := range slices.Sorted(maps.Keys(hostileKinds)) {
			if kind == "huge" && isDirName(name) || kind == "open to all" && !isDirName(name) {
				continue // there is no such thing
			}
			if n++; torture.Today(n) {
				t.Run(name+"/"+kind, func(t *testing.T) { hostileCase(t, top, template, name, kind) })
			}
		}
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 200<<20 {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	}
	if n < 150 {
		t.Errorf("only %d cases", n)
	}
}

func hostileCase(t *testing.T, top, template, name, kind string) {
	dir, outside := filepath.Join(t.TempDir(), "store"), filepath.Join(top, "outside")
	must(t, os.RemoveAll(outside))
	must(t, os.MkdirAll(filepath.Join(outside, "victims"), 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "victim"), []byte("the user's own\n"), 0o640))
	must(t, os.WriteFile(filepath.Join(outside, "victims", "key"), []byte("the user's key\n"), 0o600))
	must(t, os.CopyFS(dir, os.DirFS(template)))
	must(t, filepath.WalkDir(dir, func(path string, ent fs.DirEntry, err error) error {
		if err == nil {
			err = os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[ent.IsDir()])
		}
		return err
	}))
	path := filepath.Join(dir, name)
	if strings.Contains(name, "*") {
		found, err := filepath.Glob(path)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", name, found, err)
		}
		path = found[len(found)-1]
	}
	if _, err := os.Lstat(path); err != nil {
		if isDirName(path) {
			must(t, os.Mkdir(path, 0o700))
		} else {
			must(t, os.WriteFile(path, nil, 0o600))
		}
	}
	refused := true // by an error that names it
	switch kind {
	case "huge":
		must(t, os.Truncate(path, 3<<30))
		refused = false
	case "somebody's":
		if os.Geteuid() != 0 {
			t.Skip("for root")
		}
		must(t, os.Lchown(path, 1234, 1234))
	case "open to all":
		must(t, os.Chmod(path, 0o777))
	case "whole in one":
		to := filepath.Join(outside, "moved")
		must(t, os.Rename(path, to))
		must(t, os.Symlink(to, path))
	default:
		if kind == "device" && os.Geteuid() != 0 {
			t.Skip("for root")
		}
		must(t, os.RemoveAll(path))
		must(t, hostileKinds[kind](path, outside))
		if kind == "second name" && (strings.HasSuffix(path, ".sst") || strings.Contains(path, "OPTIONS")) {
			refused = false // as in a copy of the store; these are never written again
			outside = ""    // a name less, should it be removed
		}
	}
	was := ""
	if outside != "" {
		was = outsideWorld(t, outside)
	}
	checked := func(what string, err error) {
		t.Helper()
		if outside != "" {
			if is := outsideWorld(t, outside); is != was {
				t.Fatalf("%s: outside was\n%s is\n%s", what, was, is)
			}
		}
		if refused && what == "use" {
			if !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrPermission) &&
				(name != "format" || !errors.Is(err, kv.ErrForeign)) {
				t.Errorf("%s: %v", what, err)
			} else if !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("%s: %v does not name %s", what, err, filepath.Base(path))
			}
		}
	}
	o := kv.Options{Fatal: func(error) {}}
	checked("use", inTime(t, "use", func() error { return use(dir, o) }))
	read := o
	read.ReadOnly = true
	checked("read", inTime(t, "read", func() error { return use(dir, read) }))
	salvage := o
	salvage.Salvage = true
	checked("salvage", inTime(t, "salvage", func() error { return use(dir, salvage) }))
	checked("repair", inTime(t, "repair", func() error {
		_, err := kv.Repair(bg, dir, o, kv.RepairOptions{
			Ours: true, Now: time.Unix(0, 0), Operation: func(seq uint64, val []byte) []byte { return []byte("lost") },
		})
		return err
	}))
	err := inTime(t, "use", func() error { return use(dir, o) })
	checked("use, then", err)
	// What stood in the place of a small file is in the quarantine now.
	small := !strings.HasPrefix(name, "db") && name != "lock" && name != "quarantine"
	if small && refused && kind != "somebody's" && kind != "open to all" && err != nil {
		t.Errorf("repaired: %v", err)
	}
}

// TestPromise17StoreExchanged: once a store is open, what its name leads to does not matter.
func TestPromise17StoreExchanged(t *testing.T) {
	top := t.TempDir()
	dir, moved, outside := filepath.Join(top, "store"), filepath.Join(top, "moved"), filepath.Join(top, "outside")
	d := open(t, dir, kv.Options{})
	must(t, os.MkdirAll(filepath.Join(outside, "db"), 0o700))
	must(t, os.Rename(dir, moved))
	must(t, os.Symlink(outside, dir))
	was := outsideWorld(t, outside)
	for n := uint64(1); n <= 20; n++ {
		must(t, step(d, n, 4<<10, kv.Durable))
	}
	must(t, errors.Join(d.Compact(bg), d.Scrub(bg), d.Close()))
	if is := outsideWorld(t, outside); is != was {
		t.Errorf("outside was\n%s is\n%s", was, is)
	}
	if _, err := kv.Open(bg, dir, kv.Options{}); !errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("through the link: %v", err)
	}
	n, err := checkSteps(open(t, moved, kv.Options{}), 4<<10)
	if n != 20 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
}

// TestPromise17StoreOfOthers: a store of another user's, or one that others can write, is refused before anything is
// opened or made.
func TestPromise17StoreOfOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
	}{
		{"somebody's", func(dir string) error { return os.Chown(dir, 1234, 1234) }},
		{"open to all", func(dir string) error { return os.Chmod(dir, 0o777) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "somebody's" && os.Geteuid() != 0 {
				t.Skip("for root")
			}
			dir := filepath.Join(t.TempDir(), "store")
			hostileStore(t, dir)
			must(t, c.make(dir))
			was := outsideWorld(t, filepath.Join(dir, "db"))
			for _, o := range []kv.Options{{}, {ReadOnly: true}, {Salvage: true}} {
				if err := use(dir, o); !errors.Is(err, kv.ErrPermission) || !strings.Contains(err.Error(), dir) {
					t.Errorf("%+v: %v", o, err)
				}
			}
			if is := outsideWorld(t, filepath.Join(dir, "db")); is != was {
				t.Errorf("was\n%s is\n%s", was, is)
			}
		})
	}
}
