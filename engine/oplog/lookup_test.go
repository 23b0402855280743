package oplog_test

import (
	"bytes"
	"errors"
	"testing"
	"testing/iotest"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/tree"
)

// reads counts what is read of a store.
type reads struct {
	objstore.Getter
	n int
}

func (r *reads) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	r.n++
	return r.Getter.Get(k, id)
}

// TestLookups: paths that are in a tree and those that are not; a directory is read once.
func TestLookups(t *testing.T) {
	p := enginetest.NewProject(t)
	root := treeOf(p, map[string]string{"a": "a", "d/b": "b", "d/c/e": "e", "f": "f"})
	get := &reads{Getter: p.E.Log.Objs}
	in := oplog.NewLookups(get, root)
	for range 2 {
		for path, there := range map[string]bool{
			"a": true, "d": true, "d/b": true, "d/c/e": true, "f": true, "": false, "b": false, "z": false,
			"d/a": false, "a/b": false, "x/y": false, "x/y/z": false, "d/c/e/f": false,
		} {
			ent, err := in.Find(path)
			_, name := tree.Split(path)
			if err != nil || (ent != nil) != there || there && ent.Name != name {
				t.Errorf("%q: %+v, %v", path, ent, err)
			}
			_, err = p.E.Log.Lookup(&model.Checkpoint{ID: root, Tree: root}, path)
			var none *model.PathError
			if there = there || path == ""; (err == nil) != there || errors.As(err, &none) == there {
				t.Errorf("%q in a checkpoint: %v", path, err)
			}
			if none != nil && (none.Path != path || none.Checkpoint != root) {
				t.Errorf("%q: the error is of %+v", path, none)
			}
		}
	}
	if get.n != 3 {
		t.Errorf("3 directories were read %d times", get.n)
	}
	ent, err := oplog.NewLookups(p.E.Log.Objs, enginetest.TestID("none")).Find("a")
	if !errors.Is(err, objstore.ErrNotFound) || ent != nil {
		t.Errorf("in no tree: %+v, %v", ent, err)
	}
	if ent, err := oplog.NewLookups(p.E.Log.Objs, objstore.Zero).Find("a"); err != nil || ent != nil {
		t.Errorf("in the empty tree: %+v, %v", ent, err)
	}
	taken(p, objstore.Tree, root, 0)
	if _, err := p.E.Log.Lookup(&model.Checkpoint{Tree: root}, "a"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("in a tree that is gone: %v", err)
	}
}

// TestLenient: a tree that is known to be lost is empty, unless it is there again; all else is as the store has it.
func TestLenient(t *testing.T) {
	p := enginetest.NewProject(t)
	trees := map[string]objstore.ID{}
	for _, name := range []string{"there", "lost", "purged", "marked", "swept"} {
		trees[name] = treeOf(p, map[string]string{name: name})
	}
	taken(p, objstore.Tree, trees["lost"], objstore.Lost)
	taken(p, objstore.Tree, trees["purged"], objstore.Purged)
	taken(p, objstore.Tree, trees["swept"], 0)
	missed(p, objstore.Tree, trees["marked"])
	get := oplog.Lenient{Store: p.E.Log.Objs}
	for name, entries := range map[string]int{"there": 1, "lost": 0, "marked": 1, "purged": -1, "swept": -1} {
		list, err := tree.List(get, trees[name])
		if (err != nil) != (entries < 0) || len(list) != max(entries, 0) {
			t.Errorf("%s: %d entries, %v", name, len(list), err)
		}
	}
	lost := blob(p, "content")
	taken(p, objstore.Blob, lost.ID, objstore.Lost)
	if raw, err := get.Get(objstore.Blob, lost.ID); !errors.Is(err, objstore.ErrLost) {
		t.Errorf("a lost content: %q, %v", raw, err)
	}
}

const (
	sqliteHead = "SQLite format 3\x00"
	walHead    = "\x37\x7f\x06\x82"
)

