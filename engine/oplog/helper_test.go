package oplog_test

import (
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// set puts a record under a key of the store.
func set(p *enginetest.Project, key, val []byte) {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	p.Must(tx.Batch().Set(key, val))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
}

// blob stores a content and gives the entry of a file that has it.
func blob(p *enginetest.Project, content string) *tree.Entry {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	id, err := tx.Put(objstore.Blob, []byte(content), objstore.Zero)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return file(id, len(content))
}

func file(id objstore.ID, size int) *tree.Entry {
	return &tree.Entry{Name: "f", Type: tree.TypeFile, Perm: 0o644, ID: id, Size: int64(size)}
}

// treeOf stores a tree of files by their paths; a path that ends with a slash is a directory with nothing in it.
func treeOf(p *enginetest.Project, files map[string]string) objstore.ID {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	empty, err := tree.Encode(nil)
	p.Must(err)
	dir, err := tx.Put(objstore.Tree, empty, objstore.Zero)
	p.Must(err)
	steps, dirs := []tree.Change{}, map[string]bool{}
	for path, content := range files {
		for above, _ := tree.Split(path); above != "" && !dirs[above]; above, _ = tree.Split(above) {
			_, name := tree.Split(above)
			ent := &tree.Entry{Name: name, Type: tree.TypeDir, Perm: 0o755, ID: dir}
			steps, dirs[above] = append(steps, tree.Change{Path: above, New: ent}), true
		}
		if strings.HasSuffix(path, "/") {
			continue
		}
		id, err := tx.Put(objstore.Blob, []byte(content), objstore.Zero)
		p.Must(err)
		ent := file(id, len(content))
		_, ent.Name = tree.Split(path)
		steps = append(steps, tree.Change{Path: path, New: ent})
	}
	root, err := tree.Edit(tx, tx, objstore.Zero, steps)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return root
}

// taken takes an object out of the store; without a reason nothing tells of it.
func taken(p *enginetest.Project, k objstore.Kind, id objstore.ID, why objstore.Reason) {
	p.T.Helper()
	tx := p.E.Log.Objs.BeginAlone()
	if why == 0 {
		p.Must(tx.Drop(k, id.Key()))
	} else {
		p.Must(tx.Expunge(k, id.Key(), objstore.Tombstone{Reason: why}))
	}
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
}

// missed marks an object as lost that is still there.
func missed(p *enginetest.Project, k objstore.Kind, id objstore.ID) {
	p.T.Helper()
	tx := p.E.Log.Objs.BeginAlone()
	p.Must(tx.Miss(k, id.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
}

// rewrite gives a content other bytes, three of them.
func rewrite(p *enginetest.Project, id objstore.ID) {
	p.T.Helper()
	tx := p.E.Log.Objs.BeginAlone()
	p.Must(tx.Rewrite(objstore.Blob, id, []byte("BAD"), objstore.Tombstone{}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
}

// record appends an operation and gives its sequence.
func record(p *enginetest.Project, op refs.Operation) uint64 {
	p.T.Helper()
	p.Must(p.E.Log.Record(enginetest.Bg, op))
	return p.E.Log.DB.LastSeq()
}

// forget has the log read all of the store again.
func forget(p *enginetest.Project) {
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	p.E.Log.Forget()
}

// gives holds that a call gave a value and no error.
func gives[T comparable](t *testing.T, what string, want T) func(got T, err error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
}

// asked is how many keys of the store fn reads.
func asked(p *enginetest.Project, fn func() error) uint64 {
	p.T.Helper()
	before := p.E.Log.DB.Reads()
	p.Must(fn())
	return p.E.Log.DB.Reads() - before
}

// remember has the log know a head, or with nil none, and a note.
func remember(p *enginetest.Project, head *oplog.Head, note oplog.StoredNote) {
	p.T.Helper()
	c := p.E.Log.Begin()
	p.E.Log.ForgetHead()
	if head != nil {
		c.SetHead(*head)
	}
	c.SetNote(note)
	p.Must(c.CommitSilently(enginetest.Bg, kv.Written))
}

// knowsHead reports whether the log knows the newest state without reading.
func knowsHead(p *enginetest.Project) (known bool) {
	p.T.Helper()
	p.Must(p.E.Log.Pinned(func(k objstore.Kind, _ objstore.ID) error {
		known = known || k == objstore.Tree
		return nil
	}))
	return known
}
