package snapshot

import (
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// Promise 2, 6, T12: what is captured is exactly what is there, whatever the names, and again costs nothing.
func TestSnapshotCapturesExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := tempTree(rt)
		w := world{rt, root}
		for range rapid.IntRange(0, 25).Draw(rt, "adds") {
			w.add()
		}
		want := onDisk(rt, root)
		m := newMemStore()
		cache := newCache()
		first := shoot(rt, root, m, func(s *Source) { s.Cache = cache })
		sameItems(rt, inStore(rt, m, first.Root), want)
		if len(first.Skips) != 0 {
			rt.Fatalf("skips: %v", first.Skips)
		}
		if got := first.Files + first.dirs + first.Links; got != len(want) {
			rt.Fatalf("counts say %d, there are %d", got, len(want))
		}
		none := shoot(rt, root, newMemStore(), func(s *Source) { s.workers = 1 })
		if none.Root != first.Root {
			rt.Fatal("another root with one worker and no cache")
		}
	})
}

// The heart of the stat cache: whatever happens between snapshots, the next one is the one a fresh look would give.
func TestIncrementalEqualsFresh(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := tempTree(rt)
		w := world{rt, root}
		for range rapid.IntRange(0, 12).Draw(rt, "adds") {
			w.add()
		}
		m, cache := newMemStore(), newCache()
		var prev objstore.ID
		for range 2 {
			if rapid.Bool().Draw(rt, "age") {
				age()
			}
			r := shoot(rt, root, m, func(s *Source) { s.Cache, s.Prev = cache, prev })
			if rapid.IntRange(0, 3).Draw(rt, "commit") > 0 {
				cache.Committed()
				prev = r.Root
			} else {
				cache.Discard()
			}
			for range rapid.IntRange(0, 6).Draw(rt, "edits") {
				w.edit()
			}
		}
		r := shoot(rt, root, m, func(s *Source) { s.Cache, s.Prev = cache, prev })
		sameItems(rt, inStore(rt, m, r.Root), onDisk(rt, root))
		if fresh := shoot(rt, root, newMemStore(), nil); fresh.Root != r.Root {
			rt.Fatal("a fresh snapshot has another root")
		}
	})
}

// populate makes a small tree with something of everything.
func populate(t tb, root string) {
	t.Helper()
	for _, path := range []string{"a.txt", "dir/b.txt", "dir/sub/c.txt", "dir/sub/d.txt", "other/e.txt"} {
		write(t, root+"/"+path, "content of "+path)
	}
	check(t, os.Mkdir(root+"/empty", 0o755))
	check(t, os.Symlink("dir/b.txt", root+"/link"))
}

func TestUnchangedTreeReadsAndWritesNothing(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	write(t, root+"/.gitignore", "*.log\n")
	write(t, root+"/x.log", "ignored")
	age()
	m, cache := newMemStore(), newCache()
	first := shoot(t, root, m, func(s *Source) { s.Cache = cache })
	cache.Committed()
	if first.hashed != 6 || first.Links != 1 || first.dirs != 4 {
		t.Fatalf("first: %+v", first)
	}
	puts := m.puts
	fs := &watched{}
	again := shoot(t, root, m, func(s *Source) {
		s.Cache, s.Prev = cache, first.Root
		s.Root = fs.wrap(s.Root)
	})
	cache.Committed()
	if again.Root != first.Root || again.hashed != 0 || m.puts != puts || m.gets != 0 || fs.opens.Load() != 0 || again.puts != 0 {
		t.Fatalf("again: %+v, %d puts, %d gets, %d files opened", again, m.puts-puts, m.gets, fs.opens.Load())
	}

	// One edit: one file read, and one tree for every directory above it.
	write(t, root+"/dir/sub/c.txt", "edited")
	edited := shoot(t, root, m, func(s *Source) { s.Cache, s.Prev = cache, first.Root })
	if edited.hashed != 1 || m.puts-puts != 4 {
		t.Fatalf("edited: %+v, %d puts", edited, m.puts-puts)
	}
	for _, path := range []string{"", "dir", "dir/sub", "dir/sub/c.txt"} {
		was, err := tree.Lookup(m, first.Root, path)
		check(t, err)
		is, err := tree.Lookup(m, edited.Root, path)
		check(t, err)
		if m.prevs[is.ID] != was.ID || is.ID == was.ID {
			t.Errorf("%q: the object does not name the one it replaces", path)
		}
	}
}

