package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/internal/torture"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// TestT2PowerCut cuts the power at any moment of a life of saves and restores, with 0, 25, 50 or 100 % of what was not
// synced still there: every checkpoint that was told to the user is there and whole, and the store opens.
func TestT2PowerCut(t *testing.T) {
	m := torture.Begin(t)
	told, cuts := 0, 0
	for seed := m.Seed - 1; seed < m.Seed-1+uint64(m.Points); seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		p := enginetest.OpenProject(t, t.TempDir(), t.TempDir())
		var acked []*model.Checkpoint
		for i := range 6 {
			p.Write(fmt.Sprintf("d%d/f", r.IntN(3)), fmt.Sprint(seed, i))
			acked = append(acked, p.Save(fmt.Sprint(i)))
			if r.IntN(3) == 0 {
				res := p.Checkout(acked[r.IntN(len(acked))].ID.String(), restore.Options{})
				if res.Safety != nil {
					acked = append(acked, res.Safety)
				}
			}
			if r.IntN(2) == 0 {
				continue
			}
			percent := []int{0, 25, 50, 100}[r.IntN(4)]
			afterCut(p, t, p.FS.Clone(percent, r.Uint64()), acked)
			told, cuts = told+len(acked), cuts+1
			m.Fired(1)
			m.Acked(len(acked))
		}
		p.Close()
		m.Point()
	}
	if cuts == 0 {
		t.Fatal("the power was never cut")
	}
	t.Logf("%d power cuts, %d checkpoints held against them, 0 lost", cuts, told)
}

func afterCut(p *enginetest.Project, t *testing.T, left *kvtest.CrashFS, acked []*model.Checkpoint) {
	t.Helper()
	e, err := engine.Open(context.Background(), p.Home, p.Root, project.Options{KV: kv.Options{FS: left}})
	if err != nil {
		t.Fatalf("open after a power cut: %v", err)
	}
	defer func() { p.Must(e.Close()) }()
	for _, cp := range acked {
		got, err := e.Log.Checkpoint(cp.ID)
		if err != nil {
			t.Fatalf("checkpoint %d is lost: %v", cp.Seq, err)
		}
		p.Must(tree.Walk(e.Log.Objs, got.Tree, func(path string, ent tree.Entry) error {
			if ent.Type == tree.TypeDir {
				return nil
			}
			_, err := e.Log.Objs.Get(objstore.Blob, ent.ID)
			return err
		}))
	}
	if _, err := e.Checker.Verify(enginetest.Bg, true, nil, func(err error) { t.Fatalf("verify after a power cut: %v", err) }); err != nil {
		t.Fatal(err)
	}
}

// TestT2Promise11PowerCutInARestore cuts the power whenever the store writes while a restore runs: where the tree is
// not as it was before, the store has the journal of the restore, or its end.
func TestT2Promise11PowerCutInARestore(t *testing.T) {
	for _, percent := range []int{0, 25, 50, 100} {
		p := enginetest.OpenProject(t, t.TempDir(), t.TempDir())
		p.Write("a/b", "1")
		one := p.Save("one")
		p.Write("a/b", "2")
		p.Write("c", "2")
		p.Save("two")
		p.Close()
		before := enginetest.List(t, p.Root)

		type cut struct {
			left *kvtest.CrashFS
			tree enginetest.Listing
		}
		var cuts []cut
		disk := kvtest.NewFaultFS(p.FS)
		e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: disk, GroupSync: time.Hour}})
		p.Must(err)
		disk.Hook(func(c kvtest.Call) {
			if c.Kind != kvtest.Read && strings.HasSuffix(c.Path, ".log") { // the restore waits for it
				tree := enginetest.List(t, p.Root) // first: the restore may go on while another one writes
				cuts = append(cuts, cut{left: p.FS.Clone(percent, uint64(len(cuts))), tree: tree})
			}
		})
		_, err = e.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
		disk.Hook(nil)
		p.Must(err)
		p.Must(e.Close())
		touched := 0
		for i, c := range cuts {
			e, err := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: c.left}})
			if err != nil {
				t.Fatalf("%d%%, cut %d: %v", percent, i, err)
			}
			j, err := e.Log.ReadJournal()
			p.Must(err)
			newest, err := e.Log.Refs.Operation(e.Log.DB.LastSeq())
			p.Must(err)
			if c.tree.Diff(before) != "" {
				if touched++; j == nil && newest.Kind != refs.KindCheckout {
					t.Errorf("%d%%, cut %d: the tree was touched, and the store knows nothing of it", percent, i)
				}
			}
			p.Must(e.Close())
		}
		if touched == 0 {
			t.Errorf("%d%%: none of %d cuts came while the tree was another", percent, len(cuts))
		}
	}
}

