package restore_test

import (
	"fmt"
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/tree"
)

// perms are the permissions of the paths that steps set.
func perms(steps []tree.Change) (told string) {
	for _, s := range steps {
		if s.New != nil {
			told += fmt.Sprintf("%s %o ", s.Path, s.New.Perm)
		}
	}
	return told
}

// What gets fewer rights than the target has is told and shown as it becomes, and known as that: nothing is unsaved
// behind it but what was.
func TestRightsThatAreNotGiven(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	write := func(path, text string, mode os.FileMode) {
		p.Write(path, text)
		p.Must(os.Chmod(p.Path(path), mode))
	}
	for path, mode := range map[string]os.FileMode{
		"f": 0o644, "gone": 0o755 | os.ModeSetgid, "m": 0o700, "s": 0o755 | os.ModeSetuid,
	} {
		write(path, "1", mode)
	}
	one := p.Save("one")
	p.Remove("gone")
	write("f", "2", 0o644)
	write("m", "2", 0o600)
	write("s", "2", 0o755)
	two := p.Save("two")
	before := enginetest.List(t, p.Root)
	for _, dry := range []bool{true, false} {
		r := p.Checkout(one.ID.String(), restore.Options{DryRun: dry})
		if got := perms(r.Plan.Steps); got != "f 644 gone 755 m 700 s 755 " {
			t.Errorf("dry run %v: %s", dry, got)
		}
		if got := fmt.Sprint(r.Without); got != "[{gone [setgid]} {s [setuid]}]" {
			t.Errorf("dry run %v: without %s", dry, got)
		}
	}
	// holds says what the head has, and what is unsaved
	holds := func(what, want string, unsaved int) {
		t.Helper()
		head, err := p.E.Log.Head()
		p.Must(err)
		got := ""
		for _, path := range []string{"f", "gone", "m", "new", "s"} {
			if e, err := tree.Lookup(p.E.Log.Objs, head.Tree, path); err == nil {
				got += fmt.Sprintf("%s %o %d ", path, e.Perm, e.Size)
			}
		}
		st, err := p.E.Status(enginetest.Bg, nil)
		p.Must(err)
		if got != want || len(st.Changes) != unsaved {
			t.Errorf("%s: %s, unsaved %+v", what, got, st.Changes)
		}
	}
	holds("gone back", "f 644 1 gone 755 1 m 700 1 s 755 1 ", 0)
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	p.WantTree(before)
	holds("taken back", "f 644 1 m 600 1 s 755 1 ", 0)

	// of what was unsaved the head has nothing, whatever rights it had
	write("s", "three", 0o755|os.ModeSetuid)
	write("new", "unsaved", 0o755|os.ModeSetuid)
	p.Checkout(one.ID.String(), restore.Options{})
	r, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
	p.Must(err)
	if p.Read("s") != "three" || p.Read("new") != "unsaved" || len(r.Without) == 0 {
		t.Errorf("s %q, new %q, without %v", p.Read("s"), p.Read("new"), r.Without)
	}
	holds("with what was unsaved", "f 644 1 m 600 1 s 755 1 ", 2)
	p.Checkout(two.ID.String(), restore.Options{})
	p.WantTree(before)
	p.Verify()
}

// A restore that a directory stays of, since something came into it meanwhile, leaves one that has it: going on is no
// unsaved change.
func TestDirectoryThatStays(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	p.Write("d/x", "2")
	p.Save("two")
	atJournal(p, func() { p.Write("d/meanwhile", "a person's") })
	r := p.Checkout(one.ID.String(), restore.Options{})
	enginetest.Equal(t, "stays", r.KeptDirs, []string{"d"})
	head, err := p.E.Log.Head()
	p.Must(err)
	if e, err := tree.Lookup(p.E.Log.Objs, head.Tree, "d"); err != nil || e.Type != tree.TypeDir {
		t.Errorf("the head has no directory: %+v, %v", e, err)
	}
	if p.Read("f") != "1" || p.Read("d/meanwhile") != "a person's" {
		t.Errorf("f %q, d/meanwhile %q", p.Read("f"), p.Read("d/meanwhile"))
	}
	at, err := p.E.Sessions.Current(model.Manual)
	p.Must(err)
	if at.ID != one.ID {
		t.Errorf("at %s", at.ID.Short())
	}
	p.Verify()
}
