package kv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// At rest the block cache holds no more than its share, whatever was read before; a store that is closed has nothing to
// give.
func TestRestEmptiesTheBlockCache(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()+"/store"
	db, err := Open(ctx, dir, Options{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	random := rand.NewChaCha8([32]byte{})
	val := make([]byte, 16<<10)
	for i := range 1024 {
		b := db.NewBatch()
		_, _ = random.Read(val) // it gives no error
		check(b.Set(fmt.Appendf(nil, "x%03d", i), val))
		check(b.Commit(ctx, Written))
	}
	check(db.Compact(ctx))
	check(db.Close())
	db, err = Open(ctx, dir, Options{}) // its memtable, which counts into the cache, is small now
	check(err)
	read := func() {
		check(db.Scan(Range{Prefix: []byte{'x'}}, func(_, _ []byte) error { return nil }))
	}
	read()
	before := db.blocks.Size()
	db.TrimCaches()
	if after := db.blocks.Size(); before <= trimmedCache || after > trimmedCache {
		t.Errorf("%d bytes in the cache, %d after", before, after)
	}
	read()
	if after := db.blocks.Size(); after <= trimmedCache {
		t.Errorf("it does not fill again: %d bytes", after)
	}
	check(db.Close())
	db.TrimCaches()
}

// TestBlocksAreKeptAfterWriting: the memtables, which count into the cache, leave room for what is read again and
// again, however much was written. Without it each read of a key has its filter and its index read from the disk and
// decompressed.
func TestBlocksAreKeptAfterWriting(t *testing.T) {
	ctx := context.Background()
	db, err := Open(ctx, t.TempDir()+"/store", Options{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	defer func() { check(db.Close()) }()
	random := rand.NewChaCha8([32]byte{})
	val := make([]byte, 100)
	for i := range 200 { // 20 MB
		b := db.NewBatch()
		for j := range 1000 {
			_, _ = random.Read(val) // it gives no error
			check(b.Set(fmt.Appendf(nil, "x%03d%03d", i, j), val))
		}
		check(b.Commit(ctx, Written))
		check(b.Close())
	}
	check(db.Compact(ctx))
	if m := db.pdb.Metrics().MemTable; m.Size+m.ZombieSize < 2*memtableBytes {
		t.Fatalf("the memtables have %d and %d bytes", m.Size, m.ZombieSize)
	}
	read := func() int64 {
		before := db.pdb.Metrics().BlockCache.Misses
		for i := range 200 {
			check(db.View(fmt.Appendf(nil, "x%03d007", i), func([]byte) error { return nil }))
			if there, err := db.Has(fmt.Appendf(nil, "x%03d007.", i)); err != nil || there {
				t.Fatal(there, err)
			}
		}
		return db.pdb.Metrics().BlockCache.Misses - before
	}
	first := read()
	if again := read(); first == 0 || again > 0 {
		t.Errorf("%d blocks are read from the disk, and %d when they are read again", first, again)
	}
}
