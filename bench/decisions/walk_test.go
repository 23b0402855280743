package decisions

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"rewind/bench/floor"
	"rewind/bench/workload"
)

// A tree of 10,000 files whose names are known: lstat by the handle of the directory, or by the whole path; by threads.
// Taken: by handle, on two.
func BenchmarkStatKnown(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "tree")
	if err := workload.Generate(b.Context(), dir, workload.Spec{Files: 10_000, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	known, err := floor.List(dir)
	if err != nil {
		b.Fatal(err)
	}
	names := 0
	for _, k := range known {
		names += len(k.Names)
	}
	for _, threads := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("by-handle/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				if _, err := floor.StatKnown(known, threads); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*names), "ns/file")
		})
		b.Run(fmt.Sprintf("by-path/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				statPaths(b, known, threads)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*names), "ns/file")
		})
	}
}

func statPaths(b *testing.B, known []floor.Known, threads int) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(known) {
					return
				}
				for _, name := range known[i].Names {
					if _, err := os.Lstat(known[i].Path + "/" + name); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
