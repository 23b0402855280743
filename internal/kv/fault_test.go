package kv_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
)

// life runs a store through what it can do, and returns the newest step that was acknowledged as Durable and the newest
// that was acknowledged at all. Errors end it; none is a failure.
func life(fs kv.FS, fatal func(error)) (durable, newest uint64, err error) {
	o := kv.Options{FS: fs, Fatal: fatal, GroupSync: time.Millisecond}
	for range 3 {
		d, err := kv.Open(bg, "/store", o)
		if err != nil {
			return durable, newest, err
		}
		n := d.LastSeq()
		for i := range 12 {
			du := kv.Durability(i % 2)
			if err = step(d, n+1, 3000, du); err != nil {
				break
			}
			n++
			newest = n
			if du == kv.Durable {
				durable = n
			}
			if i%4 == 3 {
				if _, err = checkSteps(d, 3000); err != nil {
					break
				}
			}
			if i == 6 {
				if err = d.Compact(bg); err != nil {
					break
				}
			}
		}
		if cerr := d.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return durable, newest, err
		}
		durable = newest
	}
	return durable, newest, nil
}

// faultsEnv is set in the process that inFaultsProcess makes.
const faultsEnv = "KV_TEST_FAULTS"

// inFaultsProcess runs a test that leaves pebble behind in a process of its own; there it is false.
func inFaultsProcess(t *testing.T) bool {
	t.Helper()
	if os.Getenv(faultsEnv) != "" {
		return false
	}
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), faultsEnv+"=1")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if err != nil || strings.Contains(line, "fatal") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Error(err)
	}
	return true
}

// TestT5Faults makes the Nth read, write or fsync fail with EIO. After that, on a disk that works again and has lost
// all that was not synced, everything acknowledged as Durable is there and whole.
func TestT5Faults(t *testing.T) {
	if inFaultsProcess(t) {
		return
	}
	m := torture.Begin(t)
	kinds := []kvtest.Kind{kvtest.Read, kvtest.Write, kvtest.Sync}
	for _, kind := range kinds {
		probe := kvtest.NewFaultFS(kvtest.NewCrashFS())
		if _, _, err := life(probe, nil); err != nil {
			t.Fatal(err)
		}
		total := probe.Calls(kind)
		fatals, errs := 0, 0
		// The number of calls differs a little from run to run (compactions): stay in the first nine tenths.
		for _, n := range torture.Spread((m.Points+len(kinds)-1)/len(kinds), total*9/10, m.Seed) {
			t.Run(fmt.Sprintf("%v %d of %d", kind, n, total), func(t *testing.T) {
				disk := kvtest.NewCrashFS()
				ffs := kvtest.NewFaultFS(disk, &kvtest.Fault{Kind: kind, N: n, Err: syscall.EIO})
				var fatal atomic.Int32
				var killed, cut kv.FS
				snap := func() { killed, cut = disk.Clone(100, 1), disk.Clone(0, 1) }
				durable, newest, err := life(ffs, func(error) { // here the process would end
					fatal.Add(1)
					snap()
				})
				ffs.AssertFired(t)
				m.Fired(1)
				if fatal.Load() > 1 {
					t.Errorf("Fatal was called %d times", fatal.Load())
				}
				if fatal.Load() == 0 && kind == kvtest.Sync && strings.HasSuffix(ffs.Hit(), ".log") {
					// what it did not write may be gone
					t.Errorf("the fsync of %s failed, and the store went on", ffs.Hit())
				}
				if fatal.Load() == 1 {
					fatals++
					if !errors.Is(err, kv.ErrPoisoned) {
						t.Errorf("after Fatal: %v", err)
					}
				}
				if err != nil {
					errs++
				}
				if fatal.Load() == 0 {
					snap()
				}
				gone := map[string]kv.FS{"kill": killed, "power cut": cut}
				if fatal.Load() == 1 { // here it went on, as pebble does for a moment in other goroutines
					gone["late kill"], gone["late power cut"] = disk.Clone(100, 1), disk.Clone(0, 1)
				}
				for name, after := range gone {
					d, err := kv.Open(bg, "/store", kv.Options{FS: after})
					if err != nil {
						t.Fatalf("open after %s: %v", name, err)
					}
					got, err := checkSteps(d, 3000)
					must(t, err)
					must(t, d.Close())
					want := durable
					if strings.HasSuffix(name, "kill") {
						want = newest
					}
					m.Acked(int(want))
					if got < want {
						m.Lost(int(want - got))
						t.Errorf("after %s: %d steps, %d were acknowledged", name, got, want)
					}
				}
				m.Point()
			})
		}
		t.Logf("%v: %d errors, %d of them fatal", kind, errs, fatals)
		if errs == 0 {
			t.Errorf("%v: no fault was ever seen", kind)
		}
	}
}

