package restore_test

import (
	"fmt"
	"os"
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

// stateOf is whether a session is left, in a turn, and in which calls.
func stateOf(s model.Session) string {
	var calls []string
	for _, c := range s.OpenCalls() {
		calls = append(calls, c.ID)
	}
	return fmt.Sprint(s.Left, s.TurnRuns(), calls)
}

// A restore leaves the sessions of the family that do not go on, and what they were in the middle of is over; one on
// another branch in the middle of a turn goes on.
func TestWhoIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(p *enginetest.Project, k, fork *enginetest.Talker)
		k    string // what becomes of the session whose cursor moves
		fork string // and of the fork on which the project stood
	}{
		"at rest": {
			func(*enginetest.Project, *enginetest.Talker, *enginetest.Talker) {}, "false false []", "true false []",
		},
		"in a turn": {func(_ *enginetest.Project, _, fork *enginetest.Talker) {
			fork.Ask("go")
		}, "false false []", "false true []"},
		"in a call": {func(_ *enginetest.Project, _, fork *enginetest.Talker) {
			fork.Ask("go")
			fork.Before("open")
		}, "false false []", "false true [open]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			fork := p.Opened(p.Back("turn:1", restore.Options{}).Conversation.Fork)
			fork.Take("of its own", p.Edits("g", "fork"))
			p.Settle()
			if got := stateOf(p.Session(k.Name())); got != "true false []" {
				t.Errorf("behind the first: %s", got)
			}
			c.do(p, k, fork)
			p.Checkout("turn:2", restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true})
			if got := stateOf(p.Session(k.Name())); got != c.k {
				t.Errorf("the session: %s, want %s", got, c.k)
			}
			if got := stateOf(p.Session(fork.Name())); got != c.fork {
				t.Errorf("the fork: %s, want %s", got, c.fork)
			}
		})
	}
}

// The turn of a session whose own restore goes on in a fork is over, but a tool that runs runs. An undo-restore comes
// back to it as it was; a restore that goes on in it begins between turns.
func TestTurnThatIsLeft(t *testing.T) {
	t.Parallel()
	for _, tier := range []string{"balanced", "minimal"} {
		p, k := enginetest.TwoTurns(t)
		p.Settle()
		k.Agent = p.AgentIn(k.ID, tier)
		k.Ask("three")
		k.Before("open")
		r := p.Back("turn:1@"+k.Name(), restore.Options{})
		s := p.Session(k.Name())
		if r.Conversation.Fork == nil || stateOf(s) != "true false [open]" {
			t.Errorf("%s: %+v", tier, s)
		}
		if f := p.Session(r.Conversation.Session); f.Left || f.Busy || len(f.Calls) > 0 {
			t.Errorf("%s: the fork: %+v", tier, f)
		}
		running := map[string]string{"balanced": "false true [open]", "minimal": "false true [turn open]"}[tier]
		if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()}); err != nil {
			t.Fatal(err)
		}
		if got := stateOf(p.Session(k.Name())); got != running {
			t.Errorf("%s: behind undo-restore: %s, want %s", tier, got, running)
		}
		p.Back("turn:1@"+k.Name(), restore.Options{})
		p.Checkout("turn:2", restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true})
		b := p.Talker(2) // of another family
		b.Take("else", nil)
		if p.Session(b.Name()).Left {
			t.Errorf("%s: another session is left", tier)
		}
	}
}

// Of several unused forks of a place the restore's own serves before others, then the newest.
func TestWhichForkServes(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	fork := func(o restore.Options) *restore.Forked { return p.Fork("turn:1@"+k.Name(), o) }
	var made []string
	for range 3 {
		made = append(made, fork(restore.Options{}).Session)
	}
	reuse := func(session string) string {
		t.Helper()
		o := restore.Options{Reuse: true, DryRun: true, Session: model.SessionChoice{Session: session}}
		f := fork(o)
		if !f.Reused {
			t.Errorf("for %q none serves", session)
		}
		return f.Session
	}
	if got := reuse(""); got != made[2] {
		t.Errorf("%s serves, of %q", got, made)
	}
	p.Must(os.Remove(p.Session(made[2]).Transcript))
	if got := reuse(""); got != made[1] {
		t.Errorf("without the newest %s serves, of %q", got, made)
	}
	p.Opened(&model.Fork{Session: made[1], Path: p.Session(made[1]).Transcript}).Used("by hand")
	if got := reuse(""); got != made[0] {
		t.Errorf("with the next in use %s serves, of %q", got, made)
	}
}

