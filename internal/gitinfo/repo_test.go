package gitinfo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestToplevel(t *testing.T) {
	sandbox(t)
	r := newRepo(t)
	top := filepath.Dir(r)
	git(t, r, "worktree", "add", "-q", filepath.Join(top, "linked"))
	git(t, r, "submodule", "-q", "add", newRepo(t), "sub")
	for _, d := range []string{"a/deep/er", "fake/.git", "plain/x"} {
		if err := os.MkdirAll(filepath.Join(r, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(r, "textual/.git"), "hello\n")
	for _, c := range []struct {
		dir, want string
		ok        bool
	}{
		{r, r, true},
		{filepath.Join(r, "a/deep/er"), r, true},
		{filepath.Join(r, ".git/hooks"), r, true},
		{filepath.Join(r, "fake"), r, true},
		{filepath.Join(r, "textual"), r, true},
		{filepath.Join(r, "gone/away"), r, true},
		{filepath.Join(r, "sub"), filepath.Join(r, "sub"), true},
		{filepath.Join(top, "linked/a"), filepath.Join(top, "linked"), true},
		{top, "", false},
	} {
		t.Setenv("GIT_DIR", "/nowhere")
		got, ok, err := Toplevel(c.dir)
		if err != nil || got != c.want || ok != c.ok {
			t.Errorf("Toplevel(%s) = %q, %v, %v; want %q, %v", c.dir, got, ok, err, c.want, c.ok)
		}
	}
	for _, d := range []string{top, filepath.Join(r, "a"), filepath.Join(r, "fake"), filepath.Join(r, "textual")} {
		if _, err := Open(d); !errors.Is(err, ErrNoRepo) {
			t.Errorf("Open(%s): %v, want ErrNoRepo", d, err)
		}
	}
}

func TestPlaces(t *testing.T) {
	sandbox(t)
	r := newRepo(t)
	linked := filepath.Join(filepath.Dir(r), "linked")
	git(t, r, "worktree", "add", "-q", linked)
	a, b := open(t, r), open(t, linked)
	if a.GitDir() != filepath.Join(r, ".git") || a.CommonDir() != a.GitDir() || a.Root() != r {
		t.Errorf("main: %s, %s, %s", a.GitDir(), a.CommonDir(), a.Root())
	}
	if b.GitDir() != filepath.Join(r, ".git/worktrees/linked") || b.CommonDir() != a.GitDir() {
		t.Errorf("linked: %s, %s", b.GitDir(), b.CommonDir())
	}
}
