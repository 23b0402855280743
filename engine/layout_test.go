package engine

import (
	"os"
	"path/filepath"
	"testing"

	"rewind/internal/kept"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/tree"
)

// A directory that is lost is left out and named; what else was asked for is there, and where it was not asked for it is not read.
func TestLayOutWithoutALostDirectory(t *testing.T) {
	p := newProject(t)
	p.write("d/f", "below")
	p.write("g", "beside")
	cp := p.save("1")
	ent, err := tree.Lookup(p.e.Log.Objs, cp.Tree, "d")
	p.must(err)
	tx := p.e.Log.Objs.BeginAlone()
	p.must(tx.Expunge(objstore.Tree, ent.ID.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.must(tx.Commit(bg, kv.Durable))
	for name, tt := range map[string]struct {
		paths []string
		left  int
	}{"all": {nil, 1}, "the rest": {[]string{"g"}, 0}} {
		to := filepath.Join(t.TempDir(), "out")
		r, err := p.e.Restorer.LayOut(bg, cp.ID.String(), to, tt.paths)
		if err != nil || len(r.Left) != tt.left || tt.left > 0 && (r.Left[0].Path != "d" || r.Left[0].Reason != kept.Lost || !r.Left[0].Dir) {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if b, err := os.ReadFile(filepath.Join(to, "g")); err != nil || string(b) != "beside" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if _, err := os.Lstat(filepath.Join(to, "d")); err == nil {
			t.Errorf("%s: there is a directory whose content is lost", name)
		}
	}
}
