package restore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/refs"
)

// What the log says can be undone is what UndoRestore takes back, for each operation after a random history: restores
// of every kind, sessions managed, undos, undos of undos, and session files that somebody removed.
func TestUndoable(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 19))
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			env := p.Env()
			listed := func() []history.Operation {
				list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
				p.Must(err)
				return list
			}
			manageOne := func(kind refs.Kind) {
				_, _ = p.E.Restorer.Manage(enginetest.Bg, manage.Request{ // what makes no sense is refused
					Kind: kind, Sessions: []string{k.Name()}, Title: fmt.Sprint("title ", rnd.IntN(3)), LastCopy: true,
					Env: env,
				})
			}
			managing := []refs.Kind{refs.KindRename, refs.KindDelete, refs.KindArchive, refs.KindUnarchive}
			for range 14 {
				switch rnd.IntN(7) {
				case 0:
					p.Write("f", enginetest.Big(fmt.Sprint(rnd.IntN(9))))
					p.Save("saved")
				case 1, 2:
					o := restore.Options{Env: env, CodeOnly: rnd.IntN(2) == 0}
					o.ContextOnly = !o.CodeOnly && rnd.IntN(2) == 0
					o.InPlace = !o.CodeOnly && rnd.IntN(2) == 0
					_, _ = p.E.Restorer.Checkout(enginetest.Bg, fmt.Sprintf("turn:%d@%s", 1+rnd.IntN(2), k.Name()), o)
				case 3:
					_, _ = p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Env: env})
				case 4:
					manageOne(managing[rnd.IntN(len(managing))])
				case 5:
					if list := listed(); len(list) > 0 {
						_, _ = p.E.Restorer.UndoRestore(enginetest.Bg, list[rnd.IntN(len(list))].Seq,
							restore.Options{Env: env})
					}
				case 6:
					if seed%3 == 2 && rnd.IntN(3) == 0 {
						_ = os.Remove(k.File)
					}
				}
				list := listed()
				can, err := p.E.Restorer.Undoable(enginetest.Bg, list, env)
				p.Must(err)
				for i, op := range list {
					_, err := p.E.Restorer.UndoRestore(enginetest.Bg, op.Seq, restore.Options{Env: env, DryRun: true})
					if (err == nil) != can[i] {
						t.Fatalf("%d %s (%s, undone by %d): can be undone: %v, undo-restore: %v", op.Seq, op.Kind,
							op.What(), op.Undone, can[i], err)
					}
				}
				if len(list) > 0 && list[0].Undone == 0 &&
					p.E.CanUndo(enginetest.Bg, &list[0].Operation, env) != can[0] {
					t.Fatalf("%d %s: status says that it can be undone: %v", list[0].Seq, list[0].Kind, !can[0])
				}
				if list := listed(); len(list) > 0 && can[0] { // the dry run tells the truth
					if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, list[0].Seq, restore.Options{Env: env}); err != nil {
						t.Fatalf("%d %s: %v", list[0].Seq, list[0].Kind, err)
					}
				}
			}
			p.Verify()
		})
	}
}

// What UndoRestore does not take back it refuses with the reason, and so do the list and the status.
func TestWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	went := p.Back("turn:1@"+k.Name(), restore.Options{})
	back, err := p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	p.Write("gone", "nobody's")
	p.Save("with it")
	p.Purge(purge.Options{Paths: []string{"gone"}})
	purged := p.E.Log.DB.LastSeq()
	name := manage.Request{Kind: refs.KindRename, Sessions: []string{k.Name()}, Title: "another", Env: p.Env()}
	named, err := p.E.Restorer.Manage(enginetest.Bg, name)
	p.Must(err)
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, named.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	alone := refs.Scope{ContextOnly: true}
	for what, c := range map[string]struct {
		seq  uint64
		of   refs.Scope
		says string
	}{
		"a checkpoint":                  {1, refs.Scope{}, "not a restore"},
		"a purge":                       {purged, refs.Scope{}, "purge"},
		"taken back already":            {went.Operation.Seq, refs.Scope{}, "took it back already"},
		"a name, taken back already":    {named.Operation.Seq, refs.Scope{}, "took it back already"},
		"a name, with the context only": {named.Operation.Seq, alone, "took it back already"},
		"none":                          {purged + 1000, refs.Scope{}, ""},
	} {
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, c.seq, restore.Options{Env: p.Env(), Scope: c.of})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", what, err, c.says)
		}
	}
	// the conversation of what was taken back may come alone, and what takes back can be taken back
	dry := restore.Options{Env: p.Env(), Scope: alone, DryRun: true}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, dry)
	p.Must(err)
	again, err := p.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Read("f") != enginetest.Big("1") || again.Operation.Restore.Undoes != back.Operation.Seq {
		t.Errorf("f is %.3q", p.Read("f"))
	}

	list, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
	p.Must(err)
	can, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
	p.Must(err)
	if !slices.Contains(can, true) || len(can) != len(list) {
		t.Fatalf("%v of %d", can, len(list))
	}
	p.Crashed("turn:2@"+k.Name(), restore.Options{}, false, 0)
	p.Reopen()
	can, err = p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
	if err != nil || len(can) != len(list) || slices.Contains(can, true) {
		t.Errorf("while a restore is half done: %v, %v", can, err)
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	if !errors.Is(err, model.ErrHalfDone) {
		t.Errorf("half done: %v", err)
	}
}

