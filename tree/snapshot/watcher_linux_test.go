package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"rewind/internal/torture"
	"rewind/objstore"
	"rewind/tree"
	"rewind/tree/ignore"
)

// txStore is a transaction: what is put into it is gone when it is not committed.
type txStore struct {
	memStore
	below *memStore
}

func begin(m *memStore) *txStore { return &txStore{*newMemStore(), m} } //nolint:govet // the mutex is new

func (x *txStore) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if raw, err := x.memStore.Get(k, id); err == nil {
		return raw, nil
	}
	return x.below.Get(k, id)
}

func (x *txStore) Has(k objstore.Kind, id objstore.ID) (bool, error) {
	if ok, _ := x.memStore.Has(k, id); ok {
		return true, nil
	}
	return x.below.Has(k, id)
}

func (x *txStore) commit() {
	for k, objs := range x.objects {
		for id, raw := range objs {
			x.below.objects[k][id] = raw
		}
	}
}

// overseen is a working tree under a watcher, or under none, and the store of its snapshots.
type overseen struct {
	t             tb
	root, outside string
	store         *memStore
	cache         *Cache
	w             *Watcher // nil: none
	prev          objstore.ID
	rules         *ignore.Dir
	tracked       paths
	named         *Named
	generation    int

	snapshots, incremental int
}

func unwatched(t tb) *overseen {
	t.Helper()
	return &overseen{
		t: t, root: tempTree(t), outside: tempTree(t), store: newMemStore(), cache: newCache(),
		rules: ignore.New(ignore.Options{}, builtin()),
	}
}

func oversee(t tb) *overseen {
	t.Helper()
	v := unwatched(t)
	w, err := Watch(v.root)
	check(t, err)
	v.w = w
	t.Cleanup(func() { _ = w.Close() })
	return v
}

// source is what both kinds of snapshots have in common.
func (v *overseen) source(s *Source) {
	s.Rules = v.rules
	s.Tracked, s.Named = v.tracked, v.named
	s.SizeLimit = 300
	s.Secret = func(path string) bool { return strings.HasSuffix(path, ".env") }
	s.SecretKey = idOf(7)
	s.Linked = func(_ string, dotGit []byte) bool { return string(dotGit) == "linked" }
}

// snap takes a snapshot with the watcher.
func (v *overseen) snap(mod func(*Source)) (*Result, *txStore, error) {
	x := begin(v.store)
	s := sourceOf(v.t, v.root, nil, v.source)
	defer s.Root.Close()
	s.Get, s.Put, s.Prev = x, x, v.prev
	s.Cache, s.Watcher, s.Generation = v.cache, v.w, fmt.Sprint(v.generation)
	if mod != nil {
		mod(&s)
	}
	base := v.cache.base
	r, err := Take(context.Background(), s)
	if err == nil && s.Force == nil {
		v.snapshots++
		if v.w == nil {
			if base != nil && v.cache.staged.base.taken(base) > 0 {
				v.incremental++
			}
		} else if base != nil && v.w.Status().Healthy && base.epoch == v.life() && base.inputs == inputsOf(&s) && !s.Full {
			v.incremental++
		}
	}
	return r, x, err
}

// life is the watcher's epoch; tests that nothing runs beside read it as it is.
func (v *overseen) life() uint64 {
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	return v.w.epoch
}

func (v *overseen) commit(r *Result, x *txStore) {
	x.commit()
	v.cache.Committed()
	v.prev = r.Root
	if b := v.cache.base; b != nil {
		left := len(v.cache.dirs)
		var walk func(d *baseDir, path string)
		walk = func(d *baseDir, path string) {
			if c := v.cache.dirs[path]; c != nil {
				left--
				if c.tree != d.id {
					v.t.Fatalf("%q: another tree in the cache", path)
				}
			}
			for _, sub := range d.subs {
				walk(sub, tree.Join(path, sub.name))
			}
		}
		walk(b.root, "")
		if left != 0 {
			v.t.Fatalf("%d directories in the cache that are no more", left)
		}
	}
}