// TestPromise07FailedFsyncIsNotRetried: an fsync of a log that fails poisons the store: no later answer is good, no
// second fsync is made, the reason is left behind.
func TestPromise07FailedFsyncIsNotRetried(t *testing.T) {
	disk := kvtest.NewCrashFS()
	ffs := kvtest.NewFaultFS(disk)
	var fatal atomic.Int32
	d := open(t, "/store", kv.Options{FS: ffs, GroupSync: time.Hour, Fatal: func(error) { fatal.Add(1) }})
	must(t, step(d, 1, 100, kv.Durable))
	fault := &kvtest.Fault{Kind: kvtest.Sync, N: 1, Path: ".log", Err: syscall.EIO}
	ffs.Set(fault)
	if err := step(d, 2, 100, kv.Durable); !errors.Is(err, kv.ErrPoisoned) || !errors.Is(err, syscall.EIO) {
		t.Errorf("commit: %v", err)
	}
	ffs.AssertFired(t)
	ffs.Set(&kvtest.Fault{Kind: kvtest.Sync, N: 1, Path: ".log", Err: syscall.EIO})
	if err := step(d, 3, 100, kv.Durable); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("second commit: %v", err)
	}
	if _, err := get(d, kv.OperationKey(1)); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("read: %v", err)
	}
	if err := d.Scan(kv.Range{}, func(_, _ []byte) error { return nil }); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("scan: %v", err)
	}
	if err := d.Close(); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("close: %v", err)
	}
	if ffs.Fired() {
		t.Error("the log was fsynced again")
	}
	if fatal.Load() != 1 {
		t.Errorf("Fatal was called %d times", fatal.Load())
	}
	h, err := disk.Open("/store/last-fatal")
	must(t, err)
	b := make([]byte, 500)
	n, _ := h.Read(b)
	must(t, h.Close())
	if text := string(b[:n]); !strings.Contains(text, "fsync") || !strings.Contains(text, ".log") {
		t.Errorf("last-fatal: %q", text)
	}
	if d, err = kv.Open(bg, "/store", kv.Options{FS: disk.Clone(0, 1)}); err != nil || d.LastSeq() != 1 {
		t.Fatalf("after the power cut: %v", err)
	}
	must(t, d.Close())
}

// TestPromise07GroupLoopPoisons: also when nobody waits for the fsync.
func TestPromise07GroupLoopPoisons(t *testing.T) {
	ffs := kvtest.NewFaultFS(kvtest.NewCrashFS())
	fatal := make(chan error, 1)
	d := open(t, "/store", kv.Options{FS: ffs, GroupSync: time.Millisecond, Fatal: func(err error) { fatal <- err }})
	ffs.Set(&kvtest.Fault{Kind: kvtest.Sync, N: 1, Path: ".log", Err: syscall.EIO})
	// The loop may be the faster one.
	if err := step(d, 1, 100, kv.Written); err != nil && !errors.Is(err, kv.ErrPoisoned) {
		t.Fatal(err)
	}
	select {
	case err := <-fatal:
		if !errors.Is(err, kv.ErrPoisoned) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Fatal was not called")
	}
	if err := step(d, 2, 100, kv.Written); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("commit: %v", err)
	}
}

// storeToCompact is a disk with a store of two steps that compacts as soon as it is opened: it has tables, and a log
// that makes one more.
func storeToCompact(t *testing.T) *kvtest.CrashFS {
	t.Helper()
	disk := kvtest.NewCrashFS()
	for n := uint64(1); n <= 2; n++ {
		d, err := kv.Open(bg, "/store", kv.Options{FS: disk})
		must(t, err)
		must(t, step(d, n, 100, kv.Durable))
		must(t, d.Close())
	}
	return disk
}

