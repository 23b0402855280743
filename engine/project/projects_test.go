package project_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"rewind/engine"
	"rewind/engine/enginetest"
	"rewind/engine/project"
)

// What is remembered of where projects are is what looking again finds, whatever was done meanwhile.
func TestProjectsRememberOnlyWhatIsStillSo(t *testing.T) {
	p := enginetest.NewProject(t)
	other := enginetest.NewProject(t)
	inside := filepath.Join(p.Root, "a", "b")
	p.Must(os.MkdirAll(inside, 0o755))
	link := filepath.Join(t.TempDir(), "link")
	p.Must(os.Symlink(p.Root, link))
	home := p.Home

	var ps project.Projects
	check := func(after, dir string) {
		t.Helper()
		for range 2 { // as it is found, and as it is remembered
			got, gotErr := ps.Find(enginetest.Bg, home, dir, 0)
			want, wantErr := project.Find(enginetest.Bg, home, dir, 0)
			switch {
			case (gotErr == nil) != (wantErr == nil):
				t.Fatalf("after %s, %s: %v, looking again: %v", after, dir, gotErr, wantErr)
			case gotErr == nil && (got.Root != want.Root || got.ID != want.ID || got.Store != want.Store || got.Mode != want.Mode):
				t.Fatalf("after %s, %s is in %s (%s), looking again: %s (%s)", after, dir, got.Root, got.ID, want.Root, want.ID)
			}
		}
	}
	all := func(after string) {
		t.Helper()
		for _, dir := range []string{p.Root, inside, link} {
			check(after, dir)
		}
	}
	all("nothing")
	if len(ps.Found) != 3 {
		t.Fatalf("%d directories are remembered, want 3", len(ps.Found))
	}
	p.Must(os.MkdirAll(filepath.Join(p.Root, "a", ".agent"), 0o755))
	all("a directory that could be a nearer project's")
	p.Must(os.Remove(link))
	p.Must(os.Symlink(other.Root, link))
	all("a link to another project")
	id := filepath.Join(p.Root, ".agent", "rewind", "id")
	raw, err := os.ReadFile(id)
	p.Must(err)
	p.Must(os.Remove(id))
	all("the marker was removed")
	p.Must(os.Remove(id))
	p.Must(os.WriteFile(id, []byte("damaged\n"), 0o600))
	all("the marker was damaged")
	p.Must(os.WriteFile(id+".new", raw, 0o600))
	p.Must(os.Rename(id+".new", id))
	all("the marker was put back")
	agent := filepath.Join(p.Root, ".agent")
	p.Must(os.Rename(agent, agent+"-moved"))
	p.Must(os.Symlink(agent+"-moved", agent))
	all("the marker became a link")
	p.Must(os.Remove(agent))
	p.Must(os.Rename(agent+"-moved", agent))
	all("it is a directory again")
	moved := filepath.Join(t.TempDir(), "moved")
	p.Must(os.Rename(p.Root, moved))
	p.Must(os.Symlink(moved, p.Root))
	all("the project was moved, and a link is where it was")
	check("that", moved)
}

// TestProjectsRemembered: what opening a project had to settle is told, and only so many directories are remembered.
func TestProjectsRemembered(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	p.must(os.Rename(p.dir("a"), p.dir("b")))
	p.write("b/sub/f", "1")
	var ps project.Projects
	find := func(name string, notices, remembered int) {
		t.Helper()
		is, err := ps.Find(enginetest.Bg, p.home, p.dir(name), 0)
		if p.must(err); len(is.Notices) != notices || len(ps.Found) != remembered {
			t.Errorf("%s: %q, %d are remembered", name, is.Notices, len(ps.Found))
		}
	}
	find("b", 1, 0)
	find("b", 0, 1)
	for n := range 254 {
		ps.Found[strconv.Itoa(n)] = ps.Found[p.dir("b")]
	}
	find("b/sub", 0, 256)
	p.must(os.Mkdir(p.dir("b/linked"), 0o755))
	find("b/linked", 0, 1)
	// a tree that git links is no part of the project any more
	p.git("repo", "init", "-q")
	p.git("repo", "commit", "-q", "--allow-empty", "-m", "x")
	p.git("repo", "worktree", "add", "-q", "--detach", p.dir("b/linked"))
	var linked *project.LinkedError
	if _, err := ps.Find(enginetest.Bg, p.home, p.dir("b/linked"), 0); !errors.As(err, &linked) {
		t.Errorf("linked: %v", err)
	}
	if _, err := ps.Find(enginetest.Bg, p.home, p.dir("none"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no directory: %v", err)
	}
}

// A store in a project is believed until somebody else may have been at it, also by who has believed it a moment ago.
func TestPromise17ProjectsAskAgain(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := project.Home{Dir: t.TempDir()}
	if _, err := engine.SetUp(enginetest.Bg, home, root, project.ModeProject, project.Options{}); err != nil {
		t.Fatal(err)
	}
	var ps project.Projects
	at := func(name string) string { return filepath.Join(root, ".agent", "rewind", name) }
	git := func(args ...string) error { return exec.Command("git", append([]string{"-C", root}, args...)...).Run() }
	raw, err := os.ReadFile(at("store/seal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what     string
		do, undo func() error
	}{
		{
			"another seal", func() error { return os.WriteFile(at("store/seal"), []byte("x"), 0o600) },
			func() error { return os.WriteFile(at("store/seal"), raw, 0o600) },
		},
		{
			"git tracks the store",
			func() error { return errors.Join(git("init", "-q"), git("add", "-f", ".agent/rewind/store/seal")) },
			func() error { return os.RemoveAll(filepath.Join(root, ".git")) },
		},
		{
			"the store is open to others", func() error { return os.Chmod(at("store"), 0o777) },
			func() error { return os.Chmod(at("store"), 0o700) },
		},
		{"the marker is open to others", func() error { return os.Chmod(at(""), 0o777) }, func() error { return os.Chmod(at(""), 0o700) }},
		{
			"the directory above is open to others", func() error { return os.Chmod(filepath.Dir(at("")), 0o777) },
			func() error { return os.Chmod(filepath.Dir(at("")), 0o755) },
		},
	} {
		for range 2 { // found, and remembered
			if _, err := ps.Find(enginetest.Bg, home, root, 0); err != nil {
				t.Fatalf("before %s: %v", c.what, err)
			}
		}
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if _, err := ps.Find(enginetest.Bg, home, root, 0); !errors.Is(err, project.ErrUntrusted) {
			t.Errorf("%s: %v", c.what, err)
		}
		if err := c.undo(); err != nil {
			t.Fatal(err)
		}
	}
}
