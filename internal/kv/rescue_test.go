package kv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// killedCopy is a store as its owner leaves it that is killed now.
func killedCopy(t *testing.T, dir string) string {
	t.Helper()
	to := ""
	eventually(t, "nothing changes during the copy", func() bool {
		before := live(dir)
		to = filepath.Join(t.TempDir(), "store")
		return os.CopyFS(to, os.DirFS(dir)) == nil && maps.Equal(before, live(dir))
	})
	return to
}

// live are the files of a store that is at work, with size and time.
func live(dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone
		}
		if info, err := e.Info(); err == nil {
			all[path] = fmt.Sprint(info.Size(), info.ModTime())
		}
		return nil
	})
	return all
}

// logs are those of a store that is at work, relative.
func logs(dir string) (names []string) {
	list, _ := filepath.Glob(filepath.Join(dir, "db", "*.log"))
	for _, path := range list {
		names = append(names, filepath.Join("db", filepath.Base(path)))
	}
	return names
}

// holds opens a store and expects steps 1 to n.
func holds(t *testing.T, what, dir string, n uint64) {
	t.Helper()
	d, err := kv.Open(bg, dir, kv.Options{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer func() { must(t, d.Close()) }()
	if got, err := checkSteps(d, 3000); got != n || err != nil {
		t.Errorf("%s: %d steps of %d, %v", what, got, n, err)
	}
}

// TestT22Promise01LogGoesWhileOpen: something removes the log, or puts an older copy in its place, while the store is
// open. Nothing is lost: not by a kill after the next commit that was acknowledged as durable, nor by one after the
// group's fsync, nor by a close.
func TestT22Promise01LogGoesWhileOpen(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(t *testing.T, dir, log string){
		"removed": func(t *testing.T, dir, log string) { must(t, os.Remove(filepath.Join(dir, log))) },
		"moved": func(t *testing.T, dir, log string) {
			must(t, os.Rename(filepath.Join(dir, log), filepath.Join(dir, log+".bak")))
		},
		"older copy in its place": func(t *testing.T, dir, log string) {
			b, err := os.ReadFile(filepath.Join(dir, log))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, "copy"), b[:len(b)/2], 0o600))
			must(t, os.Rename(filepath.Join(dir, "copy"), filepath.Join(dir, log)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			d := open(t, dir, kv.Options{GroupSync: 20 * time.Millisecond})
			n := uint64(0)
			grow := func(du kv.Durability, steps int) {
				for range steps {
					n++
					must(t, step(d, n, 3000, du))
				}
			}
			gone := func() {
				for _, log := range logs(dir) {
					hurt(t, dir, log)
				}
			}
			grow(kv.Durable, 9)
			gone()
			grow(kv.Durable, 1)
			if w := d.Warning(); !strings.Contains(w, ".log was removed") {
				t.Errorf("warning: %q", w)
			}
			holds(t, "killed after a durable commit", killedCopy(t, dir), n)

			gone()
			was := logs(dir)
			grow(kv.Written, 3)
			eventually(t, "the group's fsync sees it", func() bool {
				return len(logs(dir)) > 0 && fmt.Sprint(logs(dir)) != fmt.Sprint(was)
			})
			grow(kv.Durable, 1) // and waits until it is done
			holds(t, "killed after the group's fsync", killedCopy(t, dir), n)

			gone()
			must(t, d.Close())
			holds(t, "closed", dir, n)

			d = open(t, dir, kv.Options{GroupSync: time.Hour})
			grow(kv.Durable, 9)
			must(t, os.Truncate(filepath.Join(dir, logs(dir)[0]), 100))
			must(t, d.Close())
			holds(t, "closed after a cut", dir, n)
		})
	}
}

// TestT22Promise07LogGoesAndNothingCanBeWritten: when what the log held cannot be written anew, nothing is acknowledged
// any more.
func TestT22Promise07LogGoesAndNothingCanBeWritten(t *testing.T) {
	if inFaultsProcess(t) {
		return
	}
	for n := 1; n <= 3; n++ { // the commit's own write, the mark of the old log's end, the new log
		dir := filepath.Join(t.TempDir(), "store")
		var fatal atomic.Bool
		ffs := kvtest.NewFaultFS(vfs.Default)
		d := open(t, dir, kv.Options{FS: ffs, GroupSync: time.Hour, Fatal: func(error) { fatal.Store(true) }})
		for i := range uint64(9) {
			must(t, step(d, i+1, 3000, kv.Durable))
		}
		for _, log := range logs(dir) {
			must(t, os.Remove(filepath.Join(dir, log)))
		}
		ffs.Set(&kvtest.Fault{Kind: kvtest.Write, N: n, Path: ".log", Err: syscall.EIO, Sticky: true})
		if err := step(d, 10, 3000, kv.Durable); !errors.Is(err, kv.ErrPoisoned) || !fatal.Load() {
			t.Errorf("%d: acknowledged: %v, fatal %v", n, err, fatal.Load())
		}
		ffs.AssertFired(t)
	}
}

// TestT22DurableCommitCost: what a durable commit does: one write and one fsync of the log, one write of how far it is
// on disk, one look whether it is still there.
func TestT22DurableCommitCost(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	ffs := kvtest.NewFaultFS(vfs.Default)
	counting := atomic.Bool{}
	calls := make(chan string, 1000)
	ffs.Hook(func(c kvtest.Call) {
		// pebble's, some time after it has opened
		old := c.Op == "remove" && strings.HasPrefix(filepath.Base(c.Path), "OPTIONS-")
		if counting.Load() && strings.Contains(c.Path, "db/") && !old {
			calls <- c.Op + " " + filepath.Ext(c.Path) + strings.Trim(filepath.Base(c.Path), ".log0123456789")
		}
	})
	d := open(t, dir, kv.Options{FS: ffs, GroupSync: time.Hour})
	must(t, step(d, 1, 100, kv.Durable))
	counting.Store(true)
	for n := range uint64(10) {
		must(t, step(d, n+2, 100, kv.Durable))
	}
	counting.Store(false)
	count := map[string]int{}
	for len(calls) > 0 {
		count[<-calls]++
	}
	if fmt.Sprint(count) != fmt.Sprint(map[string]int{"write .log": 10, "sync .log": 10, "write synced": 10, "stat .log": 10}) {
		t.Errorf("ten durable commits: %v", count)
	}
}

// TestT22MovedWhileOpen: a store that is moved while it is open has its log with it: what is acknowledged goes there,
// nothing is written to what comes into its place, and who has it open does not fail.
func TestT22MovedWhileOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d := open(t, dir, kv.Options{GroupSync: 20 * time.Millisecond, Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
	for n := range uint64(9) {
		must(t, step(d, n+1, 3000, kv.Durable))
	}
	must(t, os.Rename(dir, dir+"-moved"))
	must(t, os.CopyFS(dir, os.DirFS(dir+"-moved"))) // of another owner
	before := tree(t, filepath.Join(dir, "db"))
	must(t, step(d, 10, 3000, kv.Durable)) // into the directory that is held, wherever it is
	must(t, d.FlushLog())
	_ = d.Close()
	sameTree(t, "another store in its place", before, tree(t, filepath.Join(dir, "db")))
	must(t, os.RemoveAll(dir))
	must(t, os.Rename(dir+"-moved", dir))
	holds(t, "moved back", dir, 10)
}
