package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"rewind/internal/torture"
	"rewind/internal/worktreefs"
	"rewind/objstore"
	"rewind/tree"
)

// generation is the nth content of a file: every line says n, so that a mixture shows.
func generation(n, size int) []byte {
	line := fmt.Sprintf("generation %08d of the file\n", n)
	return bytes.Repeat([]byte(line), size/len(line)+1)[:size]
}

// aState reports whether data is one generation, or the beginning of one followed by the rest of the one before: what a
// write that is under way leaves for a moment.
func aState(data []byte, size int, mixed bool) bool {
	if len(data) == 0 {
		return true
	}
	var n int
	line := len(generation(0, 100)[:bytes.IndexByte(generation(0, 100), '\n')+1])
	if len(data) < line {
		return true
	}
	if _, err := fmt.Sscanf(string(data[:line]), "generation %d of", &n); err != nil {
		return false
	}
	want := generation(n, max(size, len(data)))
	i := 0
	for i < len(data) && data[i] == want[i] {
		i++
	}
	if i == len(data) {
		return true
	}
	if !mixed || n == 0 || len(data) != size {
		return false
	}
	return bytes.Equal(data[i:], generation(n-1, size)[i:])
}

// Promise 14, T14: a file that a program changes all the time is stored in a state that it was in, or flagged.
func TestT14Promise14FileChangesWhileRead(t *testing.T) {
	all := torture.Begin(t)
	for _, size := range []int{2000, 1 << 20} { // read at once, streamed
		for how, c := range map[string]struct {
			change func(t *testing.T, path string, n int)
			mixed  bool
		}{
			"append": {func(t *testing.T, path string, n int) {
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				check(t, err)
				defer f.Close()
				st, err := f.Stat()
				check(t, err)
				_, err = f.Write(generation(0, int(st.Size())+28)[st.Size():])
				check(t, err)
			}, false},
			"truncate": {func(t *testing.T, path string, n int) {
				if n%2 == 0 {
					check(t, os.Truncate(path, int64(size/3)))
				} else {
					check(t, os.WriteFile(path, generation(n, size), 0o644))
				}
			}, false},
			"rewrite": {func(t *testing.T, path string, n int) {
				check(t, os.WriteFile(path, generation(n, size), 0o644))
			}, false},
			"overwrite": {func(t *testing.T, path string, n int) {
				f, err := os.OpenFile(path, os.O_WRONLY, 0)
				check(t, err)
				defer f.Close()
				_, err = f.WriteAt(generation(n, size), 0)
				check(t, err)
			}, true},
			"rotate": {func(t *testing.T, path string, n int) {
				check(t, os.Rename(path, path+".1"))
				check(t, os.WriteFile(path, generation(n, size), 0o644))
			}, false},
		} {
			t.Run(fmt.Sprint(how, size), func(t *testing.T) {
				root := tempTree(t)
				path := root + "/f"
				check(t, os.WriteFile(path, generation(0, size), 0o644))
				stop, stopped := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(stopped)
					for n := 1; ; n++ {
						select {
						case <-stop:
							return
						default:
							c.change(t, path, n)
							time.Sleep(time.Duration(n%5) * 100 * time.Microsecond)
						}
					}
				}()
				cache := newCache()
				var prev objstore.ID
				torn := 0
				for range (all.Points + 9) / 10 {
					all.Point()
					m := newMemStore()
					r, err := Take(context.Background(), sourceOf(t, root, m, func(s *Source) { s.Cache, s.Prev = cache, prev }))
					check(t, err)
					cache.Committed()
					torn += r.torn
					all.Fired(r.torn)
					flagged := map[string]bool{}
					for _, s := range r.Skips {
						flagged[s.Path] = s.Reason == tree.ReasonTorn
					}
					for path, it := range inStore(t, m, r.Root) {
						if !flagged[path] && !aState([]byte(it.Content), size, c.mixed) {
							t.Errorf("%s: a state that never was, not flagged", path)
						}
					}
				}
				close(stop)
				<-stopped
				t.Logf("%d torn", torn)
				age()
				m := newMemStore()
				r := shoot(t, root, m, func(s *Source) { s.Cache = cache })
				sameItems(t, inStore(t, m, r.Root), onDisk(t, root))
			})
		}
	}
}

