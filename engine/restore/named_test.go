package restore_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// edit is a call of an edit tool that names files and does something.
func edit(a *enginetest.Agent, call string, do func(), paths ...string) {
	tool := hooks.Tool{Name: "Write", Call: call, Class: hooks.Editor, Paths: paths}
	a.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	do()
	a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{})
}

// turn is a turn of an agent that does something.
func turn(a *enginetest.Agent, prompt string, do func()) {
	a.Prompt(prompt)
	do()
	a.Stop()
}

// names has what a project has at some paths; absent ones are left out.
func names(p *enginetest.Project, paths ...string) string {
	var out []string
	for _, path := range paths {
		if b, err := os.ReadFile(p.Path(path)); err == nil {
			out = append(out, path+"="+string(b))
		}
	}
	return strings.Join(out, " ")
}

var ignoredPaths = []string{"local.json", "dist/js/x.js", "dist/new/n.js", "node_modules/m/index.js"}

const (
	ignoredBefore = "local.json=v1 dist/js/x.js=x1 node_modules/m/index.js=m1"
	ignoredAfter  = "local.json=v2 dist/js/x.js=x2 dist/new/n.js=n1 node_modules/m/index.js=m2"
)

// ignoredProject is one in which a turn has edited files that rules leave out: three that were there, and one that was
// not.
func ignoredProject(t *testing.T) (*enginetest.Project, *enginetest.Agent) {
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.json\ndist/\n")
	p.Write("local.json", "v1")
	p.Write("dist/js/x.js", "x1")
	p.Write("dist/js/other.js", "nobody's")
	p.Write("node_modules/m/index.js", "m1")
	p.Save("begin")
	a := p.Agent("a")
	a.Start()
	turn(a, "first", func() { a.Run("s1", func() { p.Write("a", "1") }) })
	turn(a, "second", func() {
		edit(a, "e1", func() { p.Write("local.json", "v2") }, p.Path("local.json"))
		edit(a, "e2", func() { p.Write("dist/js/x.js", "x2") }, p.Path("dist/js/../js/x.js"))
		edit(a, "e3", func() { p.Write("dist/new/n.js", "n1") }, "dist/new/n.js")
		edit(a, "e4", func() { p.Write("node_modules/m/index.js", "m2") }, p.Path("node_modules/m/index.js"))
	})
	return p, a
}

// An edit of an ignored file goes with its turn, and comes back: by undo, checkout, redo, undo-restore, also in a
// process that has read nothing yet. Nothing is unsaved by it.
func TestNamedFilesGoWithTheirTurn(t *testing.T) {
	p, a := ignoredProject(t)
	want := func(what, state string) {
		t.Helper()
		if got := names(p, ignoredPaths...); got != state {
			t.Fatalf("%s: %s", what, got)
		}
		if got := names(p, "dist/js/other.js"); got != "dist/js/other.js=nobody's" {
			t.Fatalf("%s: what lies beside them: %s", what, got)
		}
		st, err := p.E.Status(context.Background(), nil)
		p.Must(err)
		if len(st.Changes) > 0 {
			t.Fatalf("%s: unsaved: %v", what, st.Changes)
		}
	}
	end := p.Listed()[0].ID.String()
	r := p.Checkout("turn:1", restore.Options{})
	want("checkout", ignoredBefore)
	if len(r.Plan.Kept)+len(r.Plan.Replaced)+len(r.Plan.Uncaptured) > 0 || r.Changed != 4 {
		t.Errorf("%d changed, kept %v, replaced %v, not captured %v", r.Changed, r.Plan.Kept, r.Plan.Replaced, r.Plan.Uncaptured)
	}
	p.Reopen()
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	want("undo-restore", ignoredAfter)
	_, err = p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	p.Reopen()
	_, err = p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{})
	p.Must(err)
	want("undo and redo", ignoredAfter)
	p.Checkout("turn:1", restore.Options{})
	r = p.Checkout("turn:1", restore.Options{})
	if want("twice", ignoredBefore); r.Operation != nil {
		t.Error("there was something to do")
	}
	p.Checkout(end, restore.Options{})
	want("by id", ignoredAfter)
	turn(a, "third", func() { // a shell's changes of them, and a person's, are captured from now on
		a.Run("s2", func() { p.Remove("dist/js/x.js") })
	})
	p.Write("local.json", "mine")
	p.Save("by hand")
	p.Checkout("turn:2", restore.Options{})
	want("turn 2 again", ignoredAfter)
	p.Sound()
}

// Coming into view is no change: rows and steps say that the call changed the file, and of nobody that he made it.
func TestNamedFilesComeIntoView(t *testing.T) {
	p, _ := ignoredProject(t)
	row, err := p.E.History.TurnRow(enginetest.Bg, "turn:2", "")
	p.Must(err)
	if c := row.Counts; c.Added != 1 || c.Modified != 3 || c.Deleted != 0 {
		t.Errorf("%+v", c)
	}
	for _, cp := range p.Listed() {
		if cp.Cause.Event == "pre-tool-use" && (!cp.Minor || cp.Counts.Added+cp.Counts.Modified > 0) {
			t.Errorf("%s: %+v", cp.Short, cp.Counts)
		}
	}
}

