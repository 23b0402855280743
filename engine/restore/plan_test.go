package restore_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// A session's file that lies in the project is no work that a restore takes away; a person's file beside it is.
func TestSessionFileInTheProjectStays(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.File = p.Path("talk/" + k.ID + ".jsonl")
	p.Must(os.MkdirAll(p.Path("talk"), 0o755))
	p.Write("talk/known", "1")
	first := p.Save("with the folder")
	p.Write("f", enginetest.Big("1"))
	p.Save("one")
	k.Ask("one") // the agent writes it once the hook has returned
	p.Write("talk/"+k.ID+".jsonl.other", "mine")
	p.Write("talk/mine", "mine")
	r := p.Checkout(first.ID.String(), restore.Options{})
	if p.Read("f") != enginetest.Big("0") || names(p, "talk/mine", "talk/"+k.ID+".jsonl.other") != "" {
		t.Errorf("f %.3q, talk/mine is there", p.Read("f"))
	}
	if _, err := os.Stat(k.File); err != nil {
		t.Errorf("the session's file: %v", err)
	}
	enginetest.Equal(t, "kept", p.KeptNames(r), []string{"new talk/" + k.ID + ".jsonl"})
	exact := restore.Options{Scope: refs.Scope{Exact: true}, DryRun: true}
	if r := p.Checkout(first.ID.String(), exact); len(r.Plan.Kept) > 0 {
		t.Errorf("exact: %v", p.KeptNames(r))
	}
}

// Where a rule has come that leaves out a file which the target has, a merge beside it stays one: the file is stored
// and replaced, and what a colleague did in another one stays.
func TestMergeBesideAFileThatIsIgnoredNow(t *testing.T) {
	t.Parallel()
	text := func(first, last string) string { return first + strings.Repeat("\nbetween", 8) + "\n" + last + "\n" }
	for _, dry := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write("out/x", "then")
		p.Write("g", text("1", "1"))
		p.Save("before")
		a, b := p.Agent("a"), p.Agent("b")
		for _, x := range []*enginetest.Agent{a, b} {
			x.Start()
			x.Prompt("go")
		}
		one := p.Get(a.Run("1", func() { p.Write("f", "1") }))
		a.Run("2", func() { p.Write(".gitignore", "out/\n") })
		a.Run("3", func() { p.Write("g", text("a's", "1")); p.Write("out/x", "now") })
		b.Run("4", func() { p.Write("g", text("a's", "b's")) })
		o := restore.Options{Session: model.SessionChoice{Session: "a"}, DryRun: dry}
		r := p.Checkout(one.ID.String(), o)
		if len(r.Plan.Merges) != 1 || len(r.Plan.Kept) > 0 || !strings.Contains(perms(r.Plan.Steps), "out/x") {
			t.Errorf("dry run %v: %+v, kept %v, %s", dry, r.Plan.Merges, p.KeptNames(r), perms(r.Plan.Steps))
		}
		if dry {
			continue
		}
		if p.Read("g") != text("1", "b's") || p.Read("out/x") != "then" || p.Cat(r.Safety, "out/x") != "now" {
			t.Errorf("g %q, out/x %q", p.Read("g"), p.Read("out/x"))
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		if p.Read("g") != text("a's", "b's") || p.Read("out/x") != "now" {
			t.Errorf("taken back: g %q, out/x %q", p.Read("g"), p.Read("out/x"))
		}
	}
}

// A file that no step has is as unsaved when undo-restore has brought it back as it was before; what steps have, or a
// restore laid out, is not.
func TestUnsavedAfterUndoRestore(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Write("d/known", "2")
	p.Save("two")
	p.Write("new", "unsaved")
	p.Write("d/new", "unsaved")
	p.Write("d/known", "unsaved")
	replaced := func(what string, want ...string) {
		t.Helper()
		r := p.Checkout(one.ID.String(), restore.Options{DryRun: true})
		enginetest.Equal(t, what, r.Plan.Replaced, want)
	}
	unsaved := []string{"d/new", "new"}
	replaced("before", append([]string{"d/known"}, unsaved...)...)
	for range 2 {
		p.Checkout(one.ID.String(), restore.Options{})
		replaced("there")
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
		p.Must(err)
		replaced("taken back", unsaved...) // of the others there is a safety checkpoint, and a step has the path
		p.Reopen()
	}
	p.Save("three")
	replaced("saved")
}

// What lies where the target has a file and cannot be stored is not replaced: a pipe, and a file in its way. A restore
// of other paths goes on, and so does one once it is gone.
func TestWhatCannotBeStoredIsInTheWay(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	for _, path := range []string{"d/x", "f", "x", "y"} {
		p.Write(path, "1")
	}
	one := p.Save("one")
	p.Write("f", "2")
	for _, path := range []string{"d", "x", "y"} {
		p.Remove(path)
		p.Must(syscall.Mkfifo(p.Path(path), 0o600))
	}
	p.Save("two")
	for _, paths := range []refs.PathSet{nil, {"x", "y", "d"}} {
		var unsaved *model.UnsavedError
		o := restore.Options{Scope: refs.Scope{Paths: paths}}
		_, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), o)
		if !errors.As(err, &unsaved) {
			t.Fatalf("%q: %v", paths, err)
		}
		got := []string{}
		for _, b := range unsaved.Paths {
			got = append(got, b.Path)
		}
		enginetest.Equal(t, "in the way", got, []string{"d", "x", "y"})
		if p.Read("f") != "2" {
			t.Errorf("f is %q", p.Read("f"))
		}
	}
	p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Paths: refs.PathSet{"f"}}})
	if p.Read("f") != "1" {
		t.Errorf("alone, f is %q", p.Read("f"))
	}
	p.Remove("x", "y", "d")
	p.Checkout(one.ID.String(), restore.Options{})
	if names(p, "d/x", "x", "y") != "d/x=1 x=1 y=1" {
		t.Error(names(p, "d/x", "x", "y"))
	}
}

// A restore tells the paths that the target did not capture and that are not on disk, of the paths that are asked for.
func TestMissingPaths(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.log\n")
	p.Write("f", "1")
	p.Write(".env", "K=1")
	p.Write("d/.env", "K=1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Write("d/x", "2")
	p.Save("two")
	p.Remove(".env", "d/.env")
	for _, c := range []struct {
		paths refs.PathSet
		o     restore.Options
		want  []string
	}{
		{nil, restore.Options{}, []string{".env", "d/.env"}},
		{refs.PathSet{"d", "f"}, restore.Options{}, []string{"d/.env"}},
		{refs.PathSet{"f"}, restore.Options{}, nil},
	} {
		c.o.Paths, c.o.DryRun = c.paths, true
		var got []string
		for _, s := range p.Checkout(one.ID.String(), c.o).Plan.Missing {
			got = append(got, s.Path)
		}
		enginetest.Equal(t, "missing", got, c.want)
	}
	p.Write(".env", "K=2")
	r := p.Checkout(one.ID.String(), restore.Options{})
	if len(r.Plan.Missing) != 1 || r.Plan.Missing[0].Path != "d/.env" || p.Read(".env") != "K=2" {
		t.Errorf("%+v", r.Plan.Missing)
	}
}