// same takes a snapshot of a quiet tree and compares it to one that knows nothing.
func (v *overseen) same(mod func(*Source)) (*Result, *txStore) {
	v.t.Helper()
	r, x, err := v.snap(mod)
	check(v.t, err)
	s := sourceOf(v.t, v.root, newMemStore(), v.source)
	defer s.Root.Close()
	fresh, err := Take(context.Background(), s)
	check(v.t, err)
	if r.Root != fresh.Root || !slices.Equal(r.Skips, fresh.Skips) {
		sameItems(v.t, inStore(v.t, x, r.Root), inStore(v.t, s.Get, fresh.Root))
		v.t.Fatalf("another note\n%q, a fresh scan\n%q", noted(r), noted(fresh))
	}
	got, want := *r, *fresh
	for _, res := range []*Result{&got, &want} {
		res.Skips, res.hashed, res.hashedBytes, res.puts = nil, 0, 0, 0
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		v.t.Fatalf("counted %+v, a fresh scan %+v", got, want)
	}
	inStore(v.t, x, r.Root) // every object is there
	return r, x
}

// vandal edits a tree at random. What cannot be done is not done.
type vandal struct {
	root, outside string
	draw          func(n int) int
}

var (
	vandalNames = []string{"a", "b", "c", "d", "ig", "x.log", "t.env"}
	vandalRules = []string{"", "b\n", "ig/\n", "*.log\n", "!b\n!ig\n", "/a\n", "c/d\n", "*\n!*/\n", ".gitignore\n"}
)

// path draws a place in the tree, never one behind a symbolic link: it could be anywhere on the machine.
func (d vandal) path() string {
	path := d.root
	for range 1 + d.draw(4) {
		if fi, err := os.Lstat(path); err == nil && fi.Mode()&os.ModeSymlink != 0 {
			return path
		}
		path += "/" + vandalNames[d.draw(len(vandalNames))]
	}
	return path
}

// isLink reports whether a path is a symbolic link, which a call would follow.
func isLink(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode()&os.ModeSymlink != 0
}

func (d vandal) content() []byte {
	return bytes.Repeat([]byte{byte('a' + d.draw(26))}, []int{0, 5, 5, 5, 100, 400}[d.draw(6)])
}

func (d vandal) write(path string) {
	if d.leaves(path) {
		return
	}
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	put(path, d.content())
}

// leaves reports whether a symbolic link in a path could lead out of the tree.
func (d vandal) leaves(path string) bool {
	for ; len(path) > len(d.root); path = filepath.Dir(path) {
		if isLink(path) {
			return true
		}
	}
	return false
}

// wipe removes what is there; os.RemoveAll opens what it takes for the parent, and waits if that is a pipe.
func wipe(path string) {
	if _, err := os.Lstat(path); err == nil {
		_ = os.RemoveAll(path)
	}
}

// put writes a file and never waits for the other side of a pipe.
func put(path string, content []byte) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err == nil {
		_, _ = f.Write(content)
		_ = f.Close()
	}
}

