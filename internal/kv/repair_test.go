package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/torture"
)

// repairs are the options of a repair whose lost operations say so.
func repairs() kv.RepairOptions {
	return kv.RepairOptions{Now: time.Unix(1_800_000_000, 0), Operation: func(seq uint64, val []byte) []byte {
		if string(val) != fmt.Sprintf("operation %d", seq) {
			return fmt.Appendf(nil, "lost %d", seq)
		}
		return val
	}}
}

// survey counts what of n steps can be read: whole ones, and lost objects. A wrong byte fails the test.
func survey(t *testing.T, what string, d *kv.DB, n uint64, scale int) (objects, ops int) {
	t.Helper()
	for step := uint64(1); step <= n; step++ {
		op, err := get(d, kv.OperationKey(step))
		switch {
		case err == nil && string(op) == fmt.Sprintf("operation %d", step):
			ops++
		case err == nil && string(op) != fmt.Sprintf("lost %d", step):
			t.Errorf("%s: operation %d: WRONG BYTES %q", what, step, op)
		case err != nil && !errors.Is(err, kv.ErrNotFound):
			t.Errorf("%s: operation %d: %v", what, step, err)
		}
		for i, k := range stepKeys(step) {
			v, err := get(d, k)
			switch {
			case err == nil && bytes.Equal(v, stepValue(step, i, scale)):
				objects++
			case err == nil:
				t.Errorf("%s: object %d of step %d: WRONG BYTES", what, i, step)
			case !errors.Is(err, kv.ErrNotFound):
				t.Errorf("%s: object %d of step %d: %v", what, i, step, err)
			}
		}
	}
	return objects, ops
}

// contents are the files of a directory, by their bytes.
func contents(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		all[string(b)] = true
		return err
	}))
	return all
}

// TestT6Promise06Repair damages a store in every kind of file, and repairs it: it opens, no byte is wrong, what is lost
// is no more than what lay in the damaged place, and every file of the old database is there still.
func TestT6Promise06Repair(t *testing.T) {
	t.Parallel()
	seeds := uint64(torture.Points(20, 100))
	for _, clean := range []bool{true, false} {
		origin := filepath.Join(t.TempDir(), "store")
		want := corruptible(t, origin, clean)
		for kind := range fileKinds {
			if !clean && kind != "log" && kind != "manifest" && kind != "table" {
				continue // as in the clean one
			}
			files := filesOf(t, origin, kind)
			t.Run(fmt.Sprintf("%s, clean %v", kind, clean), func(t *testing.T) {
				t.Parallel()
				if len(files) == 0 {
					t.Fatalf("the store has no %s", kind)
				}
				rebuilt, lost, most := 0, 0, 0
				all, _ := 0, 0
				for n := uint64(1); n <= want; n++ {
					all += len(stepKeys(n))
				}
				for i := range seeds {
					if !torture.Today(int(i)) {
						continue
					}
					r := rand.New(rand.NewPCG(i, 34))
					dir := filepath.Join(t.TempDir(), "store")
					must(t, os.CopyFS(dir, os.DirFS(origin)))
					what := damage(t, r, dir, files[r.IntN(len(files))])
					before := contents(t, filepath.Join(dir, "db"))
					o := repairs()
					o.Ours = true
					res, err := kv.Repair(bg, dir, kv.Options{}, o)
					if errors.Is(err, kv.ErrNewerFormat) {
						continue // it cannot be told from one
					}
					if err != nil {
						t.Errorf("%s: repair: %v", what, err)
						continue
					}
					if res.Rebuilt {
						rebuilt++
						after := contents(t, dir)
						for b := range before {
							if !after[b] {
								t.Errorf("%s: a file of the old database is gone", what)
							}
						}
					}
					d, err := kv.Open(bg, dir, kv.Options{})
					if err != nil {
						t.Errorf("%s: open after the repair: %v (%v)", what, err, res)
						continue
					}
					objects, ops := survey(t, what, d, want, 3000)
					if gone := all - objects; gone > 0 {
						lost++
						if !strings.Contains(what, " cut at ") {
							most = max(most, gone)
						}
					}
					if objects < all || ops < int(want) {
						if len(res.Damage) == 0 && !(kind == "log" && !clean) {
							t.Errorf("%s: SILENT LOSS: %d of %d objects, %d of %d operations", what, objects, all, ops, want)
						}
					}
					must(t, d.CheckTables(bg))
					must(t, d.Close())
					again, err := kv.Repair(bg, dir, kv.Options{}, o)
					if err != nil || again.Rebuilt || len(again.Damage) > 0 || len(again.Files) > 0 {
						t.Errorf("%s: a second repair found %+v, %v", what, again, err)
					}
				}
				t.Logf("%d rebuilt, %d lost objects, at most %d of %d", rebuilt, lost, most, all)
				if most > all/10 {
					t.Errorf("up to %d of %d objects were lost by one bit", most, all)
				}
			})
		}
	}
}

