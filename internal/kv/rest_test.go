package kv

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// At rest the block cache holds no more than its share, whatever was read before; a store that is closed has nothing to give.
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
	for i := range 512 {
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
	db.Rest()
	if after := db.blocks.Size(); before <= restCache || after > restCache {
		t.Errorf("%d bytes in the cache, %d after", before, after)
	}
	read()
	if after := db.blocks.Size(); after <= restCache {
		t.Errorf("it does not fill again: %d bytes", after)
	}
	check(db.Close())
	db.Rest()
}