// opensAgain opens what a kill and what a power cut leave of a disk: both have all steps from 1 to want.
func opensAgain(t *testing.T, disk *kvtest.CrashFS, want uint64) {
	t.Helper()
	for _, percent := range []int{100, 0} {
		d, err := kv.Open(bg, "/store", kv.Options{FS: disk.Clone(percent, 1)})
		if err != nil {
			t.Errorf("%d %% of what was not synced: %v", percent, err)
			continue
		}
		if got, err := checkSteps(d, 100); err != nil || got < want {
			t.Errorf("%d %% of what was not synced: %d steps of %d, %v", percent, got, want, err)
		}
		must(t, d.Close())
	}
}

// TestPromise07ManifestAfterItsFailure: when the fsync of a MANIFEST fails, its last record is there or not. pebble
// takes it for not there, does the same compaction again, and would have the same tables go a second time: a MANIFEST
// with both records is one that no pebble opens.
func TestPromise07ManifestAfterItsFailure(t *testing.T) {
	disk := storeToCompact(t)
	// The first fsync is that of the MANIFEST with which the store opens, the second that of its record of the
	// compaction.
	ffs := kvtest.NewFaultFS(disk, &kvtest.Fault{Kind: kvtest.Sync, N: 2, Path: "MANIFEST-", Err: syscall.EIO})
	var failed atomic.Bool
	var again, written atomic.Int32
	ffs.Hook(func(c kvtest.Call) {
		switch {
		case !failed.Load():
		case c.Op == "create" && strings.HasSuffix(c.Path, ".sst"):
			again.Add(1)
		case c.Op == "write" && strings.Contains(c.Path, "MANIFEST-"):
			written.Add(1)
		}
	})
	d := open(t, "/store", kv.Options{FS: ffs, Fatal: func(error) { failed.Store(true) }})
	steps := uint64(2)
	if err := step(d, 3, 100, kv.Durable); err == nil {
		steps = 3
	} else if !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("commit: %v", err)
	}
	eventually(t, "a second and a third compaction", func() bool { return again.Load() >= 2 || written.Load() > 0 })
	if err := d.Close(); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("close: %v", err)
	}
	ffs.AssertFired(t)
	if n := written.Load(); n > 0 {
		t.Errorf("the MANIFEST was written %d times after its fsync failed", n)
	}
	opensAgain(t, disk, steps)
}

// TestPromise07ManifestAfterAFailure: in the moment between a failed fsync and the end of the process a compaction may
// end. The directory is not synced any more, so a MANIFEST must not name what the compaction made: after a power cut
// that may be missing.
func TestPromise07ManifestAfterAFailure(t *testing.T) {
	disk := storeToCompact(t)
	ffs := kvtest.NewFaultFS(disk, &kvtest.Fault{Kind: kvtest.Sync, N: 1, Path: ".log", Err: syscall.EIO})
	compacts, failed := make(chan struct{}), make(chan struct{})
	var tables, written atomic.Int32
	ffs.Hook(func(c kvtest.Call) {
		switch {
		case c.Kind == kvtest.Sync && strings.HasSuffix(c.Path, ".sst") && tables.Add(1) == 2:
			// the first is made of the log
			close(compacts)
			<-failed
		case c.Op == "write" && strings.Contains(c.Path, "MANIFEST-"):
			select {
			case <-failed:
				written.Add(1)
			default:
			}
		}
	})
	d := open(t, "/store", kv.Options{FS: ffs, GroupSync: time.Hour, Fatal: func(error) { close(failed) }})
	<-compacts
	if err := step(d, 3, 100, kv.Durable); !errors.Is(err, kv.ErrPoisoned) {
		t.Errorf("commit: %v", err)
	}
	if err := d.Close(); !errors.Is(err, kv.ErrPoisoned) { // it waits for the compaction
		t.Errorf("close: %v", err)
	}
	ffs.AssertFired(t)
	if n := written.Load(); n > 0 {
		t.Errorf("the MANIFEST was written %d times after the store had failed", n)
	}
	opensAgain(t, disk, 2)
}

// failingLogs is the disk, on which no log of the store in dir can be fsynced.
func failingLogs(_ string) kv.FS {
	return kvtest.NewFaultFS(vfs.Default, &kvtest.Fault{Kind: kvtest.Sync, N: 1, Path: ".log", Err: syscall.EIO, Sticky: true})
}
