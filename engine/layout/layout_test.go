package layout_test

import (
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/enginetest"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// A directory that is lost is left out and named; what else was asked for is there, and where it was not asked for it
// is not read.
func TestLayOutWithoutALostDirectory(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("d/f", "below")
	p.Write("g", "beside")
	cp := p.Save("1")
	ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, "d")
	p.Must(err)
	tx := p.E.Log.Objs.BeginAlone()
	p.Must(tx.Expunge(objstore.Tree, ent.ID.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	for name, tt := range map[string]struct {
		paths []string
		left  int
	}{"all": {nil, 1}, "the rest": {[]string{"g"}, 0}} {
		to := filepath.Join(t.TempDir(), "out")
		r, err := p.E.Layouts.LayOut(enginetest.Bg, cp.ID.String(), to, tt.paths)
		if err != nil || len(r.Left) != tt.left ||
			tt.left > 0 && (r.Left[0].Path != "d" || r.Left[0].Reason != value.KeptLost || !r.Left[0].Dir) {
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
