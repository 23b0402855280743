package kv

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestT22OldestLogIsPebbles: what is read of the MANIFEST, by the layout that pebble has, is what pebble does: the log that is open
// is at or above it, and after a flush none of the logs before is.
func TestT22OldestLogIsPebbles(t *testing.T) {
	f := vfs.NewMem()
	d, err := Open(t.Context(), "/store", Options{FS: f})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for i := range 5 {
		b := d.NewBatch()
		if err := b.Set(fmt.Appendf(nil, "oz%d", i), []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(t.Context(), Durable); err != nil {
			t.Fatal(err)
		}
		var open *walFile
		for w := range d.wals.open {
			open = w
		}
		if oldest := oldestLog(f, d.db); oldest == 0 || oldest > open.num {
			t.Errorf("the oldest log is %d, %d is open", oldest, open.num)
		}
		if err := d.FlushLog(); err != nil {
			t.Fatal(err)
		}
		if oldest := oldestLog(f, d.db); oldest <= open.num {
			t.Errorf("the oldest log is %d, all of %d is in tables", oldest, open.num)
		}
	}
}