// The same with the change at a known moment: between two reads of the file.
func TestPromise14ChangeBetweenReads(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct {
		name    string
		old     bool // the file is old when the snapshot begins
		change  func(t *testing.T, path string, nth int64)
		torn    bool
		content func(nth int) []byte
	}{
		{"once", true, func(t *testing.T, path string, nth int64) {
			if nth == 2 {
				overwrite(t, path, generation(1, size))
			}
		}, false, func(int) []byte { return generation(1, size) }},
		{"once, young", false, func(t *testing.T, path string, nth int64) {
			if nth == 2 {
				overwrite(t, path, generation(1, size))
			}
		}, false, func(int) []byte { return generation(1, size) }},
		{"always", true, func(t *testing.T, path string, nth int64) {
			overwrite(t, path, generation(int(nth), size))
		}, true, nil},
		{"grows for ever", true, func(t *testing.T, path string, nth int64) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			check(t, err)
			defer f.Close()
			_, err = f.Write(make([]byte, size))
			check(t, err)
		}, true, nil},
		{"shrinks", true, func(t *testing.T, path string, nth int64) {
			if nth == 2 {
				check(t, os.Truncate(path, 10))
			}
		}, false, func(int) []byte { return generation(0, size)[:10] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tempTree(t)
			check(t, os.WriteFile(root+"/f", generation(0, size), 0o644))
			if c.old {
				time.Sleep(60 * time.Millisecond)
			}
			fired := false
			fs := &watched{onRead: func(name string, nth int64) {
				fired = true
				c.change(t, root+"/f", nth)
			}}
			m, cache := newMemStore(), newCache()
			r := shoot(t, root, m, func(s *Source) { s.Root, s.Cache = fs.wrap(s.Root), cache })
			cache.Committed()
			if !fired {
				t.Fatal("the change did not happen")
			}
			if (r.torn == 1) != c.torn || cache.len() != 0 {
				t.Errorf("torn: %d; %d in the cache", r.torn, cache.len())
			}
			if c.torn {
				wantNoted(t, r, "t f")
			} else {
				wantNoted(t, r)
				if got := inStore(t, m, r.Root)["f"].Content; got != string(c.content(0)) {
					t.Errorf("stored %d bytes that begin %.20q", len(got), got)
				}
			}
		})
	}
}

