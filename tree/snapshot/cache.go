package snapshot

import (
	"fmt"
	"sync"

	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Cache is the stat cache: for each path the stamp of the file and the id of its content, so that a file whose stamp
// did not change need not be read. To lose it, or any entry of it, costs time and nothing else.
//
// A snapshot only stages what it found. Flush adds the staged changes to the batch with the snapshot's objects, so an
// entry and its object are written together. Then Committed makes them the start of the next snapshot, or Discard drops
// them. A snapshot drops what an earlier one staged, too.
//
// A cache is for one working tree and one snapshot at a time: concurrent calls wait for each other.
type Cache struct {
	mu        sync.Mutex
	root      objstore.ID          // the tree that the entries describe, so all their objects exist; zero: unknown
	dirs      map[string]*cacheDir // by path
	onDisk    objstore.ID          // the root entry on disk
	unflushed []string             // paths whose entry on disk may differ
	staged    *staged              // what the last snapshot found; nil: nothing
	base      *baseline            // what the snapshot of root found; nil: unknown

	rulesMu sync.Mutex
	rules   map[string]*ruleMemo // by path of a directory with ignore files; in memory only
}

// cacheDir is one directory. Once it is in a Cache, its files and its tree do not change: workers read them without a
// lock.
type cacheDir struct {
	files pack
	tree  objstore.ID
	seen  *scan // the snapshot that finished the directory last; set by the worker that does
}

type cached struct {
	name  string
	stamp stamp
	id    objstore.ID
}

// ruleMemo is what the ignore files of a directory said.
type ruleMemo struct {
	stamps [2]stamp // zero: no such file
	files  [2]ignore.File
	parent *ignore.Dir // the rules above the directory
	dir    *ignore.Dir
	seen   *scan
}

// staged is the difference between the cache and what a snapshot found.
type staged struct {
	root objstore.ID
	dirs map[string]*cacheDir // new or changed ones
	gone map[string]bool      // directories that do not exist any more

	base  *baseline
	sight *sight // gets its reports back if staged is dropped

	flushed bool
	left    []string    // unflushed after the last Flush
	disk    objstore.ID // onDisk after the last Flush
}

// newCache is an empty cache.
func newCache() *Cache {
	return &Cache{dirs: map[string]*cacheDir{}, rules: map[string]*ruleMemo{}}
}

// LoadCache reads the cache from the store. A corrupt entry counts as missing. The error is the store's.
func LoadCache(db *kv.DB) (*Cache, error) {
	c := newCache()
	l := loader{dirs: c.dirs}
	err := db.Scan(kv.Range{Prefix: []byte{kv.PrefixStat}}, func(key, val []byte) error {
		path := string(key[1:])
		s, id, ok := decodeCached(path, val)
		if !ok {
			c.unflushed = append(c.unflushed, path) // corrupt: to be overwritten or deleted
			return nil
		}
		if s.kind == cachedRoot {
			c.root, c.onDisk = id, id
			return nil
		}
		l.add(path, &s, &id)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load stat cache: %w", err)
	}
	l.end()
	return c, nil
}

// Unflushed is how many entries wait for a later Flush.
func (c *Cache) Unflushed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unflushed)
}

// list unpacks the files of the directory; none of a nil directory.
func (d *cacheDir) list() []cached {
	if d == nil {
		return nil
	}
	return d.files.list()
}

// Roots are the trees that the cache and the watcher's baseline rely on: they and all below must stay in the store as
// long as the cache is used. Some may not be stored yet, or be zero.
func (c *Cache) Roots() []objstore.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	roots := []objstore.ID{c.root}
	if c.base != nil {
		roots = append(roots, c.base.root.id)
	}
	return roots
}

func (c *Cache) dir(path string) *cacheDir {
	if c == nil {
		return nil
	}
	return c.dirs[path]
}

// ruleMemo is the memo of a directory's ignore files; nil: there is none.
func (c *Cache) ruleMemo(path string) *ruleMemo {
	if c == nil {
		return nil
	}
	c.rulesMu.Lock()
	defer c.rulesMu.Unlock()
	return c.rules[path]
}

func (c *Cache) setRuleMemo(path string, m *ruleMemo) {
	if c == nil {
		return
	}
	c.rulesMu.Lock()
	defer c.rulesMu.Unlock()
	c.rules[path] = m
}