// Redo sets back whole what one checkout took back, also with what was unsaved when it did, and nothing lies ahead of
// that.
func TestRedoOfWhatWasTakenBack(t *testing.T) {
	t.Parallel()
	for _, unsaved := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		k.Take("three", p.Edits("g", "3"))
		p.Settle()
		w := model.SessionChoice{Session: k.Name()}
		if unsaved {
			p.Write("f", enginetest.Big("by hand"))
		}
		before := enginetest.List(t, p.Root)
		r := p.Checkout("turn:1", restore.Options{Session: w, TakeBack: true, CodeOnly: true})
		if !r.Operation.Restore.TakesBack || p.Read("f") != enginetest.Big("1") {
			t.Fatalf("%+v, f %.4q", r.Operation.Restore, p.Read("f"))
		}
		at, err := p.E.Log.Refs.ID(refs.Cursor(k.Name()))
		p.Must(err)
		ahead, err := p.E.Restorer.Ahead(k.Name(), at, nil)
		p.Must(err)
		if len(ahead) != 1 || ahead[0].Cause.Turn != 3 {
			t.Errorf("%d steps lie ahead", len(ahead))
		}
		var none *model.NoStepError
		_, err = p.E.Restorer.Redo(enginetest.Bg, 2, restore.Options{Session: w, CodeOnly: true})
		if !errors.As(err, &none) || !none.Ahead || none.There != 1 {
			t.Errorf("two steps: %v", err)
		}
		r, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Session: w, CodeOnly: true})
		p.Must(err)
		p.WantTree(before)
		if known := r.Plan.Target.ID == ahead[0].ID; known == unsaved {
			t.Errorf("unsaved %v: it goes to %s, the step is %s", unsaved, r.Plan.Target.ID.Short(),
				ahead[0].ID.Short())
		}
		_, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Session: w, CodeOnly: true})
		if !errors.As(err, &none) || none.There != 0 {
			t.Errorf("again: %v", err)
		}
		p.Verify()
	}
}

// Undo and redo where there is no step say so.
func TestUndoOfNothing(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("undo without a checkpoint: %v", err)
	}
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("redo without a checkpoint: %v", err)
	}
	p.Write("f", "1")
	p.Save("one")
	p.Write("f", "2")
	p.Save("two")
	for _, o := range []restore.Options{
		{Prefer: textdiff.Ours},
		{Merge: true, Scope: refs.Scope{Exact: true}},
		{Merge: true, Scope: refs.Scope{ContextOnly: true}},
	} {
		if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, o); !errors.Is(err, model.ErrUsage) {
			t.Errorf("undo: %v", err)
		}
		if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, o); !errors.Is(err, model.ErrUsage) {
			t.Errorf("redo: %v", err)
		}
	}
	// steps are of all files, whatever paths are named
	_, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"other"}}})
	p.Must(err)
	if p.Read("f") != "1" {
		t.Errorf("f is %q", p.Read("f"))
	}
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"other"}}})
	p.Must(err)
	if p.Read("f") != "2" {
		t.Errorf("f is %q", p.Read("f"))
	}
}

