package restore_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// A name that stands for the project as it was takes back what all sessions did that are at rest; one of a session's
// own step leaves what its colleagues did, and so does who says for whom he asks.
func TestNamesOfNoSession(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	p.E.Log.Now = func() time.Time { return now }
	commit := func(digit string) {
		p.Must(os.MkdirAll(p.Path(".git/objects"), 0o755))
		p.Write(".git/HEAD", "ref: refs/heads/main\n")
		p.Write(".git/refs/heads/main", strings.Repeat(digit, 40)+"\n")
	}
	commit("1")
	p.Write("f", "0")
	p.Write("g", "0")
	byHand := p.Save("by hand")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	commit("2")
	h := a.Run("1", func() { p.Write("f", "1") })
	p.Tagged("works", h)
	one := p.Get(h)
	now = now.Add(2 * time.Hour)
	commit("3")
	saved, err := p.E.Worktree.Save(enginetest.Bg, a.Name(), "of a session", nil)
	p.Must(err)
	if saved.Unchanged {
		p.Write("f", "2")
		saved, err = p.E.Worktree.Save(enginetest.Bg, a.Name(), "of a session", nil)
		p.Must(err)
	}
	b.Run("2", func() { p.Write("g", "b's") })
	a.Run("3", func() { p.Write("f", "3") })
	a.Stop()
	b.Stop()
	now = now.Add(time.Hour)
	ofA := restore.Options{Session: model.SessionChoice{Session: "a"}}
	for name, c := range map[string]struct {
		name string
		o    restore.Options
		goes bool
	}{
		"a tag":                       {"works", restore.Options{}, true},
		"a time":                      {"@{2h}", restore.Options{}, true},
		"a commit":                    {"2222222", restore.Options{}, true},
		"what a person saved":         {byHand.ID.String(), restore.Options{}, true},
		"what was saved in a session": {saved.Checkpoint.ID.String(), restore.Options{}, true},
		"a step":                      {one.ID.String(), restore.Options{}, false},
		"how a step's id begins":      {one.ID.String()[:4], restore.Options{}, false},
		"a tag, for a session":        {"works", ofA, false},
		"a time, for a session":       {"@{2h}", ofA, false},
		"a turn":                      {"turn:0@a", restore.Options{}, false},
		"where a session stands":      {"session:a~1", restore.Options{}, false},
	} {
		c.o.DryRun = true
		r := p.Checkout(c.name, c.o)
		stays := slices.Contains(p.KeptNames(r), "session g")
		goes := false
		for _, s := range r.Plan.Steps {
			goes = goes || s.Path == "g"
		}
		if goes != c.goes || stays == c.goes {
			t.Errorf("%s: g goes %v, stays %v; kept %v", name, goes, stays, p.KeptNames(r))
		}
	}
}

// Who stands on a fork that nobody has used stands on the branch that it was made of: to take turns back there is to
// take them back on that one, and what a person did stays.
func TestTakeBackFromAnUnusedFork(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	p.Write("h", "by hand")
	p.Save("by hand")
	o := restore.Options{TakeBack: true, Session: model.SessionChoice{Session: k.Name()}}
	if c := p.Back("turn:1", o).Conversation; c.Mode != model.ConversationFork {
		t.Fatalf("%+v", c)
	}
	for _, name := range []string{"turn:2@", "turn:3@", "turn:2@"} {
		r := p.Back(name+k.Name(), restore.Options{TakeBack: true})
		if p.Read("h") != "by hand" || p.Read("f") != enginetest.Big(name[5:6]) || r.Operation == nil ||
			!r.Operation.Restore.TakesBack {
			t.Errorf("%s: f %.3q, h %q", name, p.Read("f"), p.Read("h"))
		}
	}
	p.Back("turn:1@"+k.Name(), restore.Options{Scope: exact, CodeOnly: true})
	if _, err := os.Stat(p.Path("h")); err == nil {
		t.Error("who goes there takes what a person did, too")
	}
}