// TestT5StoreFaults makes the Nth read, write or sync of the store's files fail with EIO during a save and a checkout:
// an error is reported, or what was acknowledged is there; the tree is the target's or as it was.
func TestT5StoreFaults(t *testing.T) {
	if !enginetest.InChild(t) {
		return
	}
	m := torture.Begin(t)
	fired, failed := 0, 0
	kinds := []kvtest.Kind{kvtest.Read, kvtest.Write, kvtest.Sync}
	for _, kind := range kinds {
		probe := newFaulty(t)
		probe.Must(probe.checkout(nil))
		calls := probe.disk.Calls(kind)
		if calls < 10 {
			t.Fatalf("only %d calls to %v", calls, kind)
		}
		for _, n := range torture.Spread((m.Points+len(kinds)-1)/len(kinds), calls, m.Seed) {
			p := newFaulty(t)
			before := enginetest.List(t, p.Root)
			err := p.checkout(&kvtest.Fault{Kind: kind, N: n, Err: syscall.EIO})
			if p.disk.Fired() {
				fired++
				m.Fired(1)
			}
			if p.fatal != nil && err == nil {
				t.Fatalf("%v %d: the store failed (%v), but nobody was told", kind, n, p.fatal)
			}
			if err != nil {
				failed++
			}
			// The next process: it finds the files, but not the locks of the one that failed.
			e, oerr := engine.Open(enginetest.Bg, p.Home, p.Root, project.Options{KV: kv.Options{FS: p.FS.Clone(100, 0)}})
			if oerr != nil {
				t.Fatalf("%v %d: the store does not open again: %v", kind, n, oerr)
			}
			j, jerr := e.Log.ReadJournal()
			p.Must(jerr)
			if j != nil {
				if _, err := e.Restorer.Abort(enginetest.Bg, value.AgentEnv{}); err != nil {
					t.Fatalf("%v %d: abort: %v", kind, n, err)
				}
			}
			now := enginetest.List(t, p.Root)
			if b, _ := os.ReadFile(p.Path("a/b")); err == nil && string(b) != "1" {
				t.Fatalf("%v %d: acknowledged, but a/b is %q", kind, n, b)
			}
			if d := now.Diff(before); err != nil && j != nil && d != "" {
				t.Fatalf("%v %d: aborted, but not as before:\n%s", kind, n, d)
			}
			if _, err := e.Checker.Verify(enginetest.Bg, true, nil,
				func(err error) { t.Fatalf("%v %d: verify: %v", kind, n, err) }); err != nil {
				t.Fatal(err)
			}
			p.Must(e.Close())
			m.Acked(2) // two checkpoints, which verify has found whole
			m.Point()
		}
	}
	if fired*10 < m.Points*9 { // the number of calls varies a little
		t.Fatalf("only %d of %d faults fired", fired, m.Points)
	}
	t.Logf("%d faults, %d fired, %d reported", m.Points, fired, failed)
}

// faulty is a project with two checkpoints whose store lies on a disk that can fail.
type faulty struct {
	*enginetest.Project
	one   *model.Checkpoint
	disk  *kvtest.FaultFS
	fatal error
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	p := &faulty{Project: enginetest.OpenProject(t, t.TempDir(), t.TempDir())}
	p.Write("a/b", "1")
	p.one = p.Save("one")
	p.Write("a/b", "2")
	p.Write("c", "2")
	p.Save("two")
	p.Close()
	p.disk = kvtest.NewFaultFS(p.FS)
	return p
}

// checkout goes back to the first checkpoint in a life of its own, with a fault or none.
func (p *faulty) checkout(fault *kvtest.Fault) error {
	if fault != nil {
		p.disk.Set(fault)
	}
	e, err := engine.Open(enginetest.Bg, p.Home, p.Root,
		project.Options{KV: kv.Options{FS: p.disk, Fatal: func(err error) { p.fatal = err }}})
	if err != nil {
		return err
	}
	_, err = e.Restorer.Checkout(enginetest.Bg, p.one.ID.String(), restore.Options{})
	return errors.Join(err, e.Close())
}