// TestHeadOf: what a content begins with, from the store or the other source.
func TestHeadOf(t *testing.T) {
	p := enginetest.NewProject(t)
	c := goneContents(p, "")
	other := objtest.NewMap()
	for _, content := range []string{"elsewhere", sqliteHead + " and more", "purged"} {
		_, err := other.Put(objstore.Blob, []byte(content), objstore.Zero)
		p.Must(err)
	}
	for _, tt := range []struct {
		content, want string
		fails         bool
	}{
		{"there", "there", false},
		{"elsewhere", "elsewhere", false},
		{sqliteHead + " and more", sqliteHead, false},
		{"lost", "", false},
		{"swept", "", true},
	} {
		head, err := p.E.Log.HeadOf(other, objstore.Sum(objstore.Blob, []byte(tt.content)))
		if string(head) != tt.want || (err != nil) != tt.fails {
			t.Errorf("%q: %q, %v", tt.content, head, err)
		}
	}
	if head, err := p.E.Log.HeadOf(objtest.NewMap(), c.purged.ID); err != nil || len(head) != 0 {
		t.Errorf("purged: %q, %v", head, err)
	}
	for _, content := range []string{"", "short", sqliteHead, sqliteHead + "x"} {
		if head := oplog.ReadHead(bytes.NewReader([]byte(content))); string(head) != content[:min(len(content), 16)] {
			t.Errorf("%q begins with %q", content, head)
		}
	}
	if head := oplog.ReadHead(iotest.ErrReader(errors.New("broken"))); head != nil {
		t.Errorf("what cannot be read begins with %q", head)
	}
}

// TestDatabaseFiles: the files of a database, whichever of them is asked for.
func TestDatabaseFiles(t *testing.T) {
	p := enginetest.NewProject(t)
	root := treeOf(p, map[string]string{
		"db": sqliteHead + "1", "db-wal": "any", "db-shm": "", "db-journal/": "", "alone": sqliteHead,
		"f": "f", "f-wal": "no magic", "d/gone-wal": walHead, "duck": "12345678DUCK", "duck.wal": "any",
		"duck-wal": "no magic", "g": "g", "g-wal": walHead,
		"lost": "lost", "lost-wal": walHead + "2", "dir/": "", "dir-wal": walHead + "3",
	})
	taken(p, objstore.Blob, objstore.Sum(objstore.Blob, []byte("lost")), objstore.Lost)
	in := oplog.NewLookups(p.E.Log.Objs, root)
	for path, want := range map[string][]string{
		"db": {"db-shm", "db-wal", "db"}, "db-wal": {"db-shm", "db-wal", "db"},
		"db-journal": {"db-shm", "db-wal", "db"},
		"alone":      nil, "alone-wal": nil, "f": nil, "f-wal": nil, "none": nil,
		"d/gone-wal": {"d/gone-wal"}, "d/gone": {"d/gone-wal"},
		"duck": {"duck.wal", "duck"}, "duck.wal": {"duck.wal", "duck"}, "g": {"g-wal", "g"},
		"lost": {"lost-wal", "lost"},
		"dir":  {"dir-wal"},
	} {
		got, err := p.E.Log.DatabaseFiles(in, path)
		p.Must(err)
		enginetest.Equal(t, path, got, want)
	}
	taken(p, objstore.Blob, objstore.Sum(objstore.Blob, []byte(sqliteHead)), 0)
	if _, err := p.E.Log.DatabaseFiles(in, "alone"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("nothing tells of a content: %v", err)
	}
	taken(p, objstore.Blob, objstore.Sum(objstore.Blob, []byte("any")), 0)
	if _, err := p.E.Log.DatabaseFiles(in, "db"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("nothing tells of a companion's content: %v", err)
	}
	if _, err := p.E.Log.DatabaseFiles(oplog.NewLookups(p.E.Log.Objs, enginetest.TestID("none")), "db"); err == nil {
		t.Error("in no tree")
	}
}