// Who goes to a place before all conversations leaves an unused fork, which goes, and stands on the session that it was
// made of.
func TestGoingBeforeAllThatWasSaid(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	first := p.Listed()[len(p.Listed())-1]
	fork := p.Back("turn:1", restore.Options{}).Conversation.Fork
	r := p.Back(first.ID.String(), restore.Options{})
	at, err := p.E.Sessions.Position()
	p.Must(err)
	_, err = os.Stat(fork.Path)
	if gone := err != nil; gone == (at.Session == fork.Session) || p.Read("f") != enginetest.Big("0") {
		t.Errorf("at %+v, the fork is gone: %v; %+v", at, gone, r.Conversation)
	}
	before := at
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	if at, err = p.E.Sessions.Position(); err != nil || at.Session != fork.Session {
		t.Errorf("taken back, at %+v, %v, then %+v; of %s", at, err, before, k.Name())
	}
	if _, err := os.Stat(fork.Path); err != nil {
		t.Errorf("taken back: %v", err)
	}
	p.Verify()
}

// An undo-restore of whom the agents' files are not known leaves the conversation, as one of the code alone does: the
// session that goes on stays the same.
func TestUndoRestoreWithoutTheConversation(t *testing.T) {
	t.Parallel()
	stood := map[bool]string{}
	for _, codeOnly := range []bool{true, false} {
		p, k := enginetest.TwoTurns(t)
		p.Settle()
		fork := p.Back("turn:1", restore.Options{}).Conversation.Fork
		o := restore.Options{CodeOnly: codeOnly}
		if codeOnly {
			o.Env = p.Env()
		}
		r, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, o)
		p.Must(err)
		at, err := p.E.Sessions.Position()
		p.Must(err)
		if _, err := os.Stat(fork.Path); err != nil || p.Read("f") != enginetest.Big("2") {
			t.Errorf("code only %v: %v, f %.3q, %+v", codeOnly, err, p.Read("f"), r.Conversation)
		}
		stood[codeOnly] = map[string]string{k.Name(): "the session", fork.Session: "the fork"}[at.Session]
	}
	if stood[true] != stood[false] || stood[true] == "" {
		t.Errorf("at %v", stood)
	}
}

// A restore records the refs that it moves, and no other: the session that goes on may stand at the target already.
func TestCursorsThatDoNotMove(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	fork := p.Back("turn:1", restore.Options{}).Conversation.Session
	of := restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true, Env: p.Env()}
	for _, name := range []string{"turn:2", "turn:1", "turn:0", "turn:1"} {
		p.Write("f", "unsaved")
		r := p.Checkout(name, of)
		moved := map[refs.Name]bool{}
		for _, c := range r.Operation.Changes {
			if c.Old == c.New || moved[c.Name] {
				t.Errorf("%s: %+v", name, r.Operation.Changes)
			}
			moved[c.Name] = true
		}
		at, err := p.E.Sessions.Position()
		p.Must(err)
		if own, err := p.E.Log.Refs.ID(refs.Cursor(k.Name())); err != nil || own != r.Plan.Target.ID {
			t.Errorf("%s: the session is at %s, %v; %s goes on, of %s", name, own.Short(), err, at.Session, fork)
		}
	}
	p.Verify()
}

// A step that was made after a checkout is on its branch; once the checkout was taken back, redo leads on to what lay
// ahead before it, and not to that step.
func TestRedoBehindAnUndoneCheckout(t *testing.T) {
	p, k := enginetest.Begun(t)
	o := restore.Options{CodeOnly: true, Session: model.SessionChoice{Session: k.Name()}}
	for _, content := range []string{"one", "two", "three"} {
		k.Take(content, p.Edits("f", content))
	}
	now := func(when, want string) {
		t.Helper()
		if got := p.Read("f"); got != enginetest.Big(want) {
			t.Fatalf("%s: %q", when, got)
		}
	}
	_, err := p.E.Restorer.Undo(enginetest.Bg, 1, o)
	p.Must(err)
	now("undo", "two")
	went := p.Checkout("turn:1@"+k.Name(), o)
	k.Take("other", p.Edits("g", "other"))
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, went.Operation.Seq, o)
	p.Must(err)
	now("the checkout taken back", "two")
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, o)
	p.Must(err)
	now("redo", "three")
}
