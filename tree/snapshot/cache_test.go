package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"rewind/internal/kv"
	"rewind/objstore"
)

func openStore(t testing.TB) (*kv.DB, *objstore.Store) {
	t.Helper()
	db, err := kv.Open(context.Background(), t.TempDir()+"/store", kv.Options{})
	check(t, err)
	t.Cleanup(func() { check(t, db.Close()) })
	return db, objstore.New(db)
}

// capture is what the engine does: objects and cache in one commit.
func capture(t testing.TB, objs *objstore.Store, root string, cache *Cache, prev objstore.ID) *Result {
	t.Helper()
	tx := objs.Begin()
	d := openRoot(t, root)
	r, err := Take(context.Background(), Source{
		Root: d, Prev: prev, Get: tx, Put: tx, Cache: cache,
		RuleFiles: []string{".gitignore", ".rewindignore"},
	})
	check(t, err)
	check(t, cache.Flush(tx.Batch()))
	check(t, tx.Commit(context.Background(), kv.Written))
	cache.Committed()
	return r
}

// entries gives the stat cache as it is in the store.
func entries(t testing.TB, db *kv.DB) map[string]string {
	t.Helper()
	got := map[string]string{}
	check(t, db.Scan(kv.Range{Prefix: []byte{kv.PrefixStat}}, func(key, val []byte) error {
		got[string(key[1:])] = string(val)
		return nil
	}))
	return got
}

func TestCacheInTheStore(t *testing.T) {
	db, objs := openStore(t)
	root := tempTree(t)
	populate(t, root)
	age()
	cache, err := LoadCache(db)
	check(t, err)
	first := capture(t, objs, root, cache, objstore.ID{})
	if first.hashed != 5 {
		t.Fatalf("first: %+v", first)
	}
	if got := entries(t, db); len(got) != 7 || got[""] == "" || got["link"] == "" {
		t.Fatalf("%d entries", len(got))
	}

	// A new process: nothing is read, nothing is written.
	cache, err = LoadCache(db)
	check(t, err)
	before := entries(t, db)
	again := capture(t, objs, root, cache, first.Root)
	if again.Root != first.Root || again.hashed != 0 || again.puts != 0 {
		t.Fatalf("again: %+v", again)
	}
	b := db.NewBatch()
	check(t, cache.Flush(b))
	if b.Count() != 0 || fmt.Sprint(before) != fmt.Sprint(entries(t, db)) {
		t.Errorf("an unchanged tree changes %d entries", b.Count())
	}
	check(t, b.Close())

	// Only what changed is written; what vanished is deleted, also when a directory stands there now.
	write(t, root+"/a.txt", "edited")
	check(t, os.RemoveAll(root+"/dir/sub"))
	check(t, os.Remove(root+"/other/e.txt"))
	write(t, root+"/other/e.txt/deep", "a directory now")
	age()
	tx := objs.Begin()
	r, err := Take(context.Background(), Source{Root: openRoot(t, root), Prev: first.Root, Get: tx, Put: tx, Cache: cache})
	check(t, err)
	b = db.NewBatch()
	check(t, cache.Flush(b))
	if b.Count() != 6 { // a.txt, c.txt, d.txt, e.txt, e.txt/deep and the root
		t.Errorf("%d changes", b.Count())
	}
	check(t, b.Close())
	cache.Discard() // the commit failed, say
	tx.Discard()
	if fmt.Sprint(before) != fmt.Sprint(entries(t, db)) {
		t.Error("the store changed without a commit")
	}
	r2 := capture(t, objs, root, cache, first.Root)
	if r2.Root != r.Root || r2.hashed != 2 {
		t.Errorf("after a discard: %+v", r2)
	}
	loaded, err := LoadCache(db)
	check(t, err)
	if loaded.root != r2.Root || loaded.len() != cache.len() || loaded.len() != 4 {
		t.Errorf("%d entries in the store, %d in memory", loaded.len(), cache.len())
	}
	for path, d := range loaded.dirs {
		if d.files != cache.dirs[path].files {
			t.Errorf("%q: %+v, %+v", path, d.list(), cache.dirs[path].list())
		}
	}
}

