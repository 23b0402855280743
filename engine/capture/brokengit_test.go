package capture_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/internal/value"
	"rewind/tree"
)

// git runs git in the project, without anybody's configuration.
func git(p *enginetest.Project, args ...string) {
	p.T.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = p.Root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.T.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func unread(p *enginetest.Project, cp *model.Checkpoint) []string {
	p.T.Helper()
	skips, err := p.E.Log.Note(cp)
	p.Must(err)
	return model.GitUnread(skips)
}

// gitProject is a project in git with a file that is ignored and tracked, and one that is ignored.
func gitProject(t *testing.T) *enginetest.Project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	p := enginetest.NewProject(t)
	p.Write(".gitignore", "*.log\nbuild/\n")
	p.Write("a", "one\n")
	p.Write("kept.log", "one\n")
	p.Write("build/deep/kept", "one\n")
	p.Write("free.log", "one\n")
	p.Write("build/free", "one\n")
	git(p, "init", "-q")
	git(p, "add", "-f", "a", ".gitignore", "kept.log", "build/deep/kept")
	git(p, "commit", "-q", "-m", "one")
	return p
}

// TestT24Promise18TrackedStays: a file that is captured because it is tracked stays so while the index cannot be read,
// in the process that knew the index and in one that never did, watched or not; what is not tracked does not become so;
// and with the index all is as before.
func TestT24Promise18TrackedStays(t *testing.T) {
	for _, watched := range []bool{false, true} {
		p := gitProject(t)
		if watched {
			watch(p, t)
		}
		p.Save("healthy")
		index, err := os.ReadFile(p.Path(".git/index"))
		p.Must(err)
		want := func(v string, names ...string) {
			t.Helper()
			cp := p.Save("")
			for _, name := range names {
				if got := p.Cat(cp, name); got != v {
					t.Errorf("%s is %q, want %q", name, got, v)
				}
			}
			for _, name := range []string{"free.log", "build/free"} {
				if _, err := tree.Lookup(p.E.Log.Objs, cp.Tree, name); err == nil {
					t.Errorf("%s was captured", name)
				}
			}
		}
		kept := []string{"kept.log", "build/deep/kept"}
		edit := func(v string) {
			for _, name := range append(kept, "a", "free.log", "build/free") {
				p.Write(name, v)
			}
		}
		p.Write(".git/index", strings.Repeat("\x00", len(index)))
		edit("two\n")
		want("two\n", append(kept, "a")...)
		p.Reopen()
		if watched {
			watch(p, t)
		}
		edit("three\n")
		want("three\n", append(kept, "a")...)
		a := p.Agent("s1")
		edit("four\n")
		if h := a.Before("t1"); !h.New {
			t.Error("a hook's event made no checkpoint")
		}
		p.Remove("kept.log")
		edit("five\n")
		p.Remove("kept.log")
		want("five\n", "a", "build/deep/kept")
		p.Must(os.WriteFile(p.Path(".git/index"), index, 0o644))
		edit("six\n")
		want("six\n", append(kept, "a")...)
		p.Reopen()
		edit("seven\n")
		want("seven\n", append(kept, "a")...)
	}
}

// TestT24Promise18SaidOnce: what cannot be read of git stands in every checkpoint that is made meanwhile; a command
// says it when it is news, a hook never.
func TestT24Promise18SaidOnce(t *testing.T) {
	p := gitProject(t)
	saved := func(v string) (*model.Checkpoint, []string) {
		t.Helper()
		p.Write("a", v)
		p.E.Log.Project.Notices = nil // as a view begins
		cp := p.Save("")
		return cp, p.E.Log.Project.Notices
	}
	cp, notices := saved("two\n")
	if len(notices) > 0 || cp.Git.Commit == "" || cp.Git.Branch != "main" || len(unread(p, cp)) > 0 {
		t.Fatalf("healthy: %+v, %q", cp.Git, notices)
	}
	head, err := os.ReadFile(p.Path(".git/HEAD"))
	p.Must(err)
	p.Write(".git/HEAD", "")
	cp, notices = saved("three\n")
	if len(notices) != 1 || notices[0] != "git's HEAD cannot be read: it is empty; recorded without it" || cp.Git != (model.GitHead{}) {
		t.Errorf("broken: %+v, %q", cp.Git, notices)
	}
	enginetest.Equal(t, "note", unread(p, cp), []string{".git/HEAD"})
	for _, v := range []string{"four\n", "five\n"} {
		if cp, notices = saved(v); len(notices) > 0 {
			t.Errorf("said again: %q", notices)
		}
		enginetest.Equal(t, "note", unread(p, cp), []string{".git/HEAD"})
	}
	p.Write(".git/index", "")
	if cp, notices = saved("six\n"); len(notices) != 2 {
		t.Errorf("more is broken: %q", notices)
	}
	enginetest.Equal(t, "note", unread(p, cp), []string{".git/HEAD", ".git/index"})
	p.E.Log.Project.Notices = nil
	a := p.Agent("s1")
	for i, v := range []string{"h1\n", "h2\n", "h3\n"} {
		p.Write("a", v)
		if h := a.Before(string(rune('a' + i))); !h.New {
			t.Error("a hook's event made no checkpoint")
		}
	}
	if len(p.E.Log.Project.Notices) > 0 {
		t.Errorf("a hook says %q", p.E.Log.Project.Notices)
	}
	if _, notices = saved("seven\n"); len(notices) != 2 {
		t.Errorf("nobody has been told since the hooks: %q", notices)
	}
	checks, err := p.E.CheckProject(true)
	p.Must(err)
	n := 0
	for _, c := range checks {
		if c.Name == "git" && c.Level == value.LevelFinding && c.Remedy != "" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d findings: %+v", n, checks)
	}
	p.Must(os.WriteFile(p.Path(".git/HEAD"), head, 0o644))
	p.Remove(".git/index")
	git(p, "reset", "-q")
	cp, notices = saved("eight\n")
	if len(notices) > 0 || cp.Git.Commit == "" || len(unread(p, cp)) > 0 {
		t.Errorf("put right: %+v, %q", cp.Git, notices)
	}
}

