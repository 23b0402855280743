package kv_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// TestDamagedTableStall: a damaged table that no compaction gets past keeps no processor busy, and when commits have to
// wait for it in the end, the store fails with the table's name instead of waiting for ever. pebble is left behind
// there, so it is a process of its own.
func TestDamagedTableStall(t *testing.T) {
	if os.Getenv(faultsEnv) == "" {
		t.Parallel()
		exe, err := os.Executable()
		must(t, err)
		cmd := exec.Command(exe, "-test.run=^TestDamagedTableStall$", "-test.timeout=60s")
		cmd.Env = append(os.Environ(), faultsEnv+"=1")
		out, err := cmd.CombinedOutput()
		text := string(out)
		if cmd.ProcessState.ExitCode() != kv.DefaultFatalExit || !strings.Contains(text, ".sst: corrupt: ") ||
			!strings.Contains(text, "compactions keep failing") {
			t.Errorf("%v\n%s", err, text)
		}
		t.Log(text)
		return
	}
	dir := filepath.Join(t.TempDir(), "store")
	val := string(noise(100 << 10))
	damaged := ""
	d := open(t, dir, kv.Options{})
	for i := range 30 {
		must(t, put(d, kv.Written, fmt.Sprintf("Ob%d", i%7), val))
	}
	eventually(t, "a memtable is flushed", func() bool {
		u, err := d.Usage()
		return err == nil && u.Keys > 5
	})
	live := dir
	dir = filepath.Join(t.TempDir(), "store")
	must(t, os.CopyFS(dir, os.DirFS(live))) // as after a kill: what is in the log is in no table
	must(t, d.Close())
	for _, name := range filesOf(t, dir, "table") {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		must(t, err)
		if i := bytes.Index(b, []byte(val)); i >= 0 {
			damaged = path
			b[i+len(val)/2] ^= 1
			must(t, os.WriteFile(path, b, 0o600))
		}
	}
	ffs := kvtest.NewFaultFS(vfs.Default)
	var reads atomic.Int32
	ffs.Hook(func(c kvtest.Call) {
		if c.Op == "read" && c.Path == damaged {
			reads.Add(1)
		}
	})
	d = open(t, dir, kv.Options{FS: ffs, Fatal: func(err error) {
		fmt.Println(err)
		os.Exit(kv.DefaultFatalExit)
	}})
	for i := range 200 { // 20 MiB: ten flushes
		must(t, put(d, kv.Written, fmt.Sprintf("Ob%d", i%7), val))
	}
	time.Sleep(time.Second)
	if n := reads.Load(); n == 0 || n > 200 {
		t.Fatalf("the damaged table was read %d times", n)
	}
	fmt.Println("reads:", reads.Load())
	for i := 0; ; i++ {
		must(t, put(d, kv.Written, fmt.Sprintf("Ob%d", i%7), val))
	}
}
