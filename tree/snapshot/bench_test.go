package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree/ignore"
)

func goroot(b *testing.B) worktreefs.Dir {
	b.Helper()
	dir := filepath.Join(runtime.GOROOT(), "src") //nolint:staticcheck // a large tree that every developer has
	if _, err := os.Stat(dir); err != nil {
		b.Skip("missing tool: GOROOT/src")
	}
	return openRoot(b, dir)
}

// The first snapshot of some ten thousand files: read, hash, compress, store.
func BenchmarkFirst(b *testing.B) {
	root := goroot(b)
	for b.Loop() {
		b.StopTimer()
		db, err := kv.Open(context.Background(), b.TempDir()+"/store", kv.Options{})
		check(b, err)
		tx := objstore.New(db).Begin()
		cache := newCache()
		b.StartTimer()
		r, err := Take(context.Background(), Source{Root: root, Get: tx, Put: tx, Cache: cache})
		check(b, err)
		check(b, cache.Flush(tx.Batch()))
		check(b, tx.Commit(context.Background(), kv.Durable))
		b.StopTimer()
		b.ReportMetric(float64(r.Files), "files")
		b.SetBytes(r.Bytes)
		check(b, db.Close())
		b.StartTimer()
	}
}

// The same without a store: read and hash only.
func BenchmarkFirstScan(b *testing.B) {
	root := goroot(b)
	for b.Loop() {
		m := newMemStore()
		r, err := Take(context.Background(), Source{Root: root, Get: m, Put: m})
		check(b, err)
		b.SetBytes(r.Bytes)
	}
}

// What every later snapshot costs when nothing changed: with the cache in memory, and with a new process that loads it.
func BenchmarkUnchanged(b *testing.B) {
	root := goroot(b)
	db, err := kv.Open(context.Background(), b.TempDir()+"/store", kv.Options{})
	check(b, err)
	defer db.Close()
	objs := objstore.New(db)
	cache := newCache()
	tx := objs.Begin()
	r, err := Take(context.Background(), Source{Root: root, Get: tx, Put: tx, Cache: cache})
	check(b, err)
	check(b, cache.Flush(tx.Batch()))
	check(b, tx.Commit(context.Background(), kv.Durable))
	cache.Committed()
	rules, generation := ignore.New(ignore.Options{}), ""
	snap := func(b *testing.B, cache *Cache, prev objstore.ID) {
		tx := objs.Begin()
		defer tx.Discard()
		again, err := Take(context.Background(),
			Source{Root: root, Prev: prev, Get: tx, Put: tx, Cache: cache, Rules: rules, Generation: generation})
		check(b, err)
		if again.Root != r.Root || again.hashed != 0 || again.puts != 0 {
			b.Fatalf("%+v", again)
		}
	}
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			snap(b, cache, r.Root)
		}
	})
	b.Run("still", func(b *testing.B) { // a daemon without a watcher
		generation = "1"
		snap(b, cache, r.Root)
		cache.Committed()
		for b.Loop() {
			snap(b, cache, r.Root)
		}
		generation = ""
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			_, err := LoadCache(db)
			check(b, err)
		}
	})
	b.Run("new process", func(b *testing.B) {
		for b.Loop() {
			cache, err := LoadCache(db)
			check(b, err)
			snap(b, cache, r.Root)
		}
	})
	b.Run("another tree", func(b *testing.B) { // nothing of the cache is taken on trust
		for b.Loop() {
			snap(b, cache, objstore.ID{})
		}
	})
}