// TestT19RepairReleasedStores repairs the store of a released format, whose MANIFEST is gone: everything is there, and
// it opens. A store of another format and a foreign directory are refused and not touched.
func TestT19RepairReleasedStores(t *testing.T) {
	dir := released(t)
	manifests, err := filepath.Glob(filepath.Join(dir, "db/MANIFEST-*"))
	must(t, err)
	for _, m := range manifests {
		must(t, os.Truncate(m, 10))
	}
	res, err := kv.Repair(bg, dir, kv.Options{}, repairs())
	if err != nil || !res.Rebuilt {
		t.Fatalf("%+v, %v", res, err)
	}
	d := open(t, dir, kv.Options{})
	if n, err := checkSteps(d, 100); n < 20 || err != nil {
		t.Errorf("%d steps, %v", n, err)
	}
	must(t, d.Close())
	for line, want := range map[string]error{
		"rewind format 99 99\n": kv.ErrNewerFormat, "rewind-store 5 5\n": kv.ErrEarlierFormat, "something else\n": kv.ErrForeign,
	} {
		dir := released(t)
		must(t, os.WriteFile(filepath.Join(dir, "format"), []byte(line), 0o600))
		before := tree(t, dir)
		if _, err := kv.Repair(bg, dir, kv.Options{}, repairs()); !errors.Is(err, want) {
			t.Errorf("%q: %v", line, err)
		}
		if after := tree(t, dir); !maps.Equal(before, after) {
			t.Errorf("%q: it was touched", line)
		}
	}
}

// TestPromise06RepairDoesNotBringBackWhatWasPurged: what has left the database, and lies in an old table or log still,
// stays out.
func TestPromise06RepairDoesNotBringBackWhatWasPurged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	d := open(t, dir, kv.Options{})
	for n := uint64(1); n < 5; n++ {
		must(t, step(d, n, 100, kv.Durable))
	}
	key, marker := "b12345678901234567890", "purged"
	must(t, put(d, kv.Durable, "O"+key, "secret"))
	b := d.NewBatch()
	must(t, b.Delete([]byte("O"+key)))
	must(t, b.Set([]byte("g"+key), []byte(marker)))
	must(t, b.Commit(bg, kv.Durable))
	must(t, d.Close())
	manifests, err := filepath.Glob(filepath.Join(dir, "db/MANIFEST-*"))
	must(t, err)
	for _, m := range manifests {
		must(t, os.Truncate(m, 10))
	}
	o := repairs()
	o.Purged = func(val []byte) bool { return string(val) == marker }
	if _, err := kv.Repair(bg, dir, kv.Options{}, o); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir, kv.Options{})
	if val, err := get(d, []byte("O"+key)); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("it is back: %q, %v", val, err)
	}
	if val, err := get(d, []byte("g"+key)); err != nil || string(val) != marker {
		t.Errorf("its marker: %q, %v", val, err)
	}
}

// TestPromise06RepairNeedsSpace: a repair that would not fit says how much it wants, and changes nothing.
func TestPromise06RepairNeedsSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	corruptible(t, dir, true)
	manifests, err := filepath.Glob(filepath.Join(dir, "db/MANIFEST-*"))
	must(t, err)
	for _, m := range manifests {
		must(t, os.Truncate(m, 10))
	}
	before := contents(t, dir)
	_, err = kv.Repair(bg, dir, kv.Options{FS: fullFS{vfs.Default}}, repairs())
	if !errors.Is(err, kv.ErrNoSpace) || !strings.Contains(err.Error(), "1048576 are free") {
		t.Errorf("repair on a full disk: %v", err)
	}
	if after := contents(t, dir); len(after) < len(before) {
		t.Error("something is gone")
	}
	if _, err := os.Stat(filepath.Join(dir, "repair")); err == nil {
		t.Error("an unfinished database is left over")
	}
}

// fullFS has 1 MiB free.
type fullFS struct{ vfs.FS }

func (fullFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 1 << 20, TotalBytes: 1 << 40}, nil
}

func (f fullFS) Unwrap() vfs.FS { return f.FS }
