package restore_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/manage"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/objstore"
	"rewind/refs"
)

// aheadOf are the calls, or messages, of the steps that lie ahead of a session's cursor.
func aheadOf(p *enginetest.Project, session string) string {
	p.T.Helper()
	at, err := p.E.Log.Refs.ID(refs.Cursor(session))
	p.Must(err)
	list, err := p.E.Restorer.Ahead(session, at, nil)
	p.Must(err)
	var out []string
	for _, cp := range list {
		out = append(out, cp.Cause.Call+cp.Cause.Message)
	}
	return strings.Join(out, " ")
}

// Redo stops at the steps that lists show, and at those from which the latest undos came, whatever another session has
// done since; a checkout ends that.
func TestAheadStopsWhereUndoCameFrom(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	first := p.Save("first")
	a, b := p.Agent("a"), p.Agent("b")
	for _, x := range []*enginetest.Agent{a, b} {
		x.Start()
		x.Prompt("go")
	}
	of := restore.Options{Session: model.SessionChoice{Session: "a"}, CodeOnly: true}
	small := map[string]string{}
	for _, call := range []string{"1", "2", "3"} {
		cp := p.Get(a.Run(call, func() { p.Write("g", call) }))
		small[call] = cp.ID.String()
		if !cp.Minor {
			t.Fatalf("%s is no small step", call)
		}
	}
	want := func(what, ahead string) {
		t.Helper()
		if got := aheadOf(p, a.Name()); got != ahead {
			t.Errorf("%s: %q lies ahead, want %q", what, got, ahead)
		}
	}
	want("at the end", "")
	p.Checkout(first.ID.String(), of)
	want("before all", "3")
	p.Checkout(small["1"], of)
	undo := func() {
		t.Helper()
		_, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
		p.Must(err)
	}
	undo()
	want("undone from a small step", "1 3")
	_, err := p.E.Restorer.Redo(enginetest.Bg, 1, of)
	p.Must(err)
	want("and redone", "3")
	undo()
	b.Run("4", func() { p.Write("h", "b's") })
	want("undone again, and another session goes on", "1 3")
	p.Checkout(small["3"], of)
	p.Checkout(first.ID.String(), of)
	want("after a checkout", "3")
}

// Steps with the same files are one stop, and those with the files of the cursor are none.
func TestAheadOfTheSameFiles(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	save := func(path, text, message string) *model.Checkpoint { p.Write(path, text); return p.Save(message) }
	p.Write("f", "1")
	one := save(".env", "K=1", "one")
	two := save(".env", "K=2", "two") // the secret is not in the tree
	if two.ID == one.ID || two.Tree != one.Tree {
		t.Fatal("this tests nothing")
	}
	save("f", "2", "three")
	for what, at := range map[string]*model.Checkpoint{"one": one, "two": two} {
		p.Checkout(at.ID.String(), restore.Options{})
		if got := aheadOf(p, model.Manual); got != "three" {
			t.Errorf("at %s: %q", what, got)
		}
	}
	p.Checkout("@", restore.Options{})
	_, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	save("f", "1", "four")
	p.Checkout(one.ID.String(), restore.Options{})
	if got := aheadOf(p, model.Manual); got != "three four" {
		t.Errorf("with the same files at the end: %q", got)
	}
	var none *model.NoStepError
	_, err = p.E.Restorer.Redo(enginetest.Bg, 3, restore.Options{})
	if !errors.As(err, &none) || !none.Ahead || none.There != 2 {
		t.Errorf("three steps: %v", err)
	}
}

// Of a session that a checkout has taken to a step of another line nothing lies ahead.
func TestNothingIsAheadOnAnotherLine(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	a, b := p.Two()
	a.Does("f", "a's")
	b.Does("e", "b's")
	of := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	p.Checkout("session:"+b.Name(), of)
	if got := aheadOf(p, a.Name()); got != "" {
		t.Errorf("%q", got)
	}
	var none *model.NoStepError
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, of); !errors.As(err, &none) || none.There != 0 {
		t.Errorf("%v", err)
	}
}

// What was taken back twice comes back in two steps, also after the session was renamed.
func TestRedoOfWhatWasTakenBackTwice(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	o := restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true, TakeBack: true}
	p.Checkout("turn:2", o)
	p.Checkout("turn:1", o)
	_, err := p.E.Restorer.Manage(enginetest.Bg, manage.Request{
		Kind: refs.KindRename, Sessions: []string{k.Name()}, Title: "another", Env: p.Env(),
	})
	p.Must(err)
	o.TakeBack = false
	for _, text := range []string{"2", "3"} {
		r, err := p.E.Restorer.Redo(enginetest.Bg, 1, o)
		p.Must(err)
		if p.Read("f") != enginetest.Big(text) || r.Operation.Restore.Undoes == 0 {
			t.Errorf("f is %.3q, want %s", p.Read("f"), text)
		}
	}
	var none *model.NoStepError
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, o); !errors.As(err, &none) || none.There != 0 {
		t.Errorf("a third step: %v", err)
	}
}