// What the files were before the first edit stays known when gc has merged the steps of the turn into one.
func TestNamedFilesAfterGC(t *testing.T) {
	p, _ := ignoredProject(t)
	p.Set("gc.keep_all", "1s")
	p.Gc(gc.Options{})
	p.Sound()
	p.Checkout("turn:1", restore.Options{})
	if got := names(p, ignoredPaths...); got != ignoredBefore {
		t.Error(got)
	}
}

// An edit whose beginning nobody announced: what the file was is not known, so it stays, and that is said.
func TestNamedFilesSeenAfterTheEdit(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.json\n")
	p.Write("local.json", "v1")
	p.Save("begin")
	a := p.Agent("a")
	a.Start()
	turn(a, "first", func() { a.Run("s1", func() { p.Write("a", "1") }) })
	turn(a, "second", func() {
		p.Write("local.json", "v2")
		a.Send(hooks.Event{Kind: hooks.AfterTool, Tool: hooks.Tool{
			Name: "Write", Call: "e1", Class: hooks.Editor, Paths: []string{p.Path("local.json")},
		}}, capture.HandleOptions{})
	})
	turn(a, "third", func() {
		edit(a, "e2", func() { p.Write("local.json", "v3") }, p.Path("local.json"))
	})
	if p.Checkout("turn:2", restore.Options{}); names(p, "local.json") != "local.json=v2" {
		t.Error(names(p, "local.json"))
	}
	r := p.Checkout("turn:1", restore.Options{})
	if names(p, "local.json") != "local.json=v2" || len(r.Plan.Uncaptured) != 1 || r.Plan.Uncaptured[0].Reason != "ignored" {
		t.Error(names(p, "local.json"), r.Plan.Uncaptured)
	}
}

// What cannot be captured is told of by the turn that edited it, and by who goes back over that; by no other.
func TestEditsThatAreNotCaptured(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("limits.file_size", "100")
	outside := p.Root + "-other"
	p.Must(os.Mkdir(outside, 0o700))
	t.Cleanup(func() { _ = os.RemoveAll(outside) })
	p.Write(".gitignore", "dist/\nlog.bin\n.env.local\n")
	p.Write(".env", "K=1")
	p.Write(".env.local", "K=1")
	p.Write("log.bin", strings.Repeat("b", 200))
	p.Write("big.bin", strings.Repeat("b", 200))
	p.Write("small", "1")
	p.Must(os.MkdirAll(p.Path("dist"), 0o755))
	p.Must(syscall.Mkfifo(p.Path("dist/pipe"), 0o600))
	p.Must(os.Symlink(outside+"/linked", p.Path("link")))
	p.Must(os.Symlink("dist/../log.bin", p.Path("inner")))
	p.Save("begin")
	a, b := p.Agent("a"), p.Agent("b")
	a.Start()
	turn(a, "first", func() { a.Run("s1", func() { p.Write("a", "1") }) })
	turn(a, "second", func() {
		n := 0
		for path, do := range map[string]func(){
			p.Path(".env"):       func() { p.Write(".env", "K=2") },
			p.Path(".env.local"): func() { p.Write(".env.local", "K=2") },
			p.Path("inner"):      func() { p.Write("log.bin", strings.Repeat("c", 200)) },
			p.Path("big.bin"):    func() { p.Write("big.bin", "small now") },
			// what it was is in a checkpoint
			p.Path("small"):     func() { p.Write("small", strings.Repeat("b", 200)) },
			p.Path("dist/pipe"): func() {},
			p.Path(".git/hooks/pre-commit"): func() {
				p.Must(os.MkdirAll(p.Path(".git/hooks"), 0o755))
				p.Write(".git/hooks/pre-commit", "x")
			},
			outside + "/o.txt": func() { p.Must(os.WriteFile(outside+"/o.txt", nil, 0o600)) },
			p.Path("link"):     func() { p.Must(os.WriteFile(outside+"/linked", nil, 0o600)) },
		} {
			n++
			edit(a, "e"+string(rune('0'+n)), do, path)
		}
	})
	b.Start()
	turn(b, "beside", func() {
		b.Run("s9", func() { p.Write("b", "1") })
		edit(b, "s10", func() { p.Write(".env.b", "K=3") }, p.Path(".env.b"))
	})
	want := []string{
		".env secret", ".env.local secret", ".git/hooks/pre-commit built-in", "big.bin size", "dist/pipe pipe", "log.bin size",
		outside + "/linked outside", outside + "/o.txt outside",
	}
	told := func(r *restore.Result) (out []string) {
		for _, u := range r.Plan.Uncaptured {
			if u.Path != ".env.b" && (u.Session != "claude/a" || u.Turn != 2) {
				t.Errorf("%+v", u)
			}
			out = append(out, string(u.Path)+" "+u.Reason)
		}
		slices.Sort(out)
		return out
	}
	slices.Sort(want)
	s, _, err := p.E.History.ShowTurn(enginetest.Bg, "turn:2@a", "", nil)
	p.Must(err)
	var got []string
	for _, u := range s.Uncaptured {
		got = append(got, string(u.Path)+" "+u.Reason)
	}
	slices.Sort(got)
	enginetest.Equal(t, "shown", got, want)
	o := restore.Options{DryRun: true, Session: model.SessionChoice{Session: "claude/a"}}
	enginetest.Equal(t, "going back over it", told(p.Checkout("turn:1@a", o)), want)
	enginetest.Equal(t, "going to its end", told(p.Checkout("turn:2@a", o)), nil)
	exact := o
	exact.Exact = true
	all := slices.Insert(slices.Clone(want), 1, ".env.b secret") // also what a colleague did
	enginetest.Equal(t, "going back exactly", told(p.Checkout("turn:1@a", exact)), all)
	p.Reopen()
	enginetest.Equal(t, "in another process", told(p.Checkout("turn:1@a", o)), want)
	row, err := p.E.History.TurnRow(enginetest.Bg, "turn:2@a", "")
	p.Must(err)
	if row.Prompt != "second" {
		t.Errorf("prompt %q", row.Prompt)
	}
}

