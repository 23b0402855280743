package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
)

// older are the formats that opening a store brings up.
func older() (all []uint64) {
	for v := uint64(1); v < kv.FormatAtOpen; v++ {
		all = append(all, v)
	}
	return all
}

// stampable are the formats that an upgrade begins at, and its end for each: opening, or Stamp.
func stampable() map[uint64]uint64 {
	all := map[uint64]uint64{kv.FormatAtOpen: kv.FormatVersion}
	for _, v := range older() {
		all[v] = kv.FormatAtOpen
	}
	return all
}

// stampTo opens the store and makes it one of a format.
func stampTo(o kv.Options, to uint64) (*kv.DB, error) {
	d, err := kv.Open(bg, "/store", o)
	if err != nil {
		return nil, err
	}
	if err := d.RaiseFormat(to); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func releasedDir(version uint64) string { return fmt.Sprintf("testdata/v%d", version) }

// released copies the store of a format to /store, all on disk.
func released(t *testing.T, version uint64) *kvtest.CrashFS {
	t.Helper()
	f := kvtest.NewCrashFS()
	ok, err := vfs.Clone(vfs.Default, f, releasedDir(version), "/store", vfs.CloneSync)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	dir, err := f.OpenDir("/")
	must(t, err)
	must(t, errors.Join(dir.Sync(), dir.Close()))
	return f
}

// stamps is the format of an open store, as the file and the key have it.
func stamps(t *testing.T, f kv.FS, dir string, d *kv.DB) (file, key uint64) {
	t.Helper()
	h, err := f.Open(f.PathJoin(dir, "format"))
	must(t, err)
	text, err := io.ReadAll(h)
	must(t, errors.Join(err, h.Close()))
	if _, err := fmt.Sscanf(string(text), "rewind-store %d", &file); err != nil {
		t.Fatalf("format is %q: %v", text, err)
	}
	val, err := get(d, []byte("f"))
	must(t, err)
	key, n := binary.Uvarint(val)
	if n != len(val) {
		t.Fatalf("the key f is %x", val)
	}
	return file, key
}

// upgrades opens what a crash in the middle of an upgrade has left, first to read it, and then to make it whole. It returns the stamps
// as they were found. Whatever they are, the version of the old format reads a store of its own or refuses a newer one. Unless both places
// were stamped the file is written again: a retried fsync would not tell that the bytes of one that failed are on disk.
func upgrades(t *testing.T, what string, f *kvtest.CrashFS, from uint64) (file, key uint64) {
	t.Helper()
	renames := 0
	ffs := kvtest.NewFaultFS(f)
	ffs.Hook(func(c kvtest.Call) {
		if c.Op == "rename" && c.Path == "/store/format.tmp" {
			renames++
		}
	})
	look := func(o kv.Options) (file, key uint64) {
		o.FS = ffs
		d, err := kv.Open(bg, "/store", o)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n, err := checkSteps(d, 100); n < 20 || err != nil {
			t.Fatalf("%s: %d steps, %v", what, n, err)
		}
		file, key = stamps(t, f, "/store", d)
		must(t, d.Close())
		return file, key
	}
	file, key = look(kv.Options{ReadOnly: true})
	if file == from && key != from || key > file || key < from {
		t.Fatalf("%s: the file has %d, the key %d", what, file, key)
	}
	if sfile, skey := look(kv.Options{Salvage: true}); sfile != file || skey != key {
		t.Fatalf("%s: reading changed %d, %d to %d, %d", what, file, key, sfile, skey)
	}
	want := max(file, kv.FormatAtOpen)
	if nfile, nkey := look(kv.Options{}); nfile != want || nkey != want {
		t.Fatalf("%s: after opening the file has %d, the key %d", what, nfile, nkey)
	}
	if again := key < want; again != (renames == 1) || renames > 1 {
		t.Errorf("%s: found %d and %d, the file was written %d times", what, file, key, renames)
	}
	return file, key
}

// TestT19StampPowerCut cuts before every call that an upgrade makes.
func TestT19StampPowerCut(t *testing.T) {
	t.Parallel()
	for from, to := range stampable() {
		stampPowerCut(t, from, to)
	}
}

func stampPowerCut(t *testing.T, from, to uint64) {
	seen := make(map[[2]uint64]int)
	for _, pct := range unsynced {
		live := released(t, from)
		var mu sync.Mutex
		var cuts []*kvtest.CrashFS
		ffs := kvtest.NewFaultFS(live)
		ffs.Hook(func(c kvtest.Call) {
			if c.Kind == kvtest.Read {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			cuts = append(cuts, live.Clone(pct, uint64(len(cuts))))
		})
		d, err := stampTo(kv.Options{FS: ffs}, to)
		must(t, err)
		opened := live.Clone(0, 1)
		ffs.Hook(nil)
		must(t, d.Close())
		for i, c := range cuts {
			file, key := upgrades(t, fmt.Sprintf("from %d, %d%%, cut %d of %d", from, pct, i, len(cuts)), c, from)
			seen[[2]uint64{file, key}]++
		}
		if file, key := upgrades(t, "cut after open", opened, from); file != to || key != to {
			t.Errorf("%d%%: open or Stamp returned before the stamp was on disk: the file has %d, the key %d", pct, file, key)
		}
	}
	for _, want := range [][2]uint64{{from, from}, {to, from}, {to, to}} {
		if seen[want] == 0 {
			t.Errorf("no cut left the file at %d and the key at %d: %v", want[0], want[1], seen)
		}
	}
	t.Logf("from %d, cuts by file and key: %v", from, seen)
}

// TestT19StampFaults makes each write and fsync of an upgrade fail once. The process then ends, or tries again while the system still
// runs and loses power after that: the store opens.
func TestT19StampFaults(t *testing.T) {
	if inFaultsProcess(t) {
		return
	}
	for from, to := range stampable() {
		stampFaults(t, from, to)
	}
}

func stampFaults(t *testing.T, from, to uint64) {
	for _, kind := range []kvtest.Kind{kvtest.Write, kvtest.Sync} {
		probe := kvtest.NewFaultFS(released(t, from))
		d, err := stampTo(kv.Options{FS: probe}, to)
		must(t, err)
		total := probe.Calls(kind)
		must(t, d.Close())
		refused, fatals, fewer := 0, 0, 0
		for n := 1; n <= total; n++ {
			what := fmt.Sprintf("from %d, %v %d of %d", from, kind, n, total)
			live := released(t, from)
			ffs := kvtest.NewFaultFS(live, &kvtest.Fault{Kind: kind, N: n, Err: syscall.EIO})
			var fatal atomic.Bool
			d, err := stampTo(kv.Options{FS: ffs, Fatal: func(error) { fatal.Store(true) }}, to)
			if err == nil && ffs.Calls(kind) < n { // pebble joins writes of its log where they wait for each other
				fewer++
				_ = d.Close() // the fault may come now
				continue
			}
			ffs.AssertFired(t)
			after := []*kvtest.CrashFS{live.Clone(0, 1), live.Clone(100, 1)}
			switch {
			case err == nil:
				if file, key := stamps(t, live, "/store", d); file != to || key != to {
					t.Errorf("%s: open, the file has %d, the key %d", what, file, key)
				}
				_ = d.Close()
			case fatal.Load():
				fatals++
			default:
				if refused++; !errors.Is(err, syscall.EIO) {
					t.Errorf("%s: %v", what, err)
				}
				d, err := kv.Open(bg, "/store", kv.Options{FS: live})
				if err != nil {
					t.Fatalf("%s: second open: %v", what, err)
				}
				after = append(after, live.Clone(0, 1))
				must(t, d.Close())
			}
			for _, a := range after {
				upgrades(t, what, a, from)
			}
		}
		t.Logf("%v: %d calls, %d refused, %d fatal", kind, total, refused, fatals)
		if refused == 0 || fewer > total/4 {
			t.Errorf("%v: %d faults were seen at open, %d of %d did not come about", kind, refused, fewer, total)
		}
	}
}

// TestT19OldStoreOnlyRead: who only reads a store of an older format changes nothing, nor does who is refused.
func TestT19OldStoreOnlyRead(t *testing.T) {
	for name, c := range map[string]struct {
		tide string
		o    kv.Options
		want error
	}{
		"read only":           {"20\n", kv.Options{ReadOnly: true}, nil},
		"salvage":             {"20\n", kv.Options{Salvage: true}, nil},
		"damaged, salvage":    {"21\n", kv.Options{Salvage: true}, nil},
		"damaged, read only":  {"21\n", kv.Options{ReadOnly: true}, kv.ErrCorrupt},
		"damaged, to be used": {"21\n", kv.Options{}, kv.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			for _, version := range older() {
				onlyRead(t, name, version, c.tide, c.o, c.want)
			}
		})
	}
}

// now is tree without what opening a store changes.
func now(t *testing.T, dir string) map[string]string {
	all := tree(t, dir)
	for name := range all {
		if base := filepath.Base(name); base == "lock" || base == "LOCK" || strings.HasPrefix(all[name], "d") {
			delete(all, name)
		}
	}
	return all
}

func onlyRead(t *testing.T, name string, version uint64, tide string, o kv.Options, want error) {
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.CopyFS(dir, os.DirFS(releasedDir(version))))
	write(t, filepath.Join(dir, "tide"), tide)
	before := now(t, dir)
	d, err := kv.Open(bg, dir, o)
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
	if err == nil {
		if op, err := get(d, kv.OperationKey(20)); string(op) != "operation 20" {
			t.Errorf("operation 20: %q, %v", op, err)
		}
		if err := step(d, 21, 100, kv.Durable); err == nil {
			t.Error("written to")
		}
		if damaged := tide != "20\n"; damaged != (d.Damage() != nil) {
			t.Errorf("damage: %v", d.Damage())
		}
		must(t, d.Close())
	}
	if o.ReadOnly || o.Salvage {
		sameTree(t, name, before, now(t, dir))
	} else if now(t, dir)["/format"] != before["/format"] {
		t.Error("stamped although the check has failed")
	}
}

