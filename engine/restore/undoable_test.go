package restore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/engine/restore"
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
