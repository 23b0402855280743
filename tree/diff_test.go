package tree

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rewind/objstore"
	"rewind/objstore/objtest"
)

// state is a tree as a map from path to entry; directories are there too, their IDs are not compared.
type state map[string]Entry

var smallNames = rapid.SampledFrom([]string{"a", "a.b", "a-", "b", "c", "\xff", "A"})

func drawState(t *rapid.T) state {
	s := state{}
	dirs := []string{""}
	for range rapid.IntRange(0, 14).Draw(t, "entries") {
		dir := rapid.SampledFrom(dirs).Draw(t, "dir")
		name := smallNames.Draw(t, "name")
		path := Join(dir, name)
		if _, taken := s[path]; taken {
			continue
		}
		e := Entry{Name: name, Type: rapid.SampledFrom([]byte("fld")).Draw(t, "type")}
		if e.Type != TypeSymlink {
			e.Perm = rapid.SampledFrom([]uint16{0o644, 0o755}).Draw(t, "perm")
		}
		if e.Type == TypeDir {
			dirs = append(dirs, path)
		} else {
			e.ID = idOf(rapid.ByteRange(1, 3).Draw(t, "id"))
			if e.Type == TypeFile {
				e.Size = 1
			}
		}
		s[path] = e
	}
	return s
}

// change gives the state with some entries removed or different.
func (s state) change(t *rapid.T) state {
	next := maps.Clone(s)
	for _, path := range slices.Sorted(maps.Keys(s)) {
		e := s[path]
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0:
			delete(next, path)
		case 1:
			if e.Type == TypeFile {
				e.ID = idOf(9)
				next[path] = e
			}
		case 2:
			if e.Type != TypeSymlink {
				e.Perm ^= 0o100
				next[path] = e
			}
		case 3:
			next[path] = Entry{Name: e.Name, Type: TypeFile, ID: idOf(8), Size: 2}
		}
	}
	for path := range next { // nothing below what is no directory
		for dir, _ := Split(path); dir != ""; dir, _ = Split(dir) {
			if e, ok := next[dir]; !ok || e.Type != TypeDir {
				delete(next, path)
			}
		}
	}
	return next
}

func (s state) put(m *objtest.Map, dir string) objstore.ID {
	var entries []Entry
	for path, e := range s {
		if d, _ := Split(path); d == dir {
			if e.Type == TypeDir {
				e.ID = s.put(m, path)
			}
			entries = append(entries, e)
		}
	}
	return putTree(m, entries...)
}

// putTree stores entries.
func putTree(m *objtest.Map, entries ...Entry) objstore.ID {
	raw, err := Encode(entries)
	if err != nil {
		panic(err)
	}
	id, err := m.Put(objstore.Tree, raw, objstore.ID{})
	if err != nil {
		panic(err)
	}
	return id
}

// naive compares two maps.
func naive(a, b state) map[string]Change {
	want := map[string]Change{}
	for path, o := range a {
		if n, ok := b[path]; !ok {
			want[path] = Change{Path: path, Old: &o}
		} else if o.Type != n.Type || o.Perm != n.Perm || o.Type != TypeDir && o.ID != n.ID {
			want[path] = Change{Path: path, Old: &o, New: &n}
		}
	}
	for path, n := range b {
		if _, ok := a[path]; !ok {
			want[path] = Change{Path: path, New: &n}
		}
	}
	return want
}

func forget(e *Entry) *Entry {
	if e == nil || e.Type != TypeDir {
		return e
	}
	c := *e
	c.ID = objstore.ID{}
	return &c
}

func TestDiffAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawState(t)
		b := a.change(t)
		if rapid.IntRange(0, 4).Draw(t, "unrelated") == 0 {
			b = drawState(t)
		}
		m := objtest.NewMap()
		ida, idb := a.put(m, ""), b.put(m, "")
		if len(a) == 0 && rapid.Bool().Draw(t, "zero") {
			ida = objstore.ID{}
		}
		got := map[string]Change{}
		var order []string
		err := Diff(m, ida, idb, func(c Change) error {
			if _, twice := got[c.Path]; twice {
				t.Fatalf("%q twice", c.Path)
			}
			order = append(order, c.Path)
			got[c.Path] = Change{c.Path, forget(c.Old), forget(c.New)}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := naive(a, b); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if !slices.IsSortedFunc(order, ComparePaths) {
			t.Fatalf("order: %q", order)
		}
		var walked []string
		err = Walk(m, idb, func(path string, e Entry) error {
			walked = append(walked, path)
			found, err := Lookup(m, idb, path)
			if err != nil || found != e || !reflect.DeepEqual(forget(&e), forget(ptr(b[path]))) {
				t.Fatalf("%q: %v, %v", path, found, err)
			}
			return nil
		})
		if err != nil || len(walked) != len(b) || !slices.IsSortedFunc(walked, ComparePaths) {
			t.Fatalf("walk: %q, %v", walked, err)
		}
	})
}

func ptr(e Entry) *Entry { return &e }

// Equal subtrees are skipped by their id: they need not even be there.
func TestDiffDoesNotReadEqualSubtrees(t *testing.T) {
	m := objtest.NewMap()
	same := Entry{Name: "same", Type: TypeDir, ID: idOf(7)}
	a := putTree(m, same, Entry{Name: "f", Type: TypeFile, ID: idOf(1)})
	b := putTree(m, same, Entry{Name: "f", Type: TypeFile, ID: idOf(2)})
	n := 0
	if err := Diff(m, a, b, func(Change) error { n++; return nil }); err != nil || n != 1 {
		t.Fatalf("%d changes, %v", n, err)
	}
	if err := Diff(m, idOf(7), idOf(7), nil); err != nil {
		t.Fatal(err)
	}
}