// What was taken back from a fork that has made no step is done again from there, too, though the project goes on in
// another one by then: nobody has opened it, or somebody has and said nothing yet.
func TestRedoFromAForkWithoutSteps(t *testing.T) {
	t.Parallel()
	for _, opened := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		k.Take("three", p.Edits("f", "3"))
		o := restore.Options{TakeBack: true, Session: model.SessionChoice{Session: k.Name()}}
		fork := p.Back("turn:2", o).Conversation.Fork
		if opened {
			_, id := model.SplitSession(fork.Session)
			p.PickUp(hooks.Claude, id, fork.Path).Tell(hooks.SessionStart, map[string]any{"source": "resume"})
		}
		o.Session.Session = fork.Session
		p.Back("turn:1", o)
		_, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Session: o.Session})
		if p.Must(err); p.Read("f") != enginetest.Big("2") {
			t.Errorf("opened %v: f %.3q", opened, p.Read("f"))
		}
	}
}

// A file that no checkpoint holds stays where one goes back by a step, or keeps what is one's own, unless all is to be
// as the target has it.
func TestWhatNoCheckpointHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o          restore.Options
		undo, goes bool
	}{
		"a step":                  {restore.Options{}, true, false},
		"a step, exact":           {restore.Options{Scope: exact}, true, true},
		"by name":                 {restore.Options{}, false, true},
		"by name, but mine":       {restore.Options{KeepMine: true}, false, false},
		"by name, mine, exact":    {restore.Options{KeepMine: true, Scope: exact}, false, true},
		"taken back":              {restore.Options{TakeBack: true}, false, false},
		"taken back, exact":       {restore.Options{TakeBack: true, Scope: exact}, false, true},
		"a path beside it":        {restore.Options{Scope: only("f")}, false, false},
		"its directory":           {restore.Options{Scope: only("d")}, false, true},
		"its directory, but mine": {restore.Options{KeepMine: true, Scope: only("d")}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", "0")
			p.Write("d/x", "0")
			p.Save("begin")
			a := p.Agent("a")
			a.Start()
			for _, text := range []string{"1", "2"} {
				turn(a, text, func() { a.Run(text, func() { p.Write("f", text); p.Write("d/x", text) }) })
			}
			p.Write("d/new", "in no checkpoint")
			c.o.Session.Session = "a"
			var err error
			if c.undo {
				_, err = p.E.Restorer.Undo(enginetest.Bg, 1, c.o)
			} else {
				_, err = p.E.Restorer.Checkout(enginetest.Bg, "turn:1", c.o)
			}
			p.Must(err)
			if _, err := os.Stat(p.Path("d/new")); (err == nil) == c.goes {
				t.Errorf("it is there: %v", err)
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
			p.Must(err)
			if names(p, "f", "d/x", "d/new") != "f=2 d/x=2 d/new=in no checkpoint" {
				t.Errorf("taken back: %s", names(p, "f", "d/x", "d/new"))
			}
		})
	}
}

// Who goes to what a person saved, or to a state before a restore, is the session at work now: its changes go, whosever
// the state is.
func TestWhoGoesToAStateOfNobody(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Write("g", "0")
	byHand := p.Save("by hand")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	a.Run("1", func() { p.Write("f", "1") })
	p.Checkout(byHand.ID.String(), restore.Options{})
	if p.Read("f") != "0" {
		t.Errorf("to what a person saved: f is %q", p.Read("f"))
	}
	a.Run("2", func() { p.Write("f", "2") })
	a.Stop()
	safety := p.Checkout("turn:0", restore.Options{Session: model.SessionChoice{Session: "a"}}).Safety
	a.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	b := p.Agent("b")
	b.Start()
	b.Prompt("go")
	b.Run("3", func() { p.Write("g", "b's") })
	r := p.Checkout(safety.ID.String(), restore.Options{})
	if p.Read("g") != "0" || p.Read("f") != "2" {
		t.Errorf("to the state before: f %q, g %q, kept %v", p.Read("f"), p.Read("g"), p.KeptNames(r))
	}
}

// Who stands on a fork and takes back to what both have takes back the fork's line, and what a person did there stays.
func TestTakeBackOnAForkLeavesAPersons(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	f := p.Opened(p.Fork("turn:1@"+k.Name(), restore.Options{Checkout: true}).Fork)
	f.Take("mine", p.Edits("h", "fork"))
	p.Settle()
	p.Write("by hand", "a person's")
	p.Save("by hand")
	p.Checkout("turn:1@"+k.Name(), restore.Options{TakeBack: true, CodeOnly: true})
	if got := names(p, "by hand", "h"); got != "by hand=a person's" {
		t.Errorf("%s", got)
	}
}