// A cache that describes another tree is of use as well, but is not believed about what exists.
func TestCacheOfAnotherTree(t *testing.T) {
	root := tempTree(t)
	populate(t, root)
	age()
	cache := newCache()
	first := shoot(t, root, newMemStore(), func(s *Source) { s.Cache = cache })
	cache.Committed()

	m := newMemStore() // has nothing of it
	second := shoot(t, root, m, func(s *Source) { s.Cache = cache })
	if second.Root != first.Root || second.hashed != 5 {
		t.Fatalf("an empty store: %+v", second)
	}
	sameItems(t, inStore(t, m, second.Root), onDisk(t, root))

	third := shoot(t, root, m, func(s *Source) { s.Cache = cache })
	if third.hashed != 0 || third.puts != 0 {
		t.Fatalf("a store that has it all: %+v", third)
	}

	// A previous tree that is not the cache's: one object of it is gone from the store.
	b, err := tree.Lookup(m, first.Root, "dir/b.txt")
	check(t, err)
	prev := m.putTree(tree.Entry{Name: "a.txt", Type: tree.TypeFile, Perm: 0o644, ID: b.ID})
	delete(m.objects[objstore.Blob], b.ID)
	fourth := shoot(t, root, m, func(s *Source) { s.Cache, s.Prev = cache, prev })
	if fourth.Root != first.Root || fourth.hashed != 1 {
		t.Fatalf("a lost object: %+v", fourth)
	}
	sameItems(t, inStore(t, m, fourth.Root), onDisk(t, root))
}

// A change within the guard of the clock is not lost: same size, same time.
func TestRacilyCleanFileIsReadAgain(t *testing.T) {
	root := tempTree(t)
	m, cache := newMemStore(), newCache()
	var prev objstore.ID
	for i := range 50 {
		write(t, root+"/f", string(rune('a'+i%26)))
		st, err := os.Stat(root + "/f")
		check(t, err)
		now := func() time.Time { return st.ModTime().Add(guardFine - 1) }
		r := shoot(t, root, m, func(s *Source) { s.Cache, s.Prev, s.now = cache, prev, now })
		cache.Committed()
		prev = r.Root
		sameItems(t, inStore(t, m, r.Root), onDisk(t, root))
	}
	if cache.len() != 0 {
		t.Fatal("a file that was just written is trusted")
	}
}

// ageless is a directory whose files all have one time.
type ageless struct {
	worktreefs.Dir
	at int64
}

func (d ageless) Lstat(name string) (worktreefs.Stat, error) {
	st, err := d.Dir.Lstat(name)
	st.Mtime, st.Ctime = d.at, d.at
	return st, err
}

// Rules that changed within the guard of the clock are read again, too; later their stamp stands for them.
func TestRacilyCleanRulesAreReadAgain(t *testing.T) {
	root, m, cache, above := tempTree(t), newMemStore(), newCache(), ignore.New(ignore.Options{})
	write(t, root+"/a", "a")
	write(t, root+"/b", "b")
	for _, c := range []struct {
		rule  string
		after time.Duration
		noted string
	}{{"a", guardFine - 1, "a"}, {"b", guardFine - 1, "b"}, {"a", 2 * guardFine, "b"}} {
		write(t, root+"/.gitignore", c.rule+"\n")
		r := shoot(t, root, m, func(s *Source) {
			s.Root, s.Cache, s.Rules = ageless{s.Root, 5}, cache, above
			s.now = func() time.Time { return time.Unix(0, 5).Add(c.after) }
		})
		cache.Committed()
		wantNoted(t, r, "i "+c.noted)
	}
}
