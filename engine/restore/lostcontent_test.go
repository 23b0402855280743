package restore_test

import (
	"errors"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/oplog"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// lose takes an object out of the store, as a repair does that finds it missing.
func lose(p *enginetest.Project, k objstore.Kind, id objstore.ID) {
	p.T.Helper()
	tx := p.E.Log.Objs.BeginAlone()
	p.Must(tx.Expunge(k, id.Key(), objstore.Tombstone{Reason: objstore.Lost}))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	p.Reopen()
}

// A checkpoint of which something is lost is not restored where that is asked for, and is where it is not; and what
// would need the lost state before it is not said to be undoable.
func TestCheckoutOfWhatIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose string // a path, of which the content or the whole directory is lost
		lost []string
		not  []refs.PathSet // requests that are refused
		can  []refs.PathSet
	}{
		"a file": {
			"d/x",
			[]string{"d/x"},
			[]refs.PathSet{nil, {"d"}, {"d/x"}, {"d/x", "f"}},
			[]refs.PathSet{{"f"}, {"d/y"}},
		},
		"a directory": {
			"d",
			[]string{"d"},
			[]refs.PathSet{nil, {"d"}},
			[]refs.PathSet{{"f"}},
		},
		"all of it": {
			"",
			[]string{""},
			[]refs.PathSet{nil},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			for _, text := range []string{"1", "2"} {
				for _, path := range []string{"f", "d/x", "d/y"} {
					p.Write(path, path+text)
				}
				p.Save(text)
			}
			one, two := p.Listed()[1].Checkpoint, p.Listed()[0].Checkpoint
			p.Checkout(one.ID.String(), restore.Options{})
			p.Checkout(two.ID.String(), restore.Options{})
			can := func() bool {
				list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
				p.Must(err)
				all, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
				p.Must(err)
				return all[0]
			}
			if !can() {
				t.Error("nothing is lost, and it cannot be undone")
			}
			kind, id := objstore.Tree, one.Tree
			if c.lose != "" {
				ent, err := tree.Lookup(p.E.Log.Objs, one.Tree, c.lose)
				p.Must(err)
				if id = ent.ID; ent.Type != tree.TypeDir {
					kind = objstore.Blob
				}
			}
			lose(p, kind, id)
			if can() {
				t.Error("what is needed is lost, and it can be undone")
			}
			before := enginetest.List(t, p.Root)
			for _, paths := range c.not {
				o := restore.Options{Scope: refs.Scope{Paths: paths}}
				_, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), o)
				var lost *oplog.LostError
				if !errors.As(err, &lost) || lost.Checkpoint != one.ID {
					t.Errorf("%q: %v", paths, err)
					continue
				}
				enginetest.Equal(t, "lost", lost.Paths, c.lost)
				p.WantTree(before)
			}
			for _, paths := range c.can {
				r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: paths}})
				if len(r.Plan.Steps) != 1 || r.Changed != 1 || p.Read(paths[0]) != paths[0]+"1" {
					t.Errorf("%q: %+v", paths, r.Plan.Steps)
				}
				_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
				p.Must(err)
				p.WantTree(before)
			}
		})
	}
}
