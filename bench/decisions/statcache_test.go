package decisions

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/kv"
)

// The stat cache of 28,000 files in 1,750 directories, 70 bytes a file: one file in one directory has changed and its
// entry is written. written-B: what goes to the log, or to the new file. Taken: a key a file. It is also what makes an
// entry appear with the objects that it names, or not at all.
func BenchmarkStatCacheWrite(b *testing.B) {
	const dirs, each, entry = 1750, 16, 70
	b.Run("key-a-file", func(b *testing.B) { statKeys(b, dirs*each, entry) })
	b.Run("value-a-directory", func(b *testing.B) { statKeys(b, dirs, each*entry) })
	b.Run("one-file", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "index")
		all := make([]byte, dirs*each*entry)
		for b.Loop() {
			binary.BigEndian.PutUint64(all, uint64(b.N))
			if err := os.WriteFile(path+".tmp", all, 0o600); err != nil {
				b.Fatal(err)
			}
			if err := os.Rename(path+".tmp", path); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(dirs*each*entry, "written-B")
	})
}

func statKeys(b *testing.B, n, size int) {
	d, err := kv.Open(b.Context(), filepath.Join(b.TempDir(), "store"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	key := func(i int) []byte {
		return fmt.Appendf(nil, "%cdirectory-%05d/name-%02d.go", kv.PrefixStat, i/16, i%16)
	}
	val := make([]byte, size)
	err = d.Ingest(b.Context(), n, func(i int) ([]byte, []byte) { return key(i), val })
	if err != nil {
		b.Fatal(err)
	}
	i, written := 0, 0
	for b.Loop() {
		i = (i + 7919) % n
		batch := d.NewBatch()
		binary.BigEndian.PutUint64(val, uint64(i))
		if err := batch.Set(key(i), val); err != nil {
			b.Fatal(err)
		}
		written = batch.Len()
		if err := batch.Commit(b.Context(), kv.Written); err != nil {
			b.Fatal(err)
		}
		if err := batch.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(written), "written-B")
}