// overwrite changes a file and leaves its size and mtime as they were.
func overwrite(t *testing.T, path string, data []byte) {
	st, err := os.Stat(path)
	check(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteAt(data, 0)
	check(t, err)
	check(t, f.Close())
	check(t, os.Chtimes(path, st.ModTime(), st.ModTime()))
}

// A stamp that does not change although the content does, as when both changes fall into one tick of the file system's
// clock.
type frozen struct {
	worktreefs.Dir
	w *watched
}

type frozenFile struct {
	watchedFile
	st worktreefs.Stat
}

func (d frozen) Open(name string) (worktreefs.File, worktreefs.Stat, error) {
	f, st, err := d.Dir.Open(name)
	if err != nil {
		return nil, st, err
	}
	return &frozenFile{watchedFile{f, d.w, name}, st}, st, nil
}

func (f *frozenFile) Stat() (worktreefs.Stat, error) { return f.st, nil }

func TestPromise14ChangeWithinOneTick(t *testing.T) {
	for _, size := range []int{1000, 1 << 20} {
		root := tempTree(t)
		check(t, os.WriteFile(root+"/f", generation(0, size), 0o644))
		st, err := os.Stat(root + "/f")
		check(t, err)
		w := &watched{}
		w.onRead = func(_ string, nth int64) {
			if nth == 2 || size < 2000 && nth == 1 {
				// The beginning is read already, or for the small file: is about to be.
				overwrite(t, root+"/f", generation(1, size))
			}
		}
		m := newMemStore()
		r := shoot(t, root, m, func(s *Source) { s.Root, s.now = frozen{s.Root, w}, st.ModTime })
		wantNoted(t, r)
		if got := inStore(t, m, r.Root)["f"].Content; got != string(generation(1, size)) {
			t.Errorf("size %d: stored a mixture: %.20q ... %.20q", size, got, got[len(got)-20:])
		}
	}
}

// Paths that vanish or change type between being listed, looked at and opened.
func TestPathsThatChangeDuringTheScan(t *testing.T) {
	swap := func(path string, into byte) {
		_ = os.RemoveAll(path)
		switch into {
		case tree.TypeFile:
			_ = os.WriteFile(path, []byte("file"), 0o644)
		case tree.TypeDir:
			_ = os.Mkdir(path, 0o755)
			_ = os.WriteFile(path+"/in", []byte("in"), 0o644)
		case tree.TypeSymlink:
			_ = os.Symlink("target", path)
		}
	}
	for _, from := range []byte("fld") {
		for _, to := range []byte("fld-") {
			t.Run(string(from)+string(to), func(t *testing.T) {
				root := tempTree(t)
				swap(root+"/x", from)
				write(t, root+"/stays", "stays")
				fs := &watched{}
				var once sync.Once
				fs.onLstat = func(name string) { // what Lstat says is no longer true when it returns
					if name == "x" {
						once.Do(func() { swap(root+"/x", to) })
					}
				}
				m := newMemStore()
				r := shoot(t, root, m, func(s *Source) { s.Root = fs.wrap(s.Root) })
				wantNoted(t, r)
				sameItems(t, inStore(t, m, r.Root), onDisk(t, root))
			})
		}
	}
	t.Run("directory taken away while inside", func(t *testing.T) {
		root := tempTree(t)
		populate(t, root)
		fs := &watched{}
		fs.onLstat = func(name string) {
			if name == "b.txt" {
				check(t, os.RemoveAll(root+"/dir"))
			}
		}
		m := newMemStore()
		r := shoot(t, root, m, func(s *Source) { s.Root = fs.wrap(s.Root) })
		wantNoted(t, r)
		if _, err := tree.Lookup(m, r.Root, "dir/b.txt"); err == nil {
			t.Error("a file that was gone before it was opened")
		}
		got := inStore(t, m, r.Root)
		for path := range got {
			if strings.HasPrefix(path, "dir") {
				delete(got, path)
			}
		}
		sameItems(t, got, onDisk(t, root))
	})
}

// oneStamp is a tree whose ignore file always has the same stamp.
type oneStamp struct {
	worktreefs.Dir
	st worktreefs.Stat
}

func (d oneStamp) Lstat(name string) (worktreefs.Stat, error) {
	if name == ".gitignore" {
		return d.st, nil
	}
	return d.Dir.Lstat(name)
}

// An ignore file that changes within one tick of the clock is read again.
func TestRulesChangeWithinOneTick(t *testing.T) {
	root := tempTree(t)
	m, cache := newMemStore(), newCache()
	write(t, root+"/x", "x")
	now := time.Now()
	for _, rule := range []string{"x\n", "y\n"} {
		write(t, root+"/.gitignore", rule)
		r := shoot(t, root, m, func(s *Source) {
			s.Root = oneStamp{s.Root, worktreefs.Stat{Type: worktreefs.TypeFile, Mtime: now.UnixNano(), Ctime: 1, Size: 2}}
			s.Cache, s.now = cache, func() time.Time { return now }
		})
		cache.Committed()
		if _, err := tree.Lookup(m, r.Root, "x"); (err == nil) != (rule == "y\n") {
			t.Errorf("rule %q: %v", rule, err)
		}
	}
}