// A corrupt entry is a miss, and is gone after the next flush; it is never an error and never believed.
func TestCorruptCacheIsAMiss(t *testing.T) {
	for what, spoil := range map[string]func([]byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"bit":     func(v []byte) []byte { v[len(v)/2] ^= 4; return v },
		"cut":     func(v []byte) []byte { return v[:len(v)-1] },
		"longer":  func(v []byte) []byte { return append(v, 0) },
		"version": func(v []byte) []byte { v[0] = 2; return v },
		"another": func([]byte) []byte { return appendCached(nil, "other", stamp{kind: cachedFile}, idOf(1)) },
	} {
		t.Run(what, func(t *testing.T) {
			db, objs := openStore(t)
			root := tempTree(t)
			populate(t, root)
			age()
			cache, err := LoadCache(db)
			check(t, err)
			first := capture(t, objs, root, cache, objstore.ID{})
			good := entries(t, db)
			b := db.NewBatch()
			for path, val := range good {
				check(t, b.Set(append([]byte{kv.PrefixStat}, path...), spoil([]byte(val))))
			}
			check(t, b.Set([]byte("sno/such\x00path"), []byte("rubbish")))
			check(t, b.Set([]byte("s//"), bytes.Repeat([]byte{0xff}, 100)))
			check(t, b.Commit(context.Background(), kv.Written))

			cache, err = LoadCache(db)
			check(t, err)
			if cache.len() != 0 || !cache.root.IsZero() {
				t.Errorf("%d corrupt entries taken", cache.len())
			}
			r := capture(t, objs, root, cache, first.Root)
			if r.Root != first.Root || r.hashed != 5 {
				t.Errorf("%+v", r)
			}
			if got := entries(t, db); fmt.Sprint(got) != fmt.Sprint(good) {
				t.Errorf("the cache is not as before: %d entries", len(got))
			}
		})
	}
}

// A cache that is larger than one flush takes is written with several; until then it has no root entry.
func TestFlushInParts(t *testing.T) {
	db, _ := openStore(t)
	c := newCache()
	long := string(bytes.Repeat([]byte("d/"), 3000)) + "d"
	var files []cached
	for i := range 1000 {
		files = append(files, cached{name: fmt.Sprintf("%05d", i), stamp: stamp{kind: cachedFile}, id: idOf(1)})
	}
	c.staged = &staged{root: idOf(2), dirs: map[string]*cacheDir{long: {files: packOf(files)}}}
	flushes := 0
	for ; len(entries(t, db)) < 1001; flushes++ {
		if flushes == 100 {
			t.Fatal("never done")
		}
		b := db.NewBatch()
		check(t, c.Flush(b))
		if b.Len() > maxFlush+maxFlush/4 {
			t.Errorf("a batch of %d bytes", b.Len())
		}
		check(t, b.Commit(context.Background(), kv.Written))
		c.Committed()
		if got := entries(t, db); (got[""] != "") != (len(got) == 1001) {
			t.Errorf("root entry with %d others", len(got))
		}
	}
	if flushes < 2 || c.root != idOf(2) {
		t.Errorf("%d flushes", flushes)
	}
}

// Committed without Flush: memory is ahead of the store until the next Flush.
func TestCommittedWithoutFlush(t *testing.T) {
	db, _ := openStore(t)
	c := newCache()
	c.staged = &staged{
		root: idOf(2),
		dirs: map[string]*cacheDir{"d": {files: packOf([]cached{{name: "f", stamp: stamp{kind: cachedFile}, id: idOf(1)}})}},
	}
	c.Committed()
	b := db.NewBatch()
	check(t, c.Flush(b))
	check(t, b.Commit(context.Background(), kv.Written))
	if got := entries(t, db); len(got) != 2 || got["d/f"] == "" {
		t.Errorf("%d entries", len(got))
	}
}

// len is how many files the cache knows.
func (c *Cache) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, d := range c.dirs {
		n += d.files.n
	}
	return n
}