// TestT19StampDamage: one flipped bit of the file never makes a store of another format that is read, and the file and the key differ
// only as an upgrade that did not end leaves them.
func TestT19StampDamage(t *testing.T) {
	for version := uint64(1); version <= kv.FormatVersion; version++ {
		dir := filepath.Join(t.TempDir(), "store")
		must(t, os.CopyFS(dir, os.DirFS(releasedDir(version))))
		b, err := os.ReadFile(filepath.Join(dir, "format"))
		must(t, err)
		line := string(b)
		for bit := range 8 * len(line) {
			b := []byte(line)
			b[bit/8] ^= 1 << (bit % 8)
			write(t, filepath.Join(dir, "format"), string(b))
			before := tree(t, dir)
			for _, o := range []kv.Options{{}, {Salvage: true}} {
				_, err := kv.Open(bg, dir, o)
				if !errors.Is(err, kv.ErrCorrupt) && !errors.Is(err, kv.ErrForeign) && !errors.Is(err, kv.ErrNewerFormat) {
					t.Fatalf("%q was opened: %v", b, err)
				}
				sameTree(t, fmt.Sprintf("%q", b), before, tree(t, dir))
			}
		}
	}
	for _, c := range []struct {
		file string
		key  string
		ok   bool
	}{
		{"1", "\x01", true},
		{"2", "\x01", true},
		{"2", "\x02", true},
		{"3 3", "\x01", true},
		{"3 3", "\x02", true},
		{"3 3", "\x03", true},
		{"3 3", "\x04", false},
		{"4 4", "\x01", true},
		{"4 4", "\x03", true},
		{"4 4", "\x04", true},
		{"4 4", "\x05", false},
		{"1", "\x04", false},
		{"1", "\x03", false},
		{"1", "\x02", false},
		{"1", "\x00", false},
		{"2", "\x00", false},
		{"2", "\x03", false},
		{"2", "", false},
		{"2", "\x81\x00", false},
		{"2", "\x02\x00", false},
		{"2", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", false},
	} {
		what := fmt.Sprintf("file %s, key %x", c.file, c.key)
		dir := filepath.Join(t.TempDir(), "store")
		d := open(t, dir, kv.Options{})
		must(t, step(d, 1, 100, kv.Durable))
		must(t, put(d, kv.Durable, "f", c.key))
		must(t, d.Close())
		write(t, filepath.Join(dir, "format"), "rewind-store "+c.file+"\n")
		d, err := kv.Open(bg, dir, kv.Options{})
		if !c.ok {
			if !errors.Is(err, kv.ErrCorrupt) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		must(t, err)
		want := uint64(kv.FormatAtOpen)
		if c.file == "4 4" {
			want = 4
		}
		if file, key := stamps(t, vfs.Default, dir, d); file != want || key != want {
			t.Errorf("%s: after opening the file has %d, the key %d", what, file, key)
		}
		must(t, d.Clone(dir+"-clone"))
		must(t, d.Close())
		d = open(t, dir+"-clone", kv.Options{ReadOnly: true})
		if file, key := stamps(t, vfs.Default, dir+"-clone", d); file != want || key != want {
			t.Errorf("%s: in a clone the file has %d, the key %d", what, file, key)
		}
		must(t, d.Close())
	}
}

// TestT19StampFullDisk: on a full disk a store of an older format is read as it is, and stamped before the first write that finds room.
func TestT19StampFullDisk(t *testing.T) {
	for _, version := range older() {
		stampFullDisk(t, version)
	}
}

func stampFullDisk(t *testing.T, version uint64) {
	f := vfs.NewMem()
	ok, err := vfs.Clone(vfs.Default, f, releasedDir(version), "/store")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	f.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20})
	d := open(t, "/store", kv.Options{FS: f})
	if n, err := checkSteps(d, 100); n != 20 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
	if err := step(d, 21, 100, kv.Durable); !errors.Is(err, kv.ErrNoSpace) {
		t.Errorf("written to: %v", err)
	}
	if file, key := stamps(t, f, "/store", d); file != version || key != version {
		t.Errorf("the file has %d, the key %d", file, key)
	}
	f.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30})
	must(t, step(d, 21, 100, kv.Durable))
	if file, key := stamps(t, f, "/store", d); file != kv.FormatAtOpen || key != kv.FormatAtOpen {
		t.Errorf("after a write the file has %d, the key %d", file, key)
	}
	must(t, d.Close())
}
