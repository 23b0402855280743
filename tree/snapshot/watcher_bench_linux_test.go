package snapshot

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
)

// grow makes a tree of n files, ten in each directory, four levels deep.
func grow(b *testing.B, n int) string {
	b.Helper()
	root := b.TempDir()
	for i := range n / 10 {
		dir := fmt.Sprintf("%s/%d/%d/%d", root, i%10, i/10%40, i/400)
		check(b, os.MkdirAll(dir, 0o755))
		for j := range 10 {
			check(b, os.WriteFile(fmt.Sprintf("%s/%d", dir, j), fmt.Appendf(nil, "content %d of %d", j, i), 0o644))
		}
	}
	return root
}

// What a snapshot costs after one edit and after none, by the size of the tree, with and without a watcher; objects,
// cache and commit included.
func BenchmarkWatcher(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		root := grow(b, n)
		for _, watch := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dk/watcher=%v", n/1000, watch), func(b *testing.B) { benchWatcher(b, root, watch) })
		}
	}
}

func benchWatcher(b *testing.B, root string, watch bool) {
	ctx := context.Background()
	db, err := kv.Open(ctx, b.TempDir()+"/store", kv.Options{})
	check(b, err)
	defer db.Close()
	objs := objstore.New(db)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cache := newCache()
	var w *Watcher
	if watch {
		w, err = Watch(root)
		check(b, err)
		defer w.Close()
	}
	d, err := worktreefs.OpenRoot(root)
	check(b, err)
	defer d.Close()
	var prev objstore.ID
	snap := func(b *testing.B) *Result {
		tx := objs.Begin()
		r, err := Take(ctx, Source{
			Root: d, Prev: prev, Get: tx, Put: tx, Cache: cache, Watcher: w, Generation: "1",
			RuleFiles: []string{".gitignore", ".rewindignore"},
		})
		check(b, err)
		check(b, cache.Flush(tx.Batch()))
		check(b, tx.Commit(ctx, kv.Written))
		cache.Committed()
		prev = r.Root
		return r
	}
	age()
	snap(b)
	snap(b)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if w != nil && !w.Status().Healthy {
		b.Fatal(w.Status())
	}
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			snap(b)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-held")
	})
	b.Run("edit", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			check(b, os.WriteFile(root+"/3/2/0/5", fmt.Appendf(nil, "edit %d", i), 0o644))
			if r := snap(b); r.hashed == 0 {
				b.Fatal("the edit was not seen")
			}
		}
	})
}