// Flush adds to b what the last snapshot changed: entries of new and changed files, deletions of those of vanished
// ones. What goes beyond maxFlush bytes waits for the next Flush; until all is written the cache on disk has no root
// entry. Flush can be repeated with another batch. The error is the batch's, which must then not be committed.
func (c *Cache) Flush(b *kv.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.staged == nil {
		c.staged = &staged{root: c.root, base: c.base}
	}
	s := c.staged
	todo := s.changed(c)
	if len(todo) == 0 {
		todo = c.unflushed // as it is: after a first snapshot it has all files, and is written in many parts
	} else {
		todo = append(todo, c.unflushed...)
	}
	s.flushed, s.left, s.disk = true, nil, c.onDisk
	var key, val []byte
	written, at := 0, lookup{c: c, s: s}
	for i, path := range todo {
		if written > maxFlush {
			s.left = todo[i:]
			break
		}
		key = append(append(key[:0], kv.PrefixStat), path...)
		f := at.find(path)
		if f == nil || len(path) > maxCachedPath {
			if err := b.Delete(key); err != nil {
				return fmt.Errorf("flush stat cache: %w", err)
			}
			written += len(key)
			continue
		}
		val = appendCached(val[:0], path, f.stamp, f.id)
		if err := b.Set(key, val); err != nil {
			return fmt.Errorf("flush stat cache: %w", err)
		}
		written += len(key) + len(val)
	}
	root := s.root
	if len(s.left) > 0 {
		root = objstore.ID{}
	}
	if root == s.disk {
		return nil
	}
	s.disk = root
	var err error
	if root.IsZero() {
		err = b.Delete([]byte{kv.PrefixStat})
	} else {
		err = b.Set([]byte{kv.PrefixStat}, appendCached(nil, "", stamp{kind: cachedRoot}, root))
	}
	if err != nil {
		return fmt.Errorf("flush stat cache: %w", err)
	}
	return nil
}

// changed lists the paths whose entries differ between the cache and staged.
func (s *staged) changed(c *Cache) []string {
	var paths []string
	for path, d := range s.dirs {
		old := c.dirs[path]
		if old != nil && old.files == d.files {
			continue
		}
		olds, news := old.list(), d.list()
		for len(olds) > 0 || len(news) > 0 {
			switch {
			case len(news) == 0 || len(olds) > 0 && olds[0].name < news[0].name:
				paths = append(paths, tree.Join(path, olds[0].name))
				olds = olds[1:]
			case len(olds) == 0 || news[0].name < olds[0].name:
				paths = append(paths, tree.Join(path, news[0].name))
				news = news[1:]
			default:
				if olds[0] != news[0] {
					paths = append(paths, tree.Join(path, news[0].name))
				}
				olds, news = olds[1:], news[1:]
			}
		}
	}
	for path := range s.gone {
		for _, f := range c.dirs[path].list() {
			paths = append(paths, tree.Join(path, f.name))
		}
	}
	return paths
}

// lookup finds entries as they are with the staged changes, fast for paths in their order.
type lookup struct {
	c     *Cache
	s     *staged
	any   bool
	dir   string // the directory of files
	files []cached
}

// find is the entry of a path, valid until the next find; nil: none.
func (l *lookup) find(path string) *cached {
	dir, name := tree.Split(path)
	if !l.any || dir != l.dir {
		d := l.s.dirs[dir]
		if d == nil && !l.s.gone[dir] {
			d = l.c.dirs[dir]
		}
		l.any, l.dir, l.files = true, dir, d.list()
	}
	return findCached(l.files, name)
}

// Committed says that the batch of the last Flush was committed: what the snapshot found is now in the cache.
func (c *Cache) Committed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.staged
	if s == nil {
		return
	}
	if !s.flushed { // no batch has the changes
		s.left, s.disk = append(s.changed(c), c.unflushed...), c.onDisk
	}
	for path := range s.gone {
		delete(c.dirs, path)
	}
	for path, d := range s.dirs {
		c.dirs[path] = d
	}
	c.root, c.base, c.unflushed, c.onDisk = s.root, s.base, s.left, s.disk
	c.staged = nil
}

// Discard drops what the last snapshot found.
func (c *Cache) Discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// forget drops what is staged. mu is held.
func (c *Cache) forget() {
	if c.staged != nil {
		c.staged.sight.restore()
	}
	c.staged = nil
}