// TestFlagShares: captures that find the same share the list, so that the note is not made anew for every event.
func TestFlagShares(t *testing.T) {
	p := gitProject(t)
	p.Save("")
	p.Write(".git/HEAD", "")
	var lists [2][]tree.Skip
	watch(p, t)
	// the watcher may tell of what was written here only behind a capture, and then all is looked at once more
	for range 50 {
		root, err := p.E.Log.Root()
		p.Must(err)
		c, err := p.E.Worktree.Capture(context.Background(), root, capture.Options{Compare: true})
		p.Must(err)
		p.Must(root.Close())
		lists = [2][]tree.Skip{lists[1], c.Res.Skips}
		p.E.Worktree.EndCompare(c)
		if len(lists[0]) > 0 && &lists[0][0] == &lists[1][0] {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(lists[0]) == 0 || &lists[0][0] != &lists[1][0] {
		t.Errorf("%v and %v", lists[0], lists[1])
	}
	if !slices.IsSortedFunc(lists[0], tree.CompareSkips) {
		t.Errorf("not sorted: %v", lists[0])
	}
}

// A repository whose git directory is gone is said to be broken, and is the project's root all the same.
func TestT24Promise18InitWithoutGitDirectory(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "w")
	if err := os.MkdirAll(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+dir+"/gone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	plan, err := project.PlanInit(context.Background(), project.Home{Dir: t.TempDir()}, filepath.Join(root, "sub"), "", 0)
	if err != nil || filepath.Base(plan.Root) != "w" {
		t.Fatalf("%+v, %v", plan, err)
	}
	p := enginetest.OpenProject(t, root, t.TempDir())
	defer p.Close()
	enginetest.Equal(t, "note", unread(p, p.Save("")), []string{".git", ".git/HEAD", ".git/index"})
}

// TestT24Promise18HooksNote: what a hook's event finds has what could not be read of git in its note, whatever HEAD is,
// and however the event's files are looked at.
func TestT24Promise18HooksNote(t *testing.T) {
	for name, spoil := range map[string]func(p *enginetest.Project){
		"empty":   func(p *enginetest.Project) { p.Write(".git/HEAD", "") },
		"garbage": func(p *enginetest.Project) { p.Write(".git/HEAD", "nothing that git knows\n") },
		"directory": func(p *enginetest.Project) {
			p.Remove(".git/HEAD")
			p.Must(os.Mkdir(p.Path(".git/HEAD"), 0o755))
		},
		"gone": func(p *enginetest.Project) { p.Remove(".git/HEAD") },
	} {
		for _, rules := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, rules %t", name, rules), func(t *testing.T) {
				p := gitProject(t)
				if !rules { // nothing else is left out
					p.Write(".gitignore", "")
					p.Remove("free.log")
					p.Remove("build/free")
				}
				p.Save("healthy")
				spoil(p)
				a := p.Agent("s1")
				a.Start() // nothing has changed but HEAD
				a.Prompt("go on")
				for i, v := range []string{"one more\n", "two more\n"} {
					call := fmt.Sprint("c", i)
					a.Before(call)
					p.Write("a", v)
					h := a.After(call)
					cp, err := p.E.Log.Checkpoint(h.Checkpoint)
					p.Must(err)
					enginetest.Equal(t, "note", unread(p, cp), []string{".git/HEAD"})
				}
			})
		}
	}
}