// A colleague's ignored file stays his.
func TestNamedFilesOfAColleague(t *testing.T) {
	p, a := ignoredProject(t)
	b := p.Agent("b")
	b.Start()
	b.Prompt("beside")
	edit(b, "b1", func() { p.Write("local.json", "b's") }, p.Path("local.json"))
	r := p.Checkout("turn:1@a", restore.Options{Session: model.SessionChoice{Session: "claude/a"}})
	if got := names(p, ignoredPaths...); got != "local.json=b's dist/js/x.js=x1 node_modules/m/index.js=m1" {
		t.Error(got)
	}
	enginetest.Equal(t, "kept", p.KeptNames(r), []string{"session local.json"})
	_ = a
}

// Where the target has a file in place of the ignored directory in which an edit made one, or a directory that is not
// there any more, the file that was made goes, and comes back.
func TestNamedFilesWhereTheTargetHasAnother(t *testing.T) {
	t.Parallel()
	for _, file := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write(".gitignore", "dist/\n")
		p.Write("f", "1")
		if file {
			p.Write("dist", "a file")
		}
		a := p.Agent("a")
		a.Start()
		turn(a, "first", func() { a.Run("s1", func() { p.Write("a", "1") }) })
		p.Remove("dist")
		p.Must(os.MkdirAll(p.Path("dist/was"), 0o755))
		turn(a, "second", func() {
			edit(a, "e1", func() { p.Write("dist/new/n.js", "n1") }, "dist/new/n.js")
			edit(a, "e2", func() { p.Write("dist/was/w.js", "w1") }, "dist/was/w.js")
		})
		turn(a, "third", func() { a.Run("s2", func() { p.Write("f", "2") }) })
		before := enginetest.List(t, p.Root)
		r := p.Checkout("turn:1", restore.Options{})
		want := "f=1"
		if file {
			want += " dist=a file"
		}
		if got := names(p, "f", "dist", "dist/new/n.js", "dist/was/w.js"); got != want {
			t.Errorf("a file there %v: %s, want %s; kept %v", file, got, want, p.KeptNames(r))
		}
		p.Reopen()
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		p.WantTree(before)
		p.Checkout("turn:2", restore.Options{})
		if got := names(p, "f", "dist/new/n.js", "dist/was/w.js"); got != "f=1 dist/new/n.js=n1 dist/was/w.js=w1" {
			t.Errorf("a file there %v: to the turn: %s", file, got)
		}
		p.Sound()
	}
}

// A named file that is in view with the project's first checkpoint was not known before: it stays for who goes back to
// what a session found.
func TestNamedFilesOfTheFirstCheckpoint(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.json\n")
	p.Write("local.json", "v1")
	a := p.Agent("a")
	edit(a, "e1", func() { p.Write("local.json", "v2") }, "local.json")
	p.Write("f", "1")
	one := p.Save("one")
	edit(a, "e2", func() { p.Write("local.json", "v3") }, "local.json")
	p.Write("f", "2")
	p.Save("two")
	first := p.Listed()[len(p.Listed())-1]
	p.Checkout(one.ID.String(), restore.Options{})
	if got := names(p, "f", "local.json"); got != "f=1 local.json=v2" {
		t.Errorf("back: %s", got)
	}
	p.Checkout(first.ID.String(), restore.Options{})
	if got := names(p, "local.json"); got != "local.json=v1" {
		t.Errorf("at the first: %s", got)
	}
	p.Sound()
}