// In a worktree, redo of a session takes back no restore that was done before that was made: it goes step by step.
func TestRedoOfWhatWasTakenBackElsewhere(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	o := restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true, TakeBack: true}
	p.Checkout("turn:1", o)
	q := p.Beside(t.TempDir())
	defer q.Close()
	ahead := func(of *enginetest.Project) int {
		at, err := of.E.Log.Refs.ID(refs.Cursor(k.Name()))
		p.Must(err)
		list, err := of.E.Restorer.Ahead(k.Name(), at, nil)
		p.Must(err)
		return len(list)
	}
	if here, there := ahead(p), ahead(q); here != 1 || there != 2 {
		t.Errorf("%d steps lie ahead here, %d in the worktree", here, there)
	}
}

// Whether undo makes a step of what differs from where the session stands: of changes of what a checkpoint has, and of
// nothing that it would leave as it is.
func TestUndoOfWhatIsUnsaved(t *testing.T) {
	t.Parallel()
	chmod := func(p *enginetest.Project, path string, mode os.FileMode) { p.Must(os.Chmod(p.Path(path), mode)) }
	for name, c := range map[string]struct {
		change func(p *enginetest.Project)
		saved  bool
		there  string // a path that is there afterwards, with what it has
	}{
		"nothing":       {func(*enginetest.Project) {}, false, "g=g"},
		"a change":      {func(p *enginetest.Project) { p.Write("g", "mine") }, true, "g=g"},
		"a removal":     {func(p *enginetest.Project) { p.Remove("g") }, true, "g=g"},
		"permissions":   {func(p *enginetest.Project) { chmod(p, "g", 0o755) }, true, "g=g"},
		"a right less":  {func(p *enginetest.Project) { chmod(p, "s", 0o755) }, false, "s=s"},
		"a new file":    {func(p *enginetest.Project) { p.Write("new", "mine") }, false, "new=mine"},
		"below a new":   {func(p *enginetest.Project) { p.Write("new/x", "mine") }, false, "new/x=mine"},
		"of the marker": {func(p *enginetest.Project) { chmod(p, ".agent", 0o700) }, false, "g=g"},
		"ignored now":   {func(p *enginetest.Project) { p.Write(".gitignore", "g\n") }, false, "g=g"},
		"ignored now, and changed": {func(p *enginetest.Project) {
			p.Write(".gitignore", "g\n")
			p.Write("g", "mine")
		}, false, "g=g"},
		"ignored now, and gone": {func(p *enginetest.Project) {
			p.Write(".gitignore", "g\n")
			p.Remove("g")
		}, true, "g=g"},
		"a directory that is ignored now": {
			func(p *enginetest.Project) { p.Write(".gitignore", "d\n"); p.Write("d/x", "mine") }, false, "d/x=x",
		},
		"a new file where a directory was": {
			func(p *enginetest.Project) { p.Remove("d"); p.Write("d", "mine") }, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("g", "g")
			p.Write("d/x", "x")
			p.Write("s", "s")
			chmod(p, "s", 0o755|os.ModeSetuid)
			p.Write("f", "1")
			p.Save("one")
			p.Write("f", "2")
			p.Save("two")
			c.change(p)
			r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
			p.Must(err)
			want := map[bool]string{false: "1", true: "2"}[c.saved]
			if (r.Saved != nil) != c.saved || p.Read("f") != want {
				t.Errorf("saved %+v, f %q", r.Saved, p.Read("f"))
			}
			if path, _, _ := strings.Cut(c.there, "="); names(p, path) != c.there {
				t.Errorf("%s, want %s", names(p, path), c.there)
			}
		})
	}
}

// A directory that a restore left for an ignored file in it is no step of undo; one that holds nothing is.
func TestUndoBesideADirectoryThatStayed(t *testing.T) {
	t.Parallel()
	for _, ignored := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write(".gitignore", "*.log\n")
		p.Write("f", "0")
		p.Save("zero")
		p.Write("f", "1")
		one := p.Save("one")
		p.Write("f", "2")
		p.Write("d/x", "2")
		p.Save("two")
		if ignored {
			p.Write("d/a.log", "ignored")
		}
		p.Checkout(one.ID.String(), restore.Options{})
		if !ignored {
			p.Must(os.MkdirAll(p.Path("d"), 0o755))
		}
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
		p.Must(err)
		if (r.Saved != nil) == ignored {
			t.Errorf("ignored %v: saved %+v, f %q", ignored, r.Saved, p.Read("f"))
		}
	}
}

