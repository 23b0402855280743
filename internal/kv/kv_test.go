package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// TestKeyspaceIsDocumented holds docs/format.md#key-space against the table in the code.
func TestKeyspaceIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/format.md")
	must(t, err)
	_, text, ok := strings.Cut(string(b), "\n### Key space\n")
	if !ok {
		t.Fatal("docs/format.md has no section of that name")
	}
	text, _, _ = strings.Cut(text, "\n##")
	var want, got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(.)` \\| (.*) \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(text, -1) {
		want = append(want, strings.Join(m[1:], " | "))
	}
	for _, r := range kv.Keyspace {
		got = append(got, strings.Join([]string{string(r.Prefix), r.Key, r.Value, r.Writer}, " | "))
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("code:\n%s\ndocs/format.md:\n%s", a, b)
	}
}

// TestCreationOrder is the order in which a store comes to be: what must be on disk before what.
func TestCreationOrder(t *testing.T) {
	ffs := kvtest.NewFaultFS(kvtest.NewCrashFS())
	var mu sync.Mutex
	var log []string
	ffs.Hook(func(c kvtest.Call) {
		own := strings.TrimPrefix(c.Path, "/store/")
		if c.Kind == kvtest.Read || strings.HasPrefix(own, "db/") && !strings.HasPrefix(own, "db/marker.") {
			return // pebble's own
		}
		mu.Lock()
		defer mu.Unlock()
		if line := c.Op + " " + c.Path; len(log) == 0 || log[len(log)-1] != line {
			log = append(log, line)
		}
	})
	d := open(t, "/store", kv.Options{FS: ffs})
	must(t, step(d, 1, 10, kv.Durable))
	must(t, d.Close())
	golden := filepath.Join("testdata", "creation.txt")
	got := strings.Join(log, "\n") + "\n"
	if os.Getenv("KV_MAKE_TESTDATA") != "" {
		must(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestUseAfterClose(t *testing.T) {
	d := open(t, "/store", kv.Options{FS: kvtest.NewCrashFS()})
	must(t, step(d, 1, 10, kv.Durable))
	b := d.NewBatch()
	must(t, b.Set([]byte("Oa"), nil))
	must(t, d.Close())
	for name, err := range map[string]error{
		"view":      d.View([]byte("f"), func([]byte) error { return nil }),
		"scan":      d.Scan(kv.Range{}, func(_, _ []byte) error { return nil }),
		"commit":    b.Commit(bg, kv.Durable),
		"new batch": d.NewBatch().Commit(bg, kv.Written),
		"ingest":    d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Oa"), nil }),
		"compact":   d.Compact(bg),
		"clone":     d.Clone("/other"),
		"verify":    d.CheckTables(bg),
		"close":     d.Close(),
	} {
		if !errors.Is(err, kv.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Usage(); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("usage: %v", err)
	}
}

// TestCloseWaits: Close waits for a read under way; a read nested in it is refused meanwhile, not blocked.
func TestCloseWaits(t *testing.T) {
	d := open(t, "/store", kv.Options{FS: kvtest.NewCrashFS()})
	closed := make(chan error)
	must(t, d.View([]byte("f"), func([]byte) error {
		must(t, d.View([]byte("f"), func([]byte) error { return nil }))
		go func() { closed <- d.Close() }()
		eventually(t, "nested reads are refused", func() bool {
			return errors.Is(d.View([]byte("f"), func([]byte) error { return nil }), kv.ErrClosed)
		})
		select {
		case err := <-closed:
			t.Errorf("closed under a read: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		return nil
	}))
	must(t, <-closed)
}

func TestConcurrent(t *testing.T) {
	d := open(t, "/store", kv.Options{FS: kvtest.NewCrashFS(), GroupSync: time.Millisecond})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				k := fmt.Sprintf("O%d-%d", g, i)
				if err := put(d, kv.Durability(i%2), k, k); err != nil {
					t.Errorf("commit: %v", err)
				}
				if v, err := get(d, []byte(k)); string(v) != k || err != nil {
					t.Errorf("read: %q, %v", v, err)
				}
			}
		}()
	}
	wg.Wait()
	n := 0
	must(t, d.Scan(kv.Range{Prefix: []byte("O")}, func(_, _ []byte) error { n++; return nil }))
	if n != 400 {
		t.Errorf("%d keys", n)
	}
}

func TestLimits(t *testing.T) {
	d := open(t, "/store", kv.Options{FS: kvtest.NewCrashFS()})
	b := d.NewBatch()
	if err := b.Set(make([]byte, kv.MaxKey+1), nil); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("key: %v", err)
	}
	if err := b.Set([]byte("O"), make([]byte, kv.MaxValue+1)); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("value: %v", err)
	}
	if b.Count() != 0 {
		t.Error("a refused change is in the batch")
	}
	must(t, b.Set(make([]byte, kv.MaxKey), make([]byte, 5<<20))) // more than a memtable
	must(t, b.Commit(bg, kv.Durable))
	if err := b.Commit(bg, kv.Durable); err == nil {
		t.Error("committed twice")
	}
	if v, err := get(d, make([]byte, kv.MaxKey)); len(v) != 5<<20 || err != nil {
		t.Error(len(v), err)
	}
}

func TestIngestRefusesDisorder(t *testing.T) {
	disk := kvtest.NewCrashFS()
	d := open(t, "/store", kv.Options{FS: disk})
	for _, keys := range [][]string{{"Ob", "Oa"}, {"Oa", "Oa"}} {
		if err := d.Ingest(bg, 2, func(i int) ([]byte, []byte) { return []byte(keys[i]), nil }); err == nil {
			t.Errorf("%q: no error", keys)
		}
	}
	if has, err := d.Has([]byte("Oa")); has || err != nil {
		t.Error(has, err)
	}
	names, err := disk.List("/store/db")
	must(t, err)
	for _, name := range names {
		if strings.HasPrefix(name, "load-") {
			t.Errorf("%s is left", name)
		}
	}
	must(t, d.Ingest(bg, 3, func(i int) ([]byte, []byte) { return kv.OperationKey(uint64(i + 1)), []byte("x") }))
	if d.LastSeq() != 3 {
		t.Errorf("newest operation %d", d.LastSeq())
	}
	c, err := kv.Open(bg, "/store", kv.Options{FS: disk.Clone(0, 1)})
	must(t, err)
	if c.LastSeq() != 3 {
		t.Error("a load was lost to a power cut")
	}
	must(t, c.Close())
}

func TestClone(t *testing.T) {
	base := t.TempDir()
	d := open(t, filepath.Join(base, "store"), kv.Options{})
	for n := uint64(1); n <= 30; n++ {
		must(t, step(d, n, 3000, kv.Written))
		if n == 20 {
			must(t, d.Compact(bg))
		}
	}
	dst := filepath.Join(base, "clone")
	must(t, d.Clone(dst))
	if err := d.Clone(dst); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second clone: %v", err)
	}
	must(t, step(d, 31, 3000, kv.Durable))
	c := open(t, dst, kv.Options{})
	if n, err := checkSteps(c, 3000); n != 30 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
	must(t, step(c, 31, 3000, kv.Durable))
	must(t, c.Close())
	if n, err := checkSteps(d, 3000); n != 31 || err != nil {
		t.Errorf("original: %d steps, %v", n, err)
	}
}

// TestSpace: what was replaced gives its space back, nothing piles up in the archive, and the ballast does not count.
func TestSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d := open(t, dir, kv.Options{})
	for range 3 {
		for range 100 {
			must(t, put(d, kv.Written, "Oa", string(stepValue(1, 1, 60000))))
		}
		must(t, d.Close())
		d = open(t, dir, kv.Options{})
	}
	must(t, d.Compact(bg))
	eventually(t, "replaced values give their space back", func() bool {
		size, err := d.DataBytes()
		must(t, err)
		return size < 200<<10
	})
	if files, err := os.ReadDir(filepath.Join(dir, "db", "archive")); err == nil && len(files) > 0 {
		t.Errorf("%d files in the archive", len(files))
	}
}

func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if _, err := kv.Open(bg, dir, kv.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	d := open(t, dir, kv.Options{})
	for n := uint64(1); n <= 5; n++ {
		must(t, step(d, n, 100, kv.Durable))
	}
	must(t, d.Close())
	before := tree(t, filepath.Join(dir, "db"))
	d = open(t, dir, kv.Options{ReadOnly: true})
	if n, err := checkSteps(d, 100); n != 5 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
	for name, err := range map[string]error{
		"commit":  step(d, 6, 100, kv.Durable),
		"compact": d.Compact(bg),
		"ingest":  d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("Oa"), nil }),
	} {
		if !errors.Is(err, kv.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, d.Close())
	delete(before, "")
	after := tree(t, filepath.Join(dir, "db"))
	delete(after, "")
	sameTree(t, "read-only", before, after)
}

// TestIdle: a store that nobody uses does not wake the processor.
func TestIdle(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "store"), kv.Options{GroupSync: 10 * time.Millisecond})
	must(t, step(d, 1, 100, kv.Written))
	time.Sleep(100 * time.Millisecond)
	for range 5 { // the runtime may still be clearing up after other tests
		var a, b syscall.Rusage
		must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &a))
		time.Sleep(time.Second)
		must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &b))
		n := b.Nvcsw - a.Nvcsw
		t.Logf("%d wake-ups in a second", n)
		if n <= 25 {
			return
		}
	}
	t.Error("it never idles")
}

// Loading 100,000 objects of 1 KiB under random keys, as a first checkpoint does: through batches and through tables.
func BenchmarkLoadMemtable(b *testing.B) { benchLoad(b, false) }
func BenchmarkLoadIngest(b *testing.B)   { benchLoad(b, true) }

func benchLoad(b *testing.B, ingest bool) {
	const n = 100_000
	r := rand.NewChaCha8([32]byte{1})
	keys, val := make([][]byte, n), make([]byte, 1024)
	_, _ = r.Read(val)
	for i := range keys {
		keys[i] = make([]byte, 22)
		_, _ = r.Read(keys[i])
		keys[i][0], keys[i][1] = kv.PrefixObject, 'b'
	}
	for b.Loop() {
		dir := filepath.Join(b.TempDir(), "store")
		d := open(b, dir, kv.Options{})
		if ingest {
			sorted := slices.SortedFunc(slices.Values(keys), bytes.Compare)
			must(b, d.Ingest(bg, n, func(i int) ([]byte, []byte) { return sorted[i], val }))
		} else {
			for i := 0; i < n; {
				batch := d.NewBatch()
				for end := i + 1000; i < end; i++ {
					must(b, batch.Set(keys[i], val))
				}
				must(b, batch.Commit(bg, kv.Durable))
			}
		}
		must(b, d.Close())
	}
}

func BenchmarkCommitWritten(b *testing.B) { benchCommit(b, kv.Written) }
func BenchmarkCommitDurable(b *testing.B) { benchCommit(b, kv.Durable) }

func benchCommit(b *testing.B, du kv.Durability) {
	d := open(b, filepath.Join(b.TempDir(), "store"), kv.Options{})
	n := uint64(0)
	for b.Loop() {
		n++
		must(b, step(d, n, 300, du))
	}
}

// TestWrites: what was read stays as it was while the number does.
func TestWrites(t *testing.T) {
	d := open(t, t.TempDir(), kv.Options{})
	defer func() { must(t, d.Close()) }()
	was := d.Writes()
	grown := func(what string, by bool) {
		t.Helper()
		now := d.Writes()
		if (now > was) != by {
			t.Errorf("%s: %d, then %d", what, was, now)
		}
		was = now
	}
	must(t, step(d, 1, 10, kv.Written))
	grown("written", true)
	must(t, step(d, 2, 10, kv.Durable))
	grown("durable", true)
	must(t, d.View(stepKeys(1)[0], func([]byte) error { return nil }))
	must(t, d.Scan(kv.Range{}, func(_, _ []byte) error { return nil }))
	must(t, d.NewBatch().Commit(bg, kv.Durable))
	grown("read, and a commit of nothing", false)
	must(t, d.Ingest(bg, 1, func(int) ([]byte, []byte) { return []byte("oz"), []byte("v") }))
	grown("ingested", true)
}