func (d vandal) act() {
	path := d.path()
	act := d.draw(24)
	if isLink(path) && act != 4 && act != 5 && act != 6 && act != 7 && act != 9 && act != 12 && act != 13 && act != 16 && act != 18 {
		return // the others would follow it
	}
	switch act {
	case 0, 1, 2:
		d.write(path)
	case 3: // same size, and the times set back
		st, err := os.Lstat(path)
		if err == nil && st.Mode().IsRegular() {
			put(path, bytes.Repeat([]byte{byte('A' + d.draw(26))}, int(st.Size())))
			_ = os.Chtimes(path, st.ModTime(), st.ModTime())
		}
	case 4, 5, 6:
		_ = os.Rename(path, d.path())
	case 7:
		_ = os.Rename(path, fmt.Sprintf("%s/%d", d.outside, d.draw(3)))
	case 8:
		_ = os.Rename(fmt.Sprintf("%s/%d", d.outside, d.draw(3)), path)
	case 9:
		wipe(path)
	case 10: // a deep tree at once
		for i := range 1 + d.draw(3) {
			path += "/" + vandalNames[d.draw(len(vandalNames))]
			if d.leaves(path) {
				return
			}
			_ = os.MkdirAll(path, 0o755)
			d.write(fmt.Sprintf("%s/f%d", path, i))
		}
	case 11:
		_ = os.Chmod(path, []os.FileMode{0o644, 0o755, 0o700, 0o4755}[d.draw(4)])
	case 12, 13: // a link instead
		wipe(path)
		_ = os.Symlink([]string{"a", "../b", "..", d.outside, d.root + "/c", "nowhere"}[d.draw(6)], path)
	case 14, 15:
		name := []string{".gitignore", ".gitignore", ".rewindignore"}[d.draw(3)]
		put(filepath.Dir(path)+"/"+name, []byte(vandalRules[d.draw(len(vandalRules))]))
	case 16: // a file instead
		wipe(path)
		d.write(path)
	case 17: // as editors save
		d.write(path + "~")
		_ = os.Rename(path+"~", path)
	case 18:
		_ = unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, d.path(), unix.RENAME_EXCHANGE)
	case 19:
		_ = syscall.Mkfifo(path, 0o600)
	case 20: // something becomes a project of its own, or no longer is one
		id := d.root + "/" + vandalNames[d.draw(3)] + "/.agent/rewind/id"
		if os.Remove(id) != nil {
			d.write(id)
		}
	case 21:
		_ = os.Remove(path)
		_ = os.Mkdir(path, 0o755)
		d.write(path + "/in")
	case 22, 23:
		d.foreign(path)
	}
}

// foreign makes a directory git's, or another working tree, or no longer one.
func (d vandal) foreign(path string) {
	if d.leaves(path) {
		return
	}
	if d.draw(3) == 0 {
		if dot := path + "/.git"; os.Remove(dot) != nil {
			_ = os.MkdirAll(path, 0o755)
			put(dot, []byte([]string{"linked", "a submodule's"}[d.draw(2)]))
		}
		return
	}
	names := []string{"HEAD", "objects", "refs", "index"}
	if last := names[d.draw(len(names))]; os.Remove(path+"/"+last) == nil {
		return
	}
	_ = os.MkdirAll(path+"/objects", 0o755)
	_ = os.MkdirAll(path+"/refs", 0o755)
	put(path+"/HEAD", []byte("ref: refs/heads/main"))
	put(path+"/index", d.content())
}

// A snapshot with a watcher is the snapshot that a full scan gives, whatever happened before it, and whatever became of
// the snapshots before. An editor works between them, and alongside of some.
func TestWatcherEqualsFullScan(t *testing.T) {
	snapshots, incremental, checks := 0, 0, 1
	if torture.Full() {
		checks = 20
	}
	property := func(rt *rapid.T) {
		v := oversee(rt)
		d := vandal{v.root, v.outside, func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "n") }}
		for range rapid.IntRange(0, 15).Draw(rt, "begin") {
			d.act()
		}
		for range rapid.IntRange(1, 8).Draw(rt, "rounds") {
			v.round(rt, d)
		}
		snapshots, incremental = snapshots+v.snapshots, incremental+v.incremental
		if n := v.w.Status().Missed; n != 0 {
			rt.Fatalf("%d changes missed", n)
		}
		check(rt, v.w.Close())
	}
	for range checks {
		rapid.Check(t, property)
	}
	t.Logf("%d of %d snapshots were incremental", incremental, snapshots)
	if incremental < snapshots/3 {
		t.Error("the watcher was hardly used")
	}
}

