package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
)

// everything is a directory as it is, the marker included.
func everything(t fataler, dir string) string {
	t.Helper()
	text := ""
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		text += fmt.Sprintf("%s %v", path[len(dir):], fi.Mode())
		if fi.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			text += fmt.Sprintf(" %q", b)
			if err != nil {
				return err
			}
		}
		text += "\n"
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text
}

// TestT21Promise17RootExchanged: whoever has a link to another directory take the place of the project's in the middle of a checkout has
// nothing written there: the real one is as the target, or as before, and the checkout can be ended when it is back.
func TestT21Promise17RootExchanged(t *testing.T) {
	for kind, step := range map[string]int{"link": 1, "directory": 4, "nothing": 4} {
		for n := 0; ; n += step {
			p := newProject(t)
			for _, f := range []string{"a", "d/b", "gone", "x/y/z"} {
				p.write(f, "1")
			}
			one := p.save("one")
			target := list(t, p.root)
			p.write("a", "2")
			p.write("new/c", "2")
			p.remove("gone", "x")
			p.save("two")
			p.write("a", "unsaved")
			before := list(t, p.root)
			victim, moved := filepath.Join(t.TempDir(), "victim"), p.root+"-moved"
			// The victim has what the project has: what is done by a path finds what it expects.
			p.must(os.CopyFS(victim, os.DirFS(p.root)))
			p.must(os.RemoveAll(filepath.Join(victim, ".agent")))
			was, fired := everything(t, victim), false
			exchange := func() {
				if fired {
					return
				}
				fired = true
				p.must(os.Rename(p.root, moved))
				switch kind {
				case "link":
					p.must(os.Symlink(victim, p.root))
				case "directory":
					p.must(os.Rename(victim, p.root))
				}
			}
			back := func() {
				switch kind {
				case "link":
					p.must(os.Remove(p.root))
				case "directory":
					p.must(os.Rename(p.root, victim))
				}
				p.must(os.Rename(moved, p.root))
			}
			s := &faultfs.Script{Before: func(i int, _ faultfs.Call) {
				if i == n {
					exchange()
				}
			}}
			p.e.Log.Wrap = func(d worktreefs.Dir) worktreefs.Dir {
				if n == 0 {
					exchange() // after the handle was taken
				}
				return faultfs.Wrap(d, s)
			}
			_, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{})
			p.e.Log.Wrap = nil
			name := fmt.Sprintf("%s, call %d of %d", kind, n, s.Calls())
			if !fired {
				p.must(err)
				if s.Calls() < 10 {
					t.Fatalf("only %d calls", n)
				}
				break
			}
			real := list(t, moved)
			if err == nil { // after the last look
				if d := real.diff(target); d != "" {
					t.Errorf("%s: done, but not at the target:\n%s", name, d)
				}
			} else if d := real.diff(before); d != "" {
				t.Errorf("%s: %v, but not as before:\n%s", name, err, d)
			} else if !errors.Is(err, restore.ErrExchanged) {
				t.Errorf("%s: %v", name, err)
			}
			if errors.Is(err, model.ErrHalfDone) {
				t.Errorf("%s: %v", name, err)
			}
			// Nothing is ended in the other directory either.
			for what, end := range map[string]func() error{
				"checkout": func() error { _, err := p.e.Restorer.Checkout(bg, one.ID.String(), restore.Options{}); return err },
				"undo":     func() error { _, err := p.e.Restorer.Undo(bg, 1, restore.Options{}); return err },
			} {
				if kind == "directory" {
					continue // it is the project's by its path
				}
				if err := end(); err == nil {
					t.Errorf("%s: %s afterwards is taken", name, what)
				}
			}
			back()
			if got := everything(t, victim); got != was {
				t.Errorf("%s: the other directory was written:\n%s\nwas\n%s", name, got, was)
			}
			if err != nil {
				p.checkout(one.ID.String(), restore.Options{})
			}
			if d := list(t, p.root).diff(target); d != "" {
				t.Errorf("%s: put back: %s", name, d)
			}
		}
	}
}

// TestT21Promise17RootExchangedWhileHalfDone: a checkout that was cut short is not ended in another directory.
func TestT21Promise17RootExchangedWhileHalfDone(t *testing.T) {
	for _, back := range []bool{false, true} {
		p, one, _, _ := twoStates(t)
		before := list(t, p.root)
		p.crashed(one.ID.String(), restore.Options{}, false, 0)
		victim, moved := filepath.Join(t.TempDir(), "victim"), p.root+"-moved"
		p.must(os.CopyFS(victim, os.DirFS(p.root)))
		p.must(os.RemoveAll(filepath.Join(victim, ".agent")))
		was := everything(t, victim)
		p.must(os.Rename(p.root, moved))
		p.must(os.Symlink(victim, p.root))
		end := p.e.Restorer.Continue
		if back {
			end = p.e.Restorer.Abort
		}
		if _, err := end(bg, p.env()); !errors.Is(err, restore.ErrExchanged) && !errors.Is(err, project.ErrNotMounted) { // whoever looks first
			t.Errorf("back %v: %v", back, err)
		}
		if got := everything(t, victim); got != was {
			t.Errorf("back %v: the other directory was written:\n%s", back, got)
		}
		p.must(os.Remove(p.root))
		p.must(os.Rename(moved, p.root))
		if _, err := end(bg, p.env()); err != nil {
			t.Errorf("back %v: put back: %v", back, err)
		}
		if back {
			p.wantTree(before)
		} else if p.read("f") != "1" {
			t.Errorf("f is %q", p.read("f"))
		}
	}
}
