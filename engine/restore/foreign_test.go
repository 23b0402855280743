package restore_test

import (
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/refs"
	"rewind/tree"
)

// What became a repository of its own, or git's own directory, since the target is not written into, with exact
// neither; where the target has files of its own there, those go back, and .git stays.
func TestForeignDirectoriesStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []string // files of the target
		dirs   []string // what is made since, and files in it
		files  []string
		kept   []string
		back   bool // the target's files are there again
	}{
		"a repository that the target does not have": {
			nil,
			[]string{"sub/.git/objects", "sub/.git/refs"},
			[]string{"sub/.git/HEAD", "sub/x"},
			[]string{"tree sub"},
			false,
		},
		"a repository in what the target has": {
			[]string{"sub/x"}, []string{"sub/.git/objects", "sub/.git/refs"}, []string{"sub/.git/HEAD"}, nil, true,
		},
		"deep in what the target does not have": {
			[]string{"a/x"},
			[]string{"a/b/c/.git/objects", "a/b/c/.git/refs"},
			[]string{"a/b/c/.git/HEAD", "a/b/c/y"},
			[]string{"holds a/b", "tree a/b/c"},
			true,
		},
		"a linked worktree": {
			[]string{"sub/x", "sub/d/y"}, nil, []string{"sub/.git"}, []string{"tree sub"}, false,
		},
		"git's directory by another name": {
			[]string{"sub/x"}, []string{"sub/objects", "sub/refs"}, []string{"sub/HEAD"}, []string{"git sub"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", "1")
			for _, path := range c.before {
				p.Write(path, "then")
			}
			one := p.Save("one")
			p.Write("f", "2")
			for _, path := range c.before {
				p.Write(path, "now")
			}
			p.Save("two")
			for _, dir := range c.dirs {
				p.Must(os.MkdirAll(p.Path(dir), 0o755))
			}
			for _, path := range c.files {
				p.Write(path, "ref: refs/heads/main\n")
			}
			if !c.back && len(c.dirs) == 0 {
				p.Write("sub/.git", "gitdir: "+p.Path("elsewhere/worktrees/sub")+"\n")
			}
			p.Write("f", "3")
			p.Save("three")
			before := enginetest.List(t, p.Root)
			for _, exact := range []bool{false, true} {
				r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: exact}})
				enginetest.Equal(t, "kept", p.KeptNames(r), c.kept)
				if p.Read("f") != "1" {
					t.Errorf("exact %v: f is %q", exact, p.Read("f"))
				}
				for _, path := range c.before {
					want := map[bool]string{false: "now", true: "then"}[c.back]
					if got := p.Read(path); got != want {
						t.Errorf("exact %v: %s is %q, want %q", exact, path, got, want)
					}
				}
				for _, path := range c.files {
					if _, err := os.Lstat(p.Path(path)); err != nil {
						t.Errorf("exact %v: %v", exact, err)
					}
				}
				_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
				p.Must(err)
				p.WantTree(before)
			}
		})
	}
}

// A directory of git's that an older version captured does not come back, by whatever name, and what is there in its
// place stays; nor does anything come to lie in a repository where the target has an empty directory.
func TestForeignDirectoriesOfTheTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  []string // what lies there now
		kept []string
	}{
		"nothing is there":         {nil, []string{"git bare"}},
		"a directory of that name": {[]string{"bare/x", "bare/refs/y"}, []string{"git bare"}},
		"a file of that name":      {[]string{"bare"}, []string{"git bare"}},
		"a repository of its own": {
			[]string{"empty/.git/HEAD", "empty/.git/refs/x", "empty/.git/objects/x", "empty/z"},
			[]string{"git bare", "tree empty"},
		},
		"a file where it was empty": {[]string{"empty/z"}, []string{"git bare"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := enginetest.NewProject(t)
			p.Write("f", "1")
			p.Write("bar/e", "1")
			p.Must(os.Mkdir(p.Path("empty"), 0o755))
			one := p.Save("one")
			file, err := tree.Lookup(p.E.Log.Objs, one.Tree, "f")
			p.Must(err)
			dir := &tree.Entry{Type: tree.TypeDir, Perm: 0o755}
			var steps []tree.Change
			for _, path := range []string{"bare", "bare/objects", "bare/refs"} {
				steps = append(steps, tree.Change{Path: path, New: dir})
			}
			for _, path := range []string{"bare/HEAD", "bare/refs/main"} {
				steps = append(steps, tree.Change{Path: path, New: &file})
			}
			one = stored(p, *one, steps, nil)
			p.Write("f", "2")
			p.Write("bar/e", "2")
			p.Remove("empty")
			for _, path := range c.now {
				p.Write(path, "ref: refs/heads/main\n")
			}
			p.Save("two")
			before := enginetest.List(t, p.Root)
			for _, exact := range []bool{false, true} {
				r := p.Checkout(one.ID.String(), restore.Options{Scope: refs.Scope{Exact: exact}})
				enginetest.Equal(t, "kept", p.KeptNames(r), c.kept)
				if p.Read("f") != "1" || p.Read("bar/e") != "1" {
					t.Errorf("exact %v: f %q, bar/e %q", exact, p.Read("f"), p.Read("bar/e"))
				}
				is := enginetest.List(t, p.Root)
				for path, was := range before {
					if (path == "bare" || refs.Below(path, "bare")) && is[path] != was {
						t.Errorf("exact %v: %s is %q", exact, path, is[path])
					}
				}
				if _, err := os.Lstat(p.Path("bare/HEAD")); err == nil {
					t.Errorf("exact %v: git's directory is back", exact)
				}
				_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{})
				p.Must(err)
				p.WantTree(before)
			}
		})
	}
}
