package decisions

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"rewind/internal/kv"
)

// A checkpoint has eight keys, of 300 bytes together. One batch or one a key; written (a hook's) or durable (a
// person's), where commits that wait at the same time share a sync; one at a time or 16. Taken: one batch; written for
// hooks.
func BenchmarkCommit(b *testing.B) {
	for _, du := range []kv.Durability{kv.Written, kv.Durable} {
		word := "written"
		if du == kv.Durable {
			word = "durable"
		}
		for _, batches := range []int{1, 8} {
			for _, writers := range []int{1, 16} {
				b.Run(fmt.Sprintf("%s/batches=%d/writers=%d", word, batches, writers),
					func(b *testing.B) { commits(b, du, batches, writers) })
			}
		}
	}
}

func commits(b *testing.B, du kv.Durability, batches, writers int) {
	d, err := kv.Open(b.Context(), filepath.Join(b.TempDir(), "store"), kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	var n atomic.Uint64
	checkpoint := func() error {
		for range batches {
			batch := d.NewBatch()
			for range 8 / batches {
				key := binary.BigEndian.AppendUint64([]byte{kv.PrefixObject, 'b'}, n.Add(1)*0x9e3779b97f4a7c15)
				if err := batch.Set(append(key, make([]byte, 12)...), make([]byte, 38)); err != nil {
					return err
				}
			}
			if err := batch.Commit(b.Context(), du); err != nil {
				return err
			}
			if err := batch.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	for b.Loop() {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				if err := checkpoint(); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*writers), "us/checkpoint")
}
