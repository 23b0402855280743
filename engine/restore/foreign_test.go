package restore_test

import (
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/refs"
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