// What is new is a step of undo where an open call of the session itself made it: a shell's, or an edit that names it.
func TestUndoOfAnOpenCall(t *testing.T) {
	t.Parallel()
	shell := hooks.Tool{Name: "Bash", Call: "open"}
	for name, c := range map[string]struct {
		open func(p *enginetest.Project, a, b *enginetest.Agent)
		goes string
	}{
		"none":    {func(*enginetest.Project, *enginetest.Agent, *enginetest.Agent) {}, ""},
		"a shell": {func(_ *enginetest.Project, a, _ *enginetest.Agent) { a.Before("open") }, "named new"},
		"an edit": {func(p *enginetest.Project, a, _ *enginetest.Agent) {
			tool := hooks.Tool{Name: "Write", Call: "open", Class: hooks.Editor, Paths: []string{p.Path("named")}}
			a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
		}, "named"},
		"another's shell, too": {func(_ *enginetest.Project, a, b *enginetest.Agent) {
			for _, x := range []*enginetest.Agent{a, b} {
				x.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: shell}, capture.HandleOptions{})
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", enginetest.Big("0"))
			p.Save("first")
			a, b := p.Agent("a"), p.Agent("b")
			for _, x := range []*enginetest.Agent{a, b} {
				x.Start()
				x.Prompt("go")
			}
			a.Run("1", func() { p.Write("f", enginetest.Big("1")) })
			c.open(p, a, b)
			p.Write("named", enginetest.Big("new"))
			p.Write("new", enginetest.Big("new"))
			of := restore.Options{Session: model.SessionChoice{Session: "a"}}
			r, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
			p.Must(err)
			gone := []string{}
			for _, path := range []string{"named", "new"} {
				if _, err := os.Stat(p.Path(path)); err != nil {
					gone = append(gone, path)
				}
			}
			if got := strings.Join(gone, " "); got != c.goes || (r.Saved != nil) != (c.goes != "") {
				t.Errorf("%q goes, want %q; saved %+v", got, c.goes, r.Saved)
			}
		})
	}
}

// Undo and redo of a session that has no checkpoint, or that is not known, say so, and change nothing.
func TestUndoOfNobody(t *testing.T) {
	t.Parallel()
	p, _ := enginetest.TwoTurns(t)
	before := enginetest.List(t, p.Root)
	last := p.E.Log.DB.LastSeq()
	o := restore.Options{Session: model.SessionChoice{Session: "claude/nobody"}, Env: p.Env()}
	if _, err := p.E.Restorer.Undo(enginetest.Bg, 1, o); err == nil {
		t.Error("undo of a session that is not known")
	}
	if _, err := p.E.Restorer.Redo(enginetest.Bg, 1, o); err == nil {
		t.Error("redo of a session that is not known")
	}
	if list, err := p.E.Restorer.Ahead("claude/nobody", objstore.ID{}, nil); err != nil || len(list) > 0 {
		t.Errorf("ahead of nobody: %d, %v", len(list), err)
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, o); !errors.Is(err, model.ErrNoRestore) {
		t.Errorf("no restore: %v", err)
	}
	p.WantTree(before)
	if p.E.Log.DB.LastSeq() != last {
		t.Error("something was done")
	}
}

// Undo from another session's step leaves the own branch where it is, if that has a step with the same of the session's
// own: redo comes back to that.
func TestUndoFromTheLikeOfAnOwnStep(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	a, b := p.Two()
	a.Does("f", "a's")
	tip := func() objstore.ID {
		t.Helper()
		id, err := p.E.Log.Refs.ID(refs.Session(a.Name()))
		p.Must(err)
		return id
	}
	own := tip()
	b.Does("e", "b's")
	of := restore.Options{Session: model.SessionChoice{Session: a.Name()}}
	p.Checkout("session:"+b.Name(), of)
	_, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
	p.Must(err)
	if tip() != own || p.Read("f") != enginetest.Big("first") || p.Read("e") != enginetest.Big("b's") {
		t.Errorf("the branch ends at %s, and did at %s; f %.6q", tip().Short(), own.Short(), p.Read("f"))
	}
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, of)
	p.Must(err)
	at, err := p.E.Log.Refs.ID(refs.Cursor(a.Name()))
	if err != nil || at != own || p.Read("f") != enginetest.Big("a's") {
		t.Errorf("redone, at %s, %v; f %.6q", at.Short(), err, p.Read("f"))
	}
}

// Undo takes back a session's own work alone where that is asked for, but not exactly, nor of a person.
func TestUndoThatTakesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    restore.Options
		back bool
		mine string // a person's file, which was changed since
	}{
		"asked for":   {restore.Options{TakeBack: true}, true, "mine"},
		"not":         {restore.Options{}, false, "before"},
		"and exactly": {restore.Options{TakeBack: true, Scope: refs.Scope{Exact: true}}, false, "before"},
		"of a person": {
			restore.Options{TakeBack: true, Session: model.SessionChoice{Session: model.Manual}}, false, "before",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", enginetest.Big("0"))
			p.Write("g", "before")
			p.Save("first")
			a := p.Agent("a")
			a.Start()
			a.Prompt("go")
			a.Run("1", func() { p.Write("f", enginetest.Big("1")) })
			a.Stop()
			if c.o.Session.Session == "" {
				c.o.Session.Session = "a"
			}
			p.Write("g", "mine")
			r, err := p.E.Restorer.Undo(enginetest.Bg, 1, c.o)
			p.Must(err)
			if r.Operation.Restore.TakesBack != c.back || p.Read("g") != c.mine {
				t.Errorf("takes back %v, g %q, f %.3q", r.Operation.Restore.TakesBack, p.Read("g"), p.Read("f"))
			}
		})
	}
}