func TestReadingStopsAndFails(t *testing.T) {
	m := objtest.NewMap()
	sub := putTree(m, Entry{Name: "x", Type: TypeFile, ID: idOf(1)})
	root := putTree(m, Entry{Name: "d", Type: TypeDir, ID: sub}, Entry{Name: "f", Type: TypeFile, ID: idOf(1)},
		Entry{Name: "gone", Type: TypeDir, ID: idOf(5)})

	var got []string
	collect := func(stop string, with error) func(string, Entry) error {
		got = nil
		return func(path string, _ Entry) error {
			got = append(got, path)
			if path == stop {
				return with
			}
			return nil
		}
	}
	if err := Walk(m, root, collect("d", SkipDir)); !errors.Is(err, objstore.ErrNotFound) || strings.Join(got, " ") != "d f gone" {
		t.Errorf("SkipDir: %q, %v", got, err)
	}
	if err := Walk(m, root, collect("f", SkipAll)); err != nil || strings.Join(got, " ") != "d d/x f" {
		t.Errorf("SkipAll: %q, %v", got, err)
	}
	mine := errors.New("mine")
	if err := Walk(m, root, collect("d/x", mine)); err != mine {
		t.Errorf("own error: %v", err)
	}
	if err := Diff(m, objstore.ID{}, root, func(c Change) error { return SkipAll }); err != nil {
		t.Errorf("SkipAll: %v", err)
	}
	if err := Diff(m, objstore.ID{}, root, func(c Change) error { return mine }); err != mine {
		t.Errorf("own error: %v", err)
	}
	if err := Diff(m, objstore.ID{}, root, func(c Change) error { return nil }); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("missing object: %v", err)
	}
	for path, want := range map[string]error{
		"d/y": ErrNotFound, "f/x": ErrNotFound, "no": ErrNotFound, "gone/x": objstore.ErrNotFound,
		"d/": ErrNotFound, "/d": ErrNotFound,
	} {
		if _, err := Lookup(m, root, path); !errors.Is(err, want) {
			t.Errorf("lookup %q: %v", path, err)
		}
	}
	if e, err := Lookup(m, root, ""); err != nil || e.ID != root || e.Type != TypeDir {
		t.Errorf("lookup root: %v, %v", e, err)
	}
	if _, err := Lookup(m, objstore.ID{}, "a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("lookup in the empty tree: %v", err)
	}
}

// A tree deeper than any path may be is refused, not followed until the stack ends.
func TestWalkDepthLimit(t *testing.T) {
	m := objtest.NewMap()
	id := putTree(m)
	for range MaxDepth + 1 {
		id = putTree(m, Entry{Name: "d", Type: TypeDir, ID: id})
	}
	var le *LimitError
	if err := Walk(m, id, func(string, Entry) error { return nil }); !errors.As(err, &le) {
		t.Errorf("walk: %v", err)
	}
	if err := Diff(m, objstore.ID{}, id, func(Change) error { return nil }); !errors.As(err, &le) {
		t.Errorf("diff: %v", err)
	}
}

func TestComparePaths(t *testing.T) {
	ordered := []string{"", "a", "a/b", "a/b/c", "a/b.c", "a\x01", "a!", "a.b", "aa", "b", "\xff"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := ComparePaths(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
		if dir, name := Split(a); Join(dir, name) != a {
			t.Errorf("%q: split %q, %q", a, dir, name)
		}
	}
}

func TestRenames(t *testing.T) {
	f := func(path string, id byte) *Entry {
		_, name := Split(path)
		return &Entry{Name: name, Type: TypeFile, ID: idOf(id), Size: 1}
	}
	gone := func(path string, id byte) Change { return Change{Path: path, Old: f(path, id)} }
	came := func(path string, id byte) Change { return Change{Path: path, New: f(path, id)} }
	empty := gone("empty", 4)
	empty.Old.Size = 0
	emptyToo := came("void", 4)
	emptyToo.New.Size = 0
	changes := []Change{
		// y keeps its name; x becomes z; c is a copy
		gone("a/x", 1), gone("a/y", 1), came("b/y", 1), came("b/z", 1), came("c", 1),
		gone("d", 2),
		{Path: "e", Old: f("e", 3), New: f("e", 2)}, // a modified file is no target
		empty, emptyToo,
		{Path: "l", Old: &Entry{Name: "l", Type: TypeSymlink, ID: idOf(6)}},
		{Path: "m", New: &Entry{Name: "m", Type: TypeSymlink, ID: idOf(6)}},
	}
	renames, rest := Renames(changes)
	var got []string
	for _, r := range renames {
		got = append(got, r.From.Path+">"+r.To.Path)
	}
	if s := strings.Join(got, " "); s != "a/y>b/y a/x>b/z" {
		t.Errorf("renames: %s", s)
	}
	got = nil
	for _, c := range rest {
		got = append(got, c.Path)
	}
	if s := strings.Join(got, " "); s != "c d e empty void l m" {
		t.Errorf("rest: %s", s)
	}
}
