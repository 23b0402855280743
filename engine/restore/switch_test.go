package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// A switch with its session's file set brings back what was cut off that.
func TestSwitchInPlace(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	before := p.Slurp(k.File)
	p.Back("turn:1", restore.Options{InPlace: true})
	p.Settle()
	cut := p.Slurp(k.File)
	to := func(o restore.Options) *restore.Result {
		t.Helper()
		o.Env = p.Env()
		r, err := p.E.Restorer.Switch(enginetest.Bg, k.Name(), o)
		p.Must(err)
		return r
	}
	r := to(restore.Options{InPlace: true, DryRun: true})
	if r.Conversation.Mode != model.ConversationInPlace || p.Slurp(k.File) != cut {
		t.Errorf("dry run: %+v", r.Conversation)
	}
	r = to(restore.Options{InPlace: true})
	if r.Conversation.Mode != model.ConversationInPlace || p.Slurp(k.File) != before ||
		p.Read("f") != enginetest.Big("2") {
		t.Errorf("%+v, f %.3q", r.Conversation, p.Read("f"))
	}
	_, err := p.E.Restorer.Switch(enginetest.Bg, "claude/nobody", restore.Options{Env: p.Env()})
	if err == nil {
		t.Error("to a session that is not there")
	}
	p.Verify()
}

// Where the project stands already, a switch does nothing, with unsaved changes neither.
func TestSwitchToWhereItStands(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	to := func(o restore.Options) *restore.Result {
		t.Helper()
		o.Env = p.Env()
		r, err := p.E.Restorer.Switch(enginetest.Bg, k.Name(), o)
		p.Must(err)
		return r
	}
	p.Write("f", "unsaved")
	for _, inPlace := range []bool{true, false} { // the file has all of it
		r := to(restore.Options{InPlace: inPlace})
		if r.Operation != nil || r.Saved != nil || p.Read("f") != "unsaved" {
			t.Errorf("in place %v: there already: %+v, f %.8q", inPlace, r.Operation, p.Read("f"))
		}
		c := r.Conversation
		want := fmt.Sprint(model.ConversationOriginal, k.Name(), k.File, 2)
		if c == nil || fmt.Sprint(c.Mode, c.Session, c.Path, c.Turn) != want {
			t.Errorf("in place %v: there already: %+v", inPlace, c)
		}
	}
	if r := to(restore.Options{CodeOnly: true}); r.Operation != nil || r.Conversation != nil {
		t.Errorf("the code alone: %+v", r.Conversation)
	}
	plan := to(restore.Options{DryRun: true}).PlanHash
	if r := to(restore.Options{Plan: plan}); plan == "" || r.PlanHash != plan {
		t.Errorf("plan %q, then %q", plan, r.PlanHash)
	}
	another := strings.Repeat("0", len(plan))
	_, err := p.E.Restorer.Switch(enginetest.Bg, k.Name(), restore.Options{Env: p.Env(), Plan: another})
	if !errors.Is(err, restore.ErrMeanwhile) || !strings.HasPrefix(err.Error(), "changed since it was shown: ") {
		t.Errorf("another plan: %v", err)
	}
	p.Verify()
}

// What is unsaved when a branch is left becomes its newest step, a new file too; undo-restore brings back both.
func TestSwitchSavesWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write string
		exact bool
		saves bool
	}{
		"a change":              {"f", false, true},
		"nothing":               {"", false, false},
		"nothing, exact":        {"", true, false},
		"a new file":            {"new", false, true},
		"a new file, and exact": {"new", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, k := enginetest.TwoTurns(t)
			b := p.Talker(2)
			b.Take("else", p.Edits("h", "b's"))
			p.Settle()
			if c.write != "" {
				p.Write(c.write, "unsaved")
			}
			o := restore.Options{Env: p.Env(), Scope: refs.Scope{Exact: c.exact}}
			r, err := p.E.Restorer.Switch(enginetest.Bg, k.Name(), o)
			p.Must(err)
			if (r.Saved != nil) != c.saves || r.Safety == nil {
				t.Fatalf("saved %+v", r.Saved)
			}
			if c.saves && (r.Saved.Session != b.Name() || len(r.Plan.Replaced) > 0) {
				t.Errorf("saved %+v, replaced %v", r.Saved, r.Plan.Replaced)
			}
			at, err := p.E.Sessions.Position()
			p.Must(err)
			if at.Session != k.Name() || r.Operation.Session != k.Name() {
				t.Errorf("the project stands at %+v", at)
			}
			if c.write != "" && p.Cat(r.Safety, c.write) != "unsaved" {
				t.Errorf("the state before has %.8q", p.Cat(r.Safety, c.write))
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			if c.write != "" && p.Read(c.write) != "unsaved" {
				t.Errorf("taken back: %.8q", p.Read(c.write))
			}
			p.Verify()
		})
	}
}

// A fork that takes the code along saves what is unsaved on the branch that is left, unless the directory was laid out
// for it.
func TestForkWithCheckoutSavesWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, laidOut := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		p.Settle()
		p.Write("f", "unsaved")
		f, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{
			Session: model.SessionChoice{Session: k.Name()}, Checkout: true, LaidOut: laidOut, Env: p.Env(),
		})
		p.Must(err)
		saved := f.Restore.Saved
		if (saved != nil) == laidOut || p.Read("f") != enginetest.Big("1") {
			t.Errorf("laid out %v: saved %+v, f %.3q", laidOut, saved, p.Read("f"))
		}
		if saved != nil && saved.Session != k.Name() {
			t.Errorf("saved for %s", saved.Session)
		}
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
		p.Crashed("turn:1", restore.Options{}, false, 0)
		p.Reopen()
		files := len(p.Files())
		_, err = p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{Checkout: true, Env: p.Env()})
		if err == nil || len(p.Files()) != files {
			t.Errorf("half done: %v", err)
		}
	}
}