// What gc has taken the state before of is not taken back, and is told so; neither is what took a restore back half
// done.
func TestWhatIsNoRestoreAnyMore(t *testing.T) {
	t.Parallel()
	p, one, two, _ := twoStates(t)
	went := p.Checkout(one.ID.String(), restore.Options{})
	p.Crashed(two.ID.String(), restore.Options{}, false, 0)
	p.Reopen()
	aborted, err := p.E.Restorer.Abort(enginetest.Bg, p.Env())
	p.Must(err)
	refused := func(seq uint64, is error, says string) {
		t.Helper()
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, seq, restore.Options{})
		if !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
			t.Errorf("%d: %v, want %q", seq, err, says)
		}
	}
	can := func() []bool {
		t.Helper()
		list, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
		p.Must(err)
		var of []bool
		all, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
		p.Must(err)
		for i, op := range list {
			if op.Seq == went.Operation.Seq || op.Seq == aborted.Operation.Seq {
				of = append(of, all[i])
			}
		}
		return of
	}
	refused(aborted.Operation.Seq, model.ErrUsage, "not a restore")
	enginetest.Equal(t, "undoable", can(), []bool{false, true})
	for n := range 2 {
		p.E.Log.Now = func() time.Time { return time.Now().Add(time.Duration(n+1) * 200 * enginetest.ADay) }
		p.Write("later", fmt.Sprint(n))
		p.Save("later")
		p.Set("gc.grace", "0s")
		p.Gc(gc.Options{Keep: 2})
	}
	refused(went.Operation.Seq, model.ErrNotFound, "gc has removed the state before it")
	refused(0, model.ErrNoRestore, "")
	if of := can(); slices.Contains(of, true) {
		t.Errorf("undoable: %v", of)
	}
}

// A store that is damaged is only read: nothing is said to be undoable, and no stage is removed.
func TestUndoableOfADamagedStore(t *testing.T) {
	t.Parallel()
	p, one, _, _ := twoStates(t)
	p.Checkout(one.ID.String(), restore.Options{})
	list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
	p.Must(err)
	stage := project.MarkerDir + "/" + project.MarkerStage + "/" + restore.NewStageName()
	p.Must(os.MkdirAll(p.Path(stage), 0o700))
	p.Close()
	for _, salvage := range []bool{false, true} {
		if salvage {
			hurt(p)
		}
		o := p.Options()
		o.Salvage = salvage
		p.E, err = engine.Open(enginetest.Bg, p.Home, p.Root, o)
		p.Must(err)
		if (p.E.Log.Damage() != nil) != salvage {
			t.Fatalf("salvage %v: %v", salvage, p.E.Log.Damage())
		}
		can, err := p.E.Restorer.Undoable(enginetest.Bg, list, p.Env())
		if err != nil || len(can) != 1 || can[0] == salvage {
			t.Errorf("salvage %v: %v, %v", salvage, can, err)
		}
		if !salvage {
			p.Close()
			continue
		}
		p.E.Restorer.DropEmptyStages()
		if _, err := os.Stat(p.Path(stage)); err != nil {
			t.Errorf("the stage: %v", err)
		}
	}
}

// hurt has a closed store know of operations that it does not have.
func hurt(p *enginetest.Project) {
	p.T.Helper()
	f, err := p.FS.Create(p.FS.PathJoin(p.E.Log.Project.Store, "tide"), "test")
	p.Must(err)
	_, err = f.Write([]byte("100000\n"))
	p.Must(err)
	p.Must(errors.Join(f.Sync(), f.Close()))
}

// Where a read of the store fails, whether something can be undone is told rightly, or not at all.
func TestUndoableWhileReadsFail(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Back("turn:1@"+k.Name(), restore.Options{Scope: refs.Scope{ContextOnly: true}})
	p.Checkout("turn:1@"+k.Name(), restore.Options{CodeOnly: true})
	_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
		Kind: refs.KindRename, Sessions: []string{k.Name()}, Title: "another", Env: p.Env(),
	})
	p.Must(err)
	list, err := p.E.History.Operations(enginetest.Bg, 0, history.Restoring)
	p.Must(err)
	disk := p.FS.Clone(100, 1)
	ask := func(n int64) (can []bool, reads int64, err error) {
		var at atomic.Int64
		at.Store(-1 << 40)
		q := p.Copied(disk, func() error {
			if at.Add(1) == n {
				return syscall.EIO
			}
			return nil
		})
		defer q.Close()
		at.Store(0)
		can, err = q.E.Restorer.Undoable(enginetest.Bg, list, q.Env())
		reads = at.Load()
		return can, reads, err
	}
	want, reads, err := ask(0)
	p.Must(err)
	enginetest.Equal(t, "undoable", want, []bool{true, true, true})
	if reads < 10 {
		t.Fatalf("only %d reads", reads)
	}
	failed := 0
	for n := int64(1); n <= reads; n++ {
		can, _, err := ask(n)
		if err != nil {
			failed++
			if can[2] {
				t.Errorf("read %d of %d: %v, %v", n, reads, can, err)
			}
			continue
		}
		for i, is := range can {
			if is && !want[i] {
				t.Errorf("read %d of %d: %v", n, reads, can)
			}
		}
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}
