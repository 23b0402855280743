package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/engine/restore"
	"rewind/internal/worktreefs"
	"rewind/internal/worktreefs/faultfs"
)

// everything is a directory as it is, the marker included.
func everything(t enginetest.Fataler, dir string) string {
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

// TestT21Promise17RootExchanged: whoever has a link to another directory take the place of the project's in the middle
// of a checkout has nothing written there: the real one is as the target, or as before, and the checkout can be ended
// when it is back.
func TestT21Promise17RootExchanged(t *testing.T) {
	why := map[string]string{
		"link": "it leads to /", "directory": "not the directory that it was", "nothing": "no such file",
	}
	for kind, step := range map[string]int{"link": 1, "directory": 4, "nothing": 4} {
		for n := 0; ; n += step {
			p := enginetest.NewProject(t)
			for _, f := range []string{"a", "d/b", "gone", "x/y/z"} {
				p.Write(f, "1")
			}
			one := p.Save("one")
			target := enginetest.List(t, p.Root)
			p.Write("a", "2")
			p.Write("new/c", "2")
			p.Remove("gone", "x")
			p.Save("two")
			p.Write("a", "unsaved")
			before := enginetest.List(t, p.Root)
			victim, moved := filepath.Join(t.TempDir(), "victim"), p.Root+"-moved"
			// The victim has what the project has: what is done by a path finds what it expects.
			p.Must(os.CopyFS(victim, os.DirFS(p.Root)))
			p.Must(os.RemoveAll(filepath.Join(victim, ".agent")))
			was, fired := everything(t, victim), false
			exchange := func() {
				if fired {
					return
				}
				fired = true
				p.Must(os.Rename(p.Root, moved))
				switch kind {
				case "link":
					p.Must(os.Symlink(victim, p.Root))
				case "directory":
					p.Must(os.Rename(victim, p.Root))
				}
			}
			back := func() {
				switch kind {
				case "link":
					p.Must(os.Remove(p.Root))
				case "directory":
					p.Must(os.Rename(p.Root, victim))
				}
				p.Must(os.Rename(moved, p.Root))
			}
			s := &faultfs.Script{Before: func(i int, _ faultfs.Call) {
				if i == n {
					exchange()
				}
			}}
			p.E.Log.Wrap = func(d worktreefs.Dir) worktreefs.Dir {
				if n == 0 {
					exchange() // after the handle was taken
				}
				return faultfs.Wrap(d, s)
			}
			_, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
			p.E.Log.Wrap = nil
			name := fmt.Sprintf("%s, call %d of %d", kind, n, s.Calls())
			if !fired {
				p.Must(err)
				if s.Calls() < 10 {
					t.Fatalf("only %d calls", n)
				}
				break
			}
			real := enginetest.List(t, moved)
			if err == nil { // after the last look
				if d := real.Diff(target); d != "" {
					t.Errorf("%s: done, but not at the target:\n%s", name, d)
				}
			} else if d := real.Diff(before); d != "" {
				t.Errorf("%s: %v, but not as before:\n%s", name, err, d)
			} else if !errors.Is(err, restore.ErrExchanged) || !strings.Contains(err.Error(), why[kind]) {
				t.Errorf("%s: %v, want %q", name, err, why[kind])
			}
			if errors.Is(err, model.ErrHalfDone) {
				t.Errorf("%s: %v", name, err)
			}
			// Nothing is ended in the other directory either.
			for what, end := range map[string]func() error{
				"checkout": func() error {
					_, err := p.E.Restorer.Checkout(enginetest.Bg, one.ID.String(), restore.Options{})
					return err
				},
				"undo": func() error { _, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{}); return err },
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
				p.Checkout(one.ID.String(), restore.Options{})
			}
			if d := enginetest.List(t, p.Root).Diff(target); d != "" {
				t.Errorf("%s: put back: %s", name, d)
			}
		}
	}
}

// TestT21Promise17RootExchangedWhileHalfDone: a checkout that was cut short is not ended in another directory.
func TestT21Promise17RootExchangedWhileHalfDone(t *testing.T) {
	for _, back := range []bool{false, true} {
		p, one, _, _ := twoStates(t)
		before := enginetest.List(t, p.Root)
		p.Crashed(one.ID.String(), restore.Options{}, false, 0)
		victim, moved := filepath.Join(t.TempDir(), "victim"), p.Root+"-moved"
		p.Must(os.CopyFS(victim, os.DirFS(p.Root)))
		p.Must(os.RemoveAll(filepath.Join(victim, ".agent")))
		was := everything(t, victim)
		p.Must(os.Rename(p.Root, moved))
		p.Must(os.Symlink(victim, p.Root))
		end := p.E.Restorer.Continue
		if back {
			end = p.E.Restorer.Abort
		}
		// whoever looks first
		if _, err := end(enginetest.Bg, p.Env()); !errors.Is(err, restore.ErrExchanged) && !errors.Is(err, project.ErrNotMounted) {
			t.Errorf("back %v: %v", back, err)
		}
		if got := everything(t, victim); got != was {
			t.Errorf("back %v: the other directory was written:\n%s", back, got)
		}
		p.Must(os.Remove(p.Root))
		p.Must(os.Rename(moved, p.Root))
		if _, err := end(enginetest.Bg, p.Env()); err != nil {
			t.Errorf("back %v: put back: %v", back, err)
		}
		if back {
			p.WantTree(before)
		} else if p.Read("f") != "1" {
			t.Errorf("f is %q", p.Read("f"))
		}
	}
}
