package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"rewind/internal/kv"
	"rewind/internal/kv/kvtest"
	"rewind/objstore"
	"rewind/tree"
)

// TestT2PowerCut cuts the power at any moment of a life of saves and restores, with 0, 25, 50 or 100 % of what was not
// synced still there: every checkpoint that was told to the user is there and whole, and the store opens.
func TestT2PowerCut(t *testing.T) {
	seeds := 100
	if torture() {
		seeds = 1000
	}
	told, cuts := 0, 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		p := openProject(t, t.TempDir(), t.TempDir())
		var acked []*Checkpoint
		for i := range 6 {
			p.write(fmt.Sprintf("d%d/f", r.IntN(3)), fmt.Sprint(seed, i))
			acked = append(acked, p.save(fmt.Sprint(i)))
			if r.IntN(3) == 0 {
				res := p.checkout(acked[r.IntN(len(acked))].ID.String(), RestoreOptions{})
				if res.Safety != nil {
					acked = append(acked, res.Safety)
				}
			}
			if r.IntN(2) == 0 {
				continue
			}
			percent := []int{0, 25, 50, 100}[r.IntN(4)]
			p.afterCut(t, p.fs.Clone(percent, r.Uint64()), acked)
			told, cuts = told+len(acked), cuts+1
		}
		p.close()
	}
	if cuts == 0 {
		t.Fatal("the power was never cut")
	}
	t.Logf("%d power cuts, %d checkpoints held against them, 0 lost", cuts, told)
}

func (p *project) afterCut(t *testing.T, left *kvtest.CrashFS, acked []*Checkpoint) {
	t.Helper()
	e, err := Open(context.Background(), p.home, p.root, Options{KV: kv.Options{FS: left}})
	if err != nil {
		t.Fatalf("open after a power cut: %v", err)
	}
	defer func() { p.must(e.Close()) }()
	for _, cp := range acked {
		got, err := e.checkpoint(cp.ID)
		if err != nil {
			t.Fatalf("checkpoint %d is lost: %v", cp.Seq, err)
		}
		p.must(tree.Walk(e.objs, got.Tree, func(path string, ent tree.Entry) error {
			if ent.Type == tree.TypeDir {
				return nil
			}
			_, err := e.objs.Get(objstore.Blob, ent.ID)
			return err
		}))
	}
	if _, err := e.Verify(bg, true, nil, func(err error) { t.Fatalf("verify after a power cut: %v", err) }); err != nil {
		t.Fatal(err)
	}
}

// TestT5StoreFaults makes the Nth read, write or sync of the store's files fail with EIO during a save and a checkout:
// an error is reported, or what was acknowledged is there; the tree is the target's or as it was.
func TestT5StoreFaults(t *testing.T) {
	if !inChild(t) {
		return
	}
	points := 50
	if torture() {
		points = 200
	}
	fired, failed := 0, 0
	for i := range points {
		kind := []kvtest.Kind{kvtest.Read, kvtest.Write, kvtest.Sync}[i%3]
		p := openProject(t, t.TempDir(), t.TempDir())
		p.write("a/b", "1")
		one := p.save("one")
		p.write("a/b", "2")
		p.write("c", "2")
		p.save("two")
		p.close()
		before := list(t, p.root)

		faults := kvtest.NewFaultFS(p.fs)
		var fatal error
		o := Options{KV: kv.Options{FS: faults, Fatal: func(err error) { fatal = err }}}
		faults.Set(&kvtest.Fault{Kind: kind, N: 1 + i/3, Err: syscall.EIO})
		err := func() error {
			e, err := Open(bg, p.home, p.root, o)
			if err != nil {
				return err
			}
			_, err = e.Checkout(bg, one.ID.String(), RestoreOptions{})
			return errors.Join(err, e.Close())
		}()
		if faults.Fired() {
			fired++
		}
		if fatal != nil && err == nil {
			t.Fatalf("%v %d: the store failed (%v), but nobody was told", kind, i, fatal)
		}
		if err != nil {
			failed++
		}
		// The next process: it finds the files, but not the locks of the one that failed.
		e, oerr := Open(bg, p.home, p.root, Options{KV: kv.Options{FS: p.fs.Clone(100, 0)}})
		if oerr != nil {
			t.Fatalf("%v %d: the store does not open again: %v", kind, i, oerr)
		}
		j, jerr := e.readJournal()
		p.must(jerr)
		if j != nil {
			if _, err := e.Abort(bg, AgentEnv{}); err != nil {
				t.Fatalf("%v %d: abort: %v", kind, i, err)
			}
		}
		now := list(t, p.root)
		if b, _ := os.ReadFile(p.path("a/b")); err == nil && string(b) != "1" {
			t.Fatalf("%v %d: acknowledged, but a/b is %q", kind, i, b)
		}
		if d := now.diff(before); err != nil && j != nil && d != "" {
			t.Fatalf("%v %d: aborted, but not as before:\n%s", kind, i, d)
		}
		if _, err := e.Verify(bg, true, nil, func(err error) { t.Fatalf("%v %d: verify: %v", kind, i, err) }); err != nil {
			t.Fatal(err)
		}
		p.must(e.Close())
	}
	if fired < points/3 {
		t.Fatalf("only %d of %d faults fired", fired, points)
	}
	t.Logf("%d faults, %d fired, %d reported", points, fired, failed)
}
