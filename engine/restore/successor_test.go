package restore_test

import (
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/objstore"
	"rewind/refs"
)

// A restore also moves the cursor of the session that goes on. Once another one has gone on, undo-restore of it takes
// that cursor back, but not one that was moved since.
func TestUndoRestoreOfOtherCursors(t *testing.T) {
	for _, c := range []struct {
		name  string
		since func(p *enginetest.Project, fork *enginetest.Talker)
		back  bool // the cursor of the fork goes back
	}{
		{"another session", func(p *enginetest.Project, _ *enginetest.Talker) {
			p.Talker(2).Take("go", p.Edits("g", "1"))
		}, true},
		{"the fork itself", func(p *enginetest.Project, fork *enginetest.Talker) {
			fork.Take("go", p.Edits("g", "1"))
		}, false},
		{"both", func(p *enginetest.Project, fork *enginetest.Talker) {
			fork.Take("go", p.Edits("g", "1"))
			p.Talker(2).Take("go", p.Edits("g", "2"))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			went := p.Back("turn:1", restore.Options{Session: model.SessionChoice{Session: k.Name()}})
			fork := went.Conversation.Session
			cursor := func() objstore.ID {
				t.Helper()
				id, err := p.E.Log.Refs.ID(refs.Cursor(fork))
				p.Must(err)
				return id
			}
			first := cursor()
			code := p.Checkout("turn:2@"+k.Name(), restore.Options{CodeOnly: true})
			moved := cursor()
			if first.IsZero() || first == moved {
				t.Fatalf("the cursor of %s went from %s to %s", fork, first.Short(), moved.Short())
			}
			c.since(p, p.Opened(&model.Fork{Session: fork, Path: went.Conversation.Path}))
			before := cursor()
			r, err := p.E.Restorer.UndoRestore(enginetest.Bg, code.Operation.Seq, restore.Options{CodeOnly: true})
			p.Must(err)
			moves := map[refs.Name]bool{}
			for _, c := range r.Operation.Changes {
				if moves[c.Name] {
					t.Errorf("%s is moved twice: %v", c.Name, r.Operation.Changes)
				}
				moves[c.Name] = true
			}
			want := before
			if c.back {
				want = first
			}
			if got := cursor(); got != want {
				t.Errorf("the cursor of the fork is at %s, want %s; it was at %s, %s, and before the undo %s", got.Short(), want.Short(),
					first.Short(), moved.Short(), before.Short())
			}
			p.Verify()
		})
	}
}

// TestUndoRestoreOfTheCodePlace: a checkout from a fork to a checkpoint of another session, of which the conversation
// stays, moves the place. Taking it back brings the place back, with the conversation asked for or not.
func TestUndoRestoreOfTheCodePlace(t *testing.T) {
	for _, again := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		fork := p.Fork("turn:1@"+k.Name(), restore.Options{})
		f := p.Opened(fork.Fork)
		f.Take("in the fork", p.Edits("f", "fork"))
		at := func() string {
			at, err := p.E.Sessions.Position()
			p.Must(err)
			return at.Session
		}
		was := at()
		p.Checkout("turn:2@"+k.Name(), restore.Options{Env: p.Env(), CodeOnly: true})
		there := at()
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env(), CodeOnly: again})
		p.Must(err)
		if at() != was || was == there {
			t.Errorf("code only %v: at %s, then %s, then %s", again, was, there, at())
		}
	}
}

// TestRedoBringsThePlaceBack: after undo of a session, made from another one, redo of it has the project stand where it
// stood before, with the conversation, without it, and where there is none.
func TestRedoBringsThePlaceBack(t *testing.T) {
	for _, talks := range []bool{true, false} {
		for _, codeOnly := range []bool{true, false} {
			p := enginetest.NewProject(t)
			p.Write("f", "0")
			p.Save("first")
			other := "claude/b"
			if talks {
				k := p.Talker(2)
				k.Take("one", p.Edits("g", "1"))
				k.Take("two", p.Edits("g", "2"))
				other = k.Name()
			} else {
				b := p.Agent("b")
				b.Start()
				b.Prompt("go")
				b.Run("1", func() { p.Write("g", "1") })
				b.Run("2", func() { p.Write("g", "2") })
				b.Stop()
			}
			here := p.Talker(1)
			here.Take("here", p.Edits("f", "1"))
			o := restore.Options{
				Session: model.SessionChoice{Session: other}, TakeBack: true, Env: p.Env(), CodeOnly: codeOnly,
			}
			_, err := p.E.Restorer.Undo(enginetest.Bg, 1, o)
			p.Must(err)
			_, err = p.E.Restorer.Redo(enginetest.Bg, 1, o)
			p.Must(err)
			if at, err := p.E.Sessions.Position(); err != nil || at.Session != here.Name() {
				t.Errorf("talks %v, code only %v: at %+v, %v", talks, codeOnly, at, err)
			}
		}
	}
}
