package kv_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// smallDisk mounts a tmpfs of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("missing tool: mount as root")
	}
	if _, err := exec.LookPath("mount"); err != nil {
		t.Skip("missing tool: mount")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "kvtest", dir).CombinedOutput(); err != nil {
		t.Skipf("missing tool: mount (%s)", out)
	}
	t.Cleanup(func() {
		time.Sleep(50 * time.Millisecond)
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", out)
		}
	})
	return dir
}

func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fillDisk leaves about left bytes free.
func fillDisk(t *testing.T, path string, left uint64) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	buf := make([]byte, 64<<10)
	for {
		var st syscall.Statfs_t
		must(t, syscall.Statfs(filepath.Dir(path), &st))
		if st.Bavail*uint64(st.Bsize) < left+uint64(len(buf)) {
			break
		}
		if _, err := f.Write(buf); err != nil {
			break
		}
	}
	must(t, f.Close())
}

// TestPromise07DiskFull fills a small disk, by the store itself and by others: refusals are clean, reading goes on,
// nothing spins or hangs, and when there is room again it is used.
func TestPromise07DiskFull(t *testing.T) {
	for name, left := range map[string]uint64{"by the store": 0, "to 6 MiB": 6 << 20, "to 1 MiB": 1 << 20, "to nothing": 1} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t, "24m")
			dir, filler := filepath.Join(disk, "store"), filepath.Join(disk, "filler")
			o := kv.Options{Fatal: func(err error) { t.Errorf("fatal: %v", err) }}
			d := open(t, dir, o)
			if _, err := os.Stat(filepath.Join(dir, "ballast")); err != nil {
				t.Error("no ballast")
			}
			n := uint64(0)
			var err error
			for range 100 {
				if err = step(d, n+1, 5000, kv.Durable); err != nil {
					break
				}
				n++
			}
			if left != 0 {
				fillDisk(t, filler, left)
			}
			for range 20_000 {
				if err = step(d, n+1, 5000, kv.Written); err != nil {
					break
				}
				n++
			}
			if !errors.Is(err, kv.ErrNoSpace) {
				t.Fatalf("after %d steps: %v", n, err)
			}
			refused := func() (used time.Duration) {
				before := cpu(t)
				for range 5 {
					start := time.Now()
					switch err := step(d, n+1, 5000, kv.Durable); {
					case err == nil && left == 0:
						n++ // a compaction has given some back
					case !errors.Is(err, kv.ErrNoSpace):
						t.Errorf("commit: %v", err)
					}
					if took := time.Since(start); took > time.Second {
						t.Errorf("a refusal took %v", took)
					}
					time.Sleep(100 * time.Millisecond)
				}
				return cpu(t) - before
			}
			// A compaction of what was written before may still be under way: it comes to an end, and what spins does
			// not.
			used := refused()
			for range 9 {
				if used > 250*time.Millisecond {
					used = refused()
				}
			}
			if used > 250*time.Millisecond {
				t.Errorf("%v of CPU in 0.5 s of waiting, 5 s long", used)
			}
			if got, err := checkSteps(d, 5000); got != n || err != nil {
				t.Errorf("%d steps of %d, %v", got, n, err)
			}
			start := time.Now()
			must(t, d.Close())
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("close took %v", took)
			}
			d, err = kv.Open(bg, dir, o)
			if err != nil {
				t.Fatalf("open on the full disk: %v", err)
			}
			if got, err := checkSteps(d, 5000); got != n || err != nil {
				t.Errorf("opened on the full disk: %d steps of %d, %v", got, n, err)
			}
			if left != 0 {
				must(t, os.Remove(filler))
			} else {
				must(t, exec.Command("mount", "-o", "remount,size=64m", disk).Run())
			}
			if err := step(d, n+1, 5000, kv.Durable); err != nil {
				t.Errorf("there is room again: %v", err)
			}
			if info, err := os.Stat(filepath.Join(dir, "ballast")); err != nil || info.Size() < kv.BallastBytes {
				t.Error("the ballast was not made again")
			}
			must(t, d.Close())
		})
	}
}

// TestPromise07NoSpaceOnce: a write that meets a full disk is tried again with the ballast's room, and later writes are
// refused before they begin.
func TestPromise07NoSpaceOnce(t *testing.T) {
	for _, path := range []string{".log", ".sst", "MANIFEST", "load-"} {
		t.Run(path, func(t *testing.T) {
			disk := kvtest.NewCrashFS()
			ffs := kvtest.NewFaultFS(disk)
			d := open(t, "/store", kv.Options{FS: ffs, Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
			must(t, step(d, 1, 100, kv.Durable))
			ffs.Set(&kvtest.Fault{Kind: kvtest.Write, Path: path, N: 1, Err: syscall.ENOSPC})
			must(t, step(d, 2, 100, kv.Durable))
			must(t, d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Oz"), []byte("v") }))
			must(t, d.Compact(bg))
			ffs.AssertFired(t)
			if n, err := checkSteps(d, 100); n != 2 || err != nil {
				t.Error(fmt.Errorf("%d steps, %w", n, err))
			}
			must(t, d.Close())
		})
	}
}
