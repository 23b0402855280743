package ondisk_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rewind/internal/kv"
	"rewind/internal/kv/ondisk"
)

// TestT22OldestLogIsPebbles: what is read of the MANIFEST, by the layout that pebble has, is what pebble does: the log
// that is open is at or above it, and after a flush none of the logs before is.
func TestT22OldestLogIsPebbles(t *testing.T) {
	f := vfs.NewMem()
	d, err := kv.Open(t.Context(), "/store", kv.Options{FS: f})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	const db = "/store/db"
	newest := func() (num uint64) {
		names, err := f.List(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if n, ok := ondisk.LogNumber(name); ok {
				num = max(num, n)
			}
		}
		return num
	}
	for i := range 5 {
		b := d.NewBatch()
		if err := b.Set(fmt.Appendf(nil, "oz%d", i), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context(), kv.Durable); err != nil {
			t.Fatal(err)
		}
		open := newest()
		if oldest := ondisk.OldestLog(f, db); oldest == 0 || oldest > open {
			t.Errorf("the oldest log is %d, %d is open", oldest, open)
		}
		if err := d.FlushLog(); err != nil {
			t.Fatal(err)
		}
		if oldest := ondisk.OldestLog(f, db); oldest <= open {
			t.Errorf("the oldest log is %d, all of %d is in tables", oldest, open)
		}
	}
}