func (v *overseen) round(rt *rapid.T, d vandal) {
	for range rapid.IntRange(0, 4).Draw(rt, "edits") {
		d.act()
	}
	if rapid.IntRange(0, 7).Draw(rt, "index") == 0 {
		path := strings.TrimPrefix(d.path(), v.root+"/")
		if i := slices.Index(v.tracked, path); i >= 0 {
			v.tracked = slices.Delete(slices.Clone(v.tracked), i, i+1)
		} else {
			v.tracked = append(slices.Clone(v.tracked), path)
		}
		v.generation++
	}
	if rapid.IntRange(0, 5).Draw(rt, "name") == 0 {
		v.named = v.named.With([]string{strings.TrimPrefix(d.path(), v.root+"/")})
	}
	if rapid.IntRange(0, 3).Draw(rt, "age") == 0 {
		age()
	}
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 0: // an editor alongside
		v.race(rapid.Uint64().Draw(rt, "seed"))
	case 1: // captured, not stored
		v.same(nil)
		v.cache.Discard()
	case 2: // the next one forgets it
		v.same(nil)
	case 3:
		force, below := ForcePaths([]string{"a/ig", "b"})
		_, _, err := v.snap(func(s *Source) { s.Force, s.ForceBelow = force, below })
		check(rt, err)
		v.cache.Discard()
	case 4:
		v.commit(v.same(func(s *Source) { s.Full = true }))
	case 5:
		if _, _, err := v.snap(func(s *Source) { s.Put = brokenStore{s.Put} }); err != nil && !errors.Is(err, errBroken) {
			check(rt, err)
		}
		v.cache.Discard()
	case 6: // another session's checkpoint came before
		_, x := v.same(func(s *Source) { s.Prev = objstore.ID{} })
		v.cache.Discard()
		_ = x
	case 7:
		if v.w == nil {
			v.commit(v.same(nil))
			return
		}
		if rapid.IntRange(0, 9).Draw(rt, "fault") == 0 {
			v.w.mu.Lock()
			v.w.fail(v.w.epoch, "a fault")
			v.w.mu.Unlock()
		}
		v.commit(v.same(nil))
	default:
		v.commit(v.same(nil))
	}
}

var errBroken = errors.New("broken")

type brokenStore struct{ Store }

func (brokenStore) Put(objstore.Kind, []byte, objstore.ID) (objstore.ID, error) {
	return objstore.ID{}, errBroken
}

// race takes snapshots while an editor works, and compares the first one after that.
func (v *overseen) race(seed uint64) {
	var editor sync.WaitGroup
	done := make(chan struct{})
	editor.Go(func() {
		defer close(done)
		r := rand.New(rand.NewPCG(seed, 1))
		d := vandal{v.root, v.outside, r.IntN}
		for range 60 {
			d.act()
		}
	})
	for working := true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		r, x, err := v.snap(nil)
		check(v.t, err)
		if v.snapshots%3 == 0 {
			v.cache.Discard()
		} else {
			v.commit(r, x)
		}
	}
	editor.Wait()
	v.commit(v.same(nil))
}

