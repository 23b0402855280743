package restore_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/textdiff"
	"rewind/refs"
	"rewind/tree"
)

// A merge that goes to a safety step has what was unsaved there unsaved again, and keeps what another session did.
func TestMergeToASafetyStep(t *testing.T) {
	p := enginetest.NewProject(t)
	text := func(lines ...string) string { return strings.Join(lines, strings.Repeat("\nbetween", 8)+"\n") }
	p.Write("f", text("1", "1", "1"))
	p.Save("before")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	one := p.Get(a.Run("1", func() { p.Write("f", text("a's", "1", "1")) }))
	p.Write("unsaved", "by hand")
	as := model.SessionChoice{Session: "a"}
	gone := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: true}, Session: as})
	a.Run("2", func() { p.Write("f", text("a's again", "1", "1")) })
	b.Run("3", func() { p.Write("f", text("a's again", "b's", "1")) })
	p.Checkout(gone.Safety.ID.String(), restore.Options{Merge: true, Session: as})
	if p.Read("f") != text("a's", "b's", "1") || p.Read("unsaved") != "by hand" {
		t.Fatalf("%q, %q", p.Read("f"), p.Read("unsaved"))
	}
	head, err := p.E.Log.Head()
	p.Must(err)
	if e, err := tree.Lookup(p.E.Log.Objs, head.Tree, "unsaved"); err == nil {
		t.Errorf("what was unsaved counts as saved: %+v", e)
	}
}

// A directory that another session removed comes back for what the own session removed in it, and for that alone.
func TestDirectoryAwayByAnother(t *testing.T) {
	for name, own := range map[string]bool{"with an own file": true, "with none": false} {
		t.Run(name, func(t *testing.T) {
			p := enginetest.NewProject(t)
			p.Write("d/x", "x")
			p.Write("d/own", "own")
			p.Save("before")
			a, b := p.Agent("a"), p.Agent("b")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			target := p.Get(a.Run("1", func() { p.Write("f", "1") }))
			a.Run("2", func() { p.Write("f", "2") })
			if own {
				a.Run("3", func() { p.Remove("d/own") })
			}
			b.Run("4", func() { p.Must(os.RemoveAll(p.Path("d"))) })
			r := p.Checkout(target.ID.String(), restore.Options{Session: model.SessionChoice{Session: "a"}})
			kept := []string{"session d/x"}
			if !own {
				kept = []string{"session d", "session d/own", "session d/x"}
			}
			enginetest.Equal(t, "kept", p.KeptNames(r), kept)
			_, err := os.Stat(p.Path("d/own"))
			if _, gone := os.Stat(p.Path("d/x")); gone == nil || (err == nil) != own || p.Read("f") != "1" {
				t.Errorf("d/x %v, d/own %v, f %q", gone, err, p.Read("f"))
			}
		})
	}
}

// Forward goes to the turns that lie ahead of the point that was gone back to, and no further.
func TestForward(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	p.Back("turn:1", restore.Options{Session: model.SessionChoice{Session: k.Name()}})
	for _, n := range []int{-1, 0, 3} {
		var none *model.NoTurnAheadError
		_, err := p.E.Restorer.Forward(enginetest.Bg, n, restore.Options{Env: p.Env()})
		if !errors.As(err, &none) || none.There != 2 {
			t.Errorf("%d turns: %v", n, err)
		}
	}
	_, err := p.E.Restorer.Forward(enginetest.Bg, 1, restore.Options{Env: p.Env(), Prefer: textdiff.Ours})
	if !errors.Is(err, model.ErrUsage) {
		t.Errorf("with a side, and no merge: %v", err)
	}
	for _, c := range []struct {
		n    int
		text string
	}{{2, "3"}, {1, "2"}} {
		r, err := p.E.Restorer.Forward(enginetest.Bg, c.n, restore.Options{Env: p.Env()})
		p.Must(err)
		if p.Read("f") != enginetest.Big(c.text) || r.Conversation == nil {
			t.Errorf("%d turns: %q, %+v", c.n, p.Read("f"), r.Conversation)
		}
		_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
	}
	p.Verify()
}

// Switch to a branch within a session goes to its end, and saves what is unsaved on the branch that is left.
func TestSwitchToAWay(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	at := k.Parent
	k.Take("two", p.Edits("f", "2"))
	k.Parent = at // the person goes back behind the turn, and on in another way
	k.Take("otherwise", p.Edits("f", "3"))
	way := "turn:2@" + k.Name()
	p.Settle()
	found := func() error { _, err := p.E.History.Way(enginetest.Bg, way); return err }
	for until := time.Now().Add(time.Minute); found() != nil && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond) // a file that was written just now is not known yet
	}
	p.Must(found())
	p.Write("f", "unsaved")
	for name, o := range map[string]restore.Options{
		"turn:3@nobody": {},
		"turn:9":        {},
		way:             {Merge: true, Scope: refs.Scope{Exact: true}},
	} {
		o.Env = p.Env()
		if _, err := p.E.Restorer.Switch(enginetest.Bg, name, o); err == nil || p.Read("f") != "unsaved" {
			t.Errorf("%s: %v, %q", name, err, p.Read("f"))
		}
	}
	r, err := p.E.Restorer.Switch(enginetest.Bg, way, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Read("f") != enginetest.Big("2") || r.Conversation == nil || r.Conversation.Mode != model.ConversationFork {
		t.Fatalf("%q, %+v", p.Read("f"), r.Conversation)
	}
	_, err = p.E.Restorer.Switch(enginetest.Bg, k.Name(), restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Read("f") != "unsaved" {
		t.Errorf("back: %q", p.Read("f"))
	}
	p.Verify()
}

// What has no meaning is refused before anything is looked at.
func TestRefusedOptions(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Save("two")
	for name, o := range map[string]restore.Options{
		"an exact merge":               {Merge: true, Scope: refs.Scope{Exact: true}},
		"a merge of no files":          {Merge: true, Scope: refs.Scope{ContextOnly: true}},
		"a side, but nothing to merge": {Prefer: textdiff.Ours},
	} {
		if _, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), o); !errors.Is(err, model.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := p.Checkout(one.ID.String(), restore.Options{Merge: true}); p.Read("f") != "1" {
		t.Errorf("a merge of nothing: %q, %+v", p.Read("f"), r.Plan)
	}
}

// What was known before a repair is not believed: all that is there counts as unsaved, and comes back.
func TestCheckoutAfterARepair(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Write("g", "2")
	two := p.Save("two")
	p.Must(p.E.Log.Record(enginetest.Bg, refs.Operation{
		Kind: refs.KindRepair, Restore: &refs.Restore{Target: two.ID, Safety: one.ID},
	}))
	p.E.Log.Lock()
	p.E.Log.Forget()
	p.E.Log.Unlock()
	r := p.Checkout(one.ID.String(), restore.Options{})
	enginetest.Equal(t, "replaced", r.Plan.Replaced, []string{"f", "g"})
	if p.Read("f") != "1" {
		t.Errorf("f: %q", p.Read("f"))
	}
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	if p.Read("f") != "2" || p.Read("g") != "2" {
		t.Errorf("back: %q, %q", p.Read("f"), p.Read("g"))
	}
}