// The same with one editor that works all the time, and larger trees.
func TestWatcherEqualsFullScanAlongside(t *testing.T) {
	seed, rounds := uint64(11), 40
	if torture.Full() {
		seed, rounds = torture.Seed()+11, 1000
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	v := oversee(t)
	d := vandal{v.root, v.outside, r.IntN}
	for range 300 {
		d.act()
	}
	for range rounds {
		v.race(r.Uint64())
	}
	t.Logf("%d of %d snapshots were incremental; %+v", v.incremental, v.snapshots, v.w.Status())
	if v.incremental < v.snapshots/3 || v.w.Status().Missed != 0 {
		t.Error("the watcher was hardly used, or missed something")
	}
}

// What becomes of a directory or of a companion is decided by other names than those that come and go with it: a full
// scan after that has found nothing that the watcher missed.
func TestMissedNothingThatOtherNamesDecide(t *testing.T) {
	for name, c := range map[string]struct {
		before map[string]string
		change func(root string) error
	}{
		"is git's no longer": {
			map[string]string{"x/HEAD": "ref: a", "x/objects/o": "o", "x/refs/r": "r", "x/description": "d"},
			func(root string) error { return os.Remove(root + "/x/HEAD") },
		},
		"is git's now": {
			map[string]string{"x/objects/o": "o", "x/refs/r": "r", "x/description": "d"},
			func(root string) error { return os.WriteFile(root+"/x/HEAD", []byte("ref: a"), 0o644) },
		},
		"is a database now": {
			map[string]string{".gitignore": "*-wal\n", "a": "none", "a-wal": "\x37\x7f\x06\x82log"},
			func(root string) error { return os.WriteFile(root+"/a", []byte("SQLite format 3\x00now"), 0o644) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := oversee(t)
			for path, text := range c.before {
				check(t, os.MkdirAll(filepath.Dir(v.root+"/"+path), 0o755))
				put(v.root+"/"+path, []byte(text))
			}
			v.commit(v.same(nil))
			v.commit(v.same(nil))
			check(t, c.change(v.root))
			v.commit(v.same(func(s *Source) { s.Full = true }))
			if n := v.w.Status().Missed; n != 0 {
				t.Errorf("%d changes missed", n)
			}
		})
	}
}

// A directory that was reported itself is listed again, though it looks as before; one that was not is taken over.
func TestWatcherListsWhatWasTouched(t *testing.T) {
	v := oversee(t)
	write(t, v.root+"/d/f", "f")
	write(t, v.root+"/d/sub/f", "f")
	v.commit(v.same(nil))
	for _, c := range []struct {
		touched  string
		listings int
	}{{"d/f", 0}, {"d", 1}, {"d/sub", 1}} {
		st, err := os.Stat(v.root + "/" + c.touched)
		check(t, err)
		check(t, os.Chmod(v.root+"/"+c.touched, st.Mode().Perm()))
		age()
		listings := 0
		fs := &watched{fail: func(op, _ string) error {
			if op == "readdir" {
				listings++
			}
			return nil
		}}
		v.commit(v.same(func(s *Source) { s.Root, s.workers = fs.wrap(s.Root), 1 }))
		if listings != c.listings {
			t.Errorf("%s: %d directories listed, want %d", c.touched, listings, c.listings)
		}
	}
}

// What changed after a snapshot took it over is overlooked; what a snapshot does not have is not looked at.
func TestOverlooked(t *testing.T) {
	longer := func(path string) func(root string) error {
		return func(root string) error { return os.WriteFile(root+"/"+path, []byte("longer"), 0o644) }
	}
	for name, c := range map[string]struct {
		change func(root string) error
		paths  []string
		want   bool
	}{
		"nothing":       {nil, []string{"a", "d/f", "d/link", "x.env"}, false},
		"no such path":  {nil, []string{"d/none", "none"}, false},
		"content":       {longer("d/f"), []string{"a", "d/f"}, true},
		"another one's": {longer("d/f"), []string{"a"}, false},
		"gone":          {func(root string) error { return os.Remove(root + "/d/f") }, []string{"d/f"}, true},
		"its directory": {func(root string) error { return os.Rename(root+"/d", root+"/e") }, []string{"d/f"}, true},
		"a link's target": {func(root string) error {
			return errors.Join(os.Remove(root+"/d/link"), os.Symlink("elsewhere", root+"/d/link"))
		}, []string{"d/link"}, true},
		"a secret's": {longer("x.env"), []string{"x.env"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := oversee(t)
			for _, path := range []string{"a", "d/f", "x.env"} {
				write(t, v.root+"/"+path, path)
			}
			check(t, os.Symlink("target", v.root+"/d/link"))
			age()
			v.commit(v.same(nil))
			if got, err := v.cache.Overlooked(openRoot(t, v.root), c.paths); err != nil || got {
				t.Errorf("without a snapshot: %v, %v", got, err)
			}
			v.same(nil)
			if c.change != nil {
				check(t, c.change(v.root))
			}
			if got, err := v.cache.Overlooked(openRoot(t, v.root), c.paths); err != nil || got != c.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
