package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/project"
	"rewind/tree"
)

func (p *place) planned(name string, mode project.Mode) string {
	p.Helper()
	plan, err := project.PlanInit(enginetest.Bg, p.home, p.path(name), mode, 0)
	if err != nil {
		return "error: " + p.short(err.Error())
	}
	out := p.short(plan.Root) + " " + string(plan.Mode) + " " + p.short(plan.Store)
	if plan.Exists {
		out += ", is there"
	}
	if plan.Accept {
		out += ", accepted"
	}
	if plan.Own != "" {
		out += ", " + p.short(plan.Own)
	}
	for _, over := range plan.Passed {
		out += ", " + p.short(over.String())
	}
	return out
}

// TestInitPlanned: the root that init chooses, in which mode, and what it refuses.
func TestInitPlanned(t *testing.T) {
	const global, local = project.ModeGlobal, project.ModeProject
	const bad = "error: init %: this directory cannot be a project: it is "
	const cannot = "error: init %: this directory cannot be a project: a store cannot lie in %/.agent/rewind: "
	p := newPlace(t, global)
	t.Setenv("HOME", p.dir("homes/me"))
	p.write("homes/me/x", "1")
	p.write("homes/me/p/x", "1")
	p.git("homes/me", "init", "-q")
	p.write("b/f", "1")
	p.write("a/in/f", "1")
	p.git("a/repo", "init", "-q")
	p.write("a/repo/sub/f", "1")
	for _, name := range []string{"objects", "refs"} {
		p.must(os.MkdirAll(p.dir("git/"+name), 0o755))
	}
	p.write("git/HEAD", "ref: refs/heads/main\n")
	p.must(os.MkdirAll(filepath.Join(p.home.Dir, "sub"), 0o700))
	p.write("open/.agent/rewind/x", "1")
	p.must(os.Chmod(p.dir("open/.agent/rewind"), 0o777))
	p.write("file/.agent", "1")
	p.write("stored/.agent/rewind/store/format", "1")
	p.git("tracked", "init", "-q")
	p.write("tracked/.agent/rewind/x", "1")
	p.git("tracked", "add", "-f", ".agent/rewind/x")
	p.git("broken", "init", "-q")
	p.write("broken/.git/index", "DIRC, not")
	p.write("strange/.agent/rewind/id", strings.Repeat("0", 32)+"\n")
	p.git("rules", "init", "-q")
	p.write("rules/.gitignore", "out/\nkept/\n")
	p.write("rules/.git/info/exclude", "mine/\n")
	for _, name := range []string{"out", "kept", "mine", "node_modules"} {
		p.write("rules/"+name+"/in/f", "1")
	}
	p.git("rules", "add", "-f", "kept/in/f")
	p.git("damaged", "init", "-q")
	p.write("damaged/.gitignore", "out/\n")
	p.write("damaged/out/in/f", "1")
	p.write("damaged/.agent/rewind/config.json", "{")
	p.write("a/.gitignore", "ignored/\n")
	p.git("a/ignored/repo", "init", "-q")
	p.write("inner/proj/.gitignore", "away/\n")
	p.write("inner/proj/away/f", "1")
	in := *p
	in.id = p.set("inner/proj", global)
	p.git("inner", "init", "-q")
	if got := in.planned("inner/proj", ""); got != "inner/proj global HOME/storage/ID, is there" {
		t.Errorf("in a repository: %s", got)
	}
	in = *newPlace(t, local)
	in.must(os.RemoveAll(in.dir("a/.agent")))
	if got := in.planned("a", ""); got != "a global HOME/storage/<new>" {
		t.Errorf("a store is gone: %s", got)
	}
	in.must(os.Rename(in.dir("a"), in.dir("was")))
	in.must(os.Mkdir(in.dir("a"), 0o755))
	if got := in.planned("a", ""); got != "a global HOME/storage/<new>" {
		t.Errorf("emptied with its store: %s", got)
	}
	p.must(os.MkdirAll(p.dir("own/of/rewind"), 0o755))
	in = *p
	in.home = project.Home{Dir: p.dir("own/of/rewind")}
	const passed = ", passed over stored/.agent/rewind: no store that this user made here lies there"
	for _, tt := range []struct {
		name string
		mode project.Mode
		want string
	}{
		{"a", "", "a global HOME/storage/ID, is there"},
		{"a/in", global, "a global HOME/storage/ID, is there"},
		{"a", local, "error: init a: the project exists in mode global"},
		{"a", "x", `error: init a: mode "x" is neither global nor project`},
		{"a/repo/sub", "", "a/repo global HOME/storage/<new>"},
		{"a/ignored/repo", "", "a/ignored/repo global HOME/storage/<new>"},
		{"damaged/out/in", "", "damaged global HOME/storage/<new>"},
		{"inner/proj/away", "", "% global HOME/storage/<new>, not part of inner/proj: .gitignore:1 ignores it (away/)"},
		{"b", "", "b global HOME/storage/<new>"},
		{"b", local, "b project b/.agent/rewind/store"},
		{"none", "", "error: resolve none: lstat none: no such file or directory"},
		{"homes/me", "", bad + "a home directory"},
		{"homes", "", bad + "above a home directory"},
		{"homes/me/p", "", "homes/me/p global HOME/storage/<new>, the repository around it is a home directory"},
		{"git", "", bad + "a directory of git's own"},
		{"rules/out/in", "", "% global HOME/storage/<new>, not part of rules: .gitignore:1 ignores it (out/)"},
		{"rules/kept/in", "", "rules global HOME/storage/<new>"},
		{
			"rules/mine/in", "",
			"% global HOME/storage/<new>, not part of rules: rules/.git/info/exclude:1 ignores it (mine/)",
		},
		{
			"rules/node_modules", "",
			"% global HOME/storage/<new>, not part of rules: rewind ignores it by itself (node_modules/)",
		},
		{
			"a/.agent/rewind", "",
			"% global HOME/storage/<new>, not part of a: it is git's or rewind's own",
		},
		{
			"strange", "",
			"strange global HOME/storage/<new>, passed over strange/.agent/rewind: " +
				"the store that it names is not here; it may be another machine's or user's",
		},
		{"HOME", "", bad + "rewind's own directory"},
		{"HOME/sub", local, bad + "rewind's own directory"},
		{"open", local, cannot + "others may write in it; 'chmod go-w' closes it, if what lies there is yours"},
		{"file", local, cannot + ".agent is not a directory"},
		{"file", global, "file global HOME/storage/<new>"},
		{"stored", local, cannot + "there is one that is not believed: 'rewind init --adopt' shows it"},
		{"stored", global, "stored global HOME/storage/<new>" + passed},
		{"tracked", local, cannot + "git tracks it"},
		{"tracked", "", "tracked global HOME/storage/<new>"},
		{"broken", global, "broken global HOME/storage/<new>"},
	} {
		name := tt.name
		want := strings.ReplaceAll(tt.want, "%", name)
		if got := p.planned(name, tt.mode); got != want {
			t.Errorf("%s %s: %s\nwant %s", name, tt.mode, got, want)
		}
	}
	got := p.planned("broken", local)
	if !strings.HasPrefix(got, "error: ") || strings.Contains(got, "cannot be a project") {
		t.Errorf("broken: %s", got)
	}
	_, err := project.PlanInit(enginetest.Bg, p.home, "/", "", 0)
	if !errors.Is(err, model.ErrBadRoot) || !strings.HasSuffix(err.Error(), "it is a file system root") {
		t.Errorf("the root of the file system: %v", err)
	}
	const linked = "git has linked it to a repository, so it is a project of its own"
	if got := project.WhyUncaptured(tree.Skip{Size: tree.BuiltinWorktree}, nil); got != linked {
		t.Errorf("%s", got)
	}
	for mode, want := range map[project.Mode]string{
		global: "error: init own: this directory cannot be a project: it is above rewind's own directory HOME",
		local:  "own project own/.agent/rewind/store",
	} {
		if got := in.planned("own", mode); strings.ReplaceAll(got, "own/of/rewind", "HOME") != want {
			t.Errorf("above HOME, %s: %s", mode, got)
		}
	}
	p.must(os.Rename(p.dir("a"), p.dir("was")))
	p.must(os.Mkdir(p.dir("a"), 0o755))
	p.must(os.RemoveAll(p.dir("was")))
	if got := p.planned("a", ""); got != "a global HOME/storage/ID, is there, accepted" {
		t.Errorf("emptied: %s", got)
	}
	if p.set("a", ""); p.found("a") != "a" {
		t.Errorf("accepted: %s", p.found("a"))
	}
	if got := p.planned("stored", local); !strings.Contains(got, "is not believed") {
		t.Errorf("%s", got)
	}
}

// TestAutoPlanned: which repository is set up by itself, and why another is left to a person.
func TestAutoPlanned(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	for _, name := range []string{
		"plain/sub", "a/nested", "removed", "stored", "doubt", "was/x", "new/x", "settings", "damaged",
	} {
		p.git(strings.TrimSuffix(name, "/sub"), "init", "-q")
		p.write(name+"/f", "1")
	}
	p.git("a", "init", "-q")
	p.set("was/x", project.ModeGlobal)
	p.must(os.RemoveAll(p.dir("was")))
	p.write("none/f", "1")
	p.must(p.home.NoteRemoved(p.dir("removed")))
	p.write("stored/.agent/rewind/store/format", "1")
	p.write("doubt/.agent/rewind/config.json", `{"secrets": {"store": true}}`)
	p.write("settings/.agent/rewind/config.json", `{"secrets": {"mode": "skip"}}`)
	p.write("damaged/.agent/rewind/config.json", `{`)
	p.git(".", "init", "-q", p.home.Dir)
	p.write("file/.git", "gitdir: nowhere\n")
	for name, want := range map[string]string{
		"plain/sub": "plain",
		"plain":     "plain",
		"a":         "init a: it is not set up by itself: it is part of a project",
		"a/nested":  "a/nested",
		"removed":   "init removed: it is not set up by itself: its history was removed here",
		"stored":    "init stored: it is not set up by itself: a store lies there that is not believed",
		"doubt":     "init doubt: it is not set up by itself: settings lie there that a person decides about",
		"settings":  "settings",
		"new/x":     "init new/x: it is not set up by itself: it could be a project that was elsewhere",
		"none":      "init : it is not set up by itself: it is no git repository",
		"nowhere":   "resolve nowhere: lstat nowhere: no such file or directory",
		"HOME":      "init HOME: this directory cannot be a project: it is rewind's own directory",
		"file":      "init file: it is not set up by itself: its git directory is another user's",
	} {
		got, err := project.PlanAuto(enginetest.Bg, p.home, p.path(name), 0)
		if got = p.short(got); err != nil {
			got += p.short(err.Error())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	root, err := project.PlanAuto(enginetest.Bg, p.home, p.dir("damaged"), 0)
	if root != "" || !errors.Is(err, model.ErrConfig) {
		t.Errorf("damaged settings: %q, %v", root, err)
	}
	for range 2 { // also where nothing is noted any more
		p.must(p.home.ForgetRemoved(p.dir("removed")))
		root, err := project.PlanAuto(enginetest.Bg, p.home, p.dir("removed"), 0)
		if root != p.dir("removed") || err != nil {
			t.Errorf("forgotten: %q, %v", root, err)
		}
	}
	home := project.Home{Dir: p.dir("no-home")}
	if root, err := project.PlanAuto(enginetest.Bg, home, p.dir("plain"), 0); root != "" || err == nil {
		t.Errorf("without a home: %q, %v", root, err)
	}
}

// TestLinkedPlanned: a working tree that git has linked is a project of its own, and is set up by itself only from
// another tree of its repository that is set up.
func TestLinkedPlanned(t *testing.T) {
	t.Parallel()
	p := newPlace(t, project.ModeGlobal)
	tree := func(repo, name string) {
		p.Helper()
		p.git(repo, "worktree", "add", "-q", "--detach", p.dir(name))
	}
	for _, repo := range []string{"a", "bare"} {
		p.git(repo, "init", "-q")
		p.git(repo, "commit", "-q", "--allow-empty", "-m", "x")
	}
	tree("a", "a/in")
	tree("a", "one")
	p.write("one/sub/f", "1")
	tree("bare", "two")
	tree("bare", "three")
	p.git("a/nest", "init", "-q")
	p.git("a/nest", "commit", "-q", "--allow-empty", "-m", "x")
	tree("a/nest", "four")
	tree("bare", "gone")
	p.must(os.RemoveAll(p.dir("gone")))
	p.git("bare", "worktree", "add", "-q", "--detach", filepath.Join(p.home.Dir, "tree"))
	p.write("a/module/.git", "gitdir: nowhere\n")
	if got := p.found("a/module"); got != "a" {
		t.Errorf("a module that is not linked: %s", got)
	}
	p.write("none/f", "1")
	planned := func(name string) string {
		of, root, err := project.PlanLinked(enginetest.Bg, p.home, p.path(name), 0)
		if err != nil {
			if of != nil || root != "" {
				t.Errorf("%s: %v, %s", name, of, root)
			}
			return "error: " + p.short(err.Error())
		}
		return p.short(root) + " of " + p.short(of.Root)
	}
	const own = "error: find project of a/in: not a rewind project: git has linked this worktree to a repository, " +
		"so it is a project of its own"
	if got := p.found("a/in"); got != own {
		t.Errorf("%s", got)
	}
	var linked *project.LinkedError
	_, err := project.Find(enginetest.Bg, p.home, p.dir("a/in"), 0)
	if !errors.Is(err, model.ErrNoProject) || !errors.As(err, &linked) || linked.Top != p.dir("a/in") {
		t.Errorf("%v", err)
	}
	const not = ": it is not set up by itself: "
	for name, want := range map[string]string{
		"a/in":      "a/in of a",
		"one/sub":   "one of a",
		"a":         "error: init a" + not + "it is no linked worktree",
		"none":      "error: init none" + not + "it is no linked worktree",
		"two":       "error: init two" + not + "no working tree of its repository is set up",
		"four":      "error: init four" + not + "no working tree of its repository is set up",
		"HOME/tree": "error: init HOME/tree: this directory cannot be a project: it is rewind's own directory",
		"nowhere":   "error: resolve nowhere: lstat nowhere: no such file or directory",
	} {
		if got := planned(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	in := *p
	in.home = project.Home{Dir: p.dir("no-home")}
	_, _, err = project.PlanLinked(enginetest.Bg, in.home, p.dir("one"), 0)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a home: %v", err)
	}
	// what names a store that is not here is said, and not that the tree is a project of its own
	p.write("two/.agent/rewind/id", strings.Repeat("0", 32)+"\n")
	if got := p.found("two"); !strings.Contains(got, "the store is missing") {
		t.Errorf("a tree with a marker: %s", got)
	}
	p.must(os.RemoveAll(p.dir("two/.agent")))
	p.must(p.home.NoteRemoved(p.dir("one")))
	if got := planned("one"); got != "error: init one"+not+"its history was removed here" {
		t.Errorf("removed: %s", got)
	}
	p.set("three", project.ModeGlobal)
	p.must(os.RemoveAll(p.dir("one")))
	if got := planned("two"); got != "two of three" {
		t.Errorf("beside one that is set up: %s", got)
	}
	p.write("bare/.agent/rewind/id", strings.Repeat("0", 32)+"\n")
	if got := planned("two"); !strings.Contains(got, "the store is missing") {
		t.Errorf("the store of the first is missing: %s", got)
	}
	p.must(os.RemoveAll(p.dir("bare/.agent")))
	p.must(os.Remove(p.dir("two/.git")))
	p.write("two/.git", "gitdir: "+p.dir("bare/.git/worktrees/three")+"\n")
	if got := planned("two"); !strings.HasSuffix(got, "it is no linked worktree") {
		t.Errorf("linked on one side: %s", got)
	}
}

// TestDefaultHome: the home directory is that of the environment.
func TestDefaultHome(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("REWIND_HOME", dir)
	if h, err := project.DefaultHome(); err != nil || h.Dir != dir {
		t.Errorf("%v, %v", h, err)
	}
	t.Setenv("REWIND_HOME", "relative")
	if h, err := project.DefaultHome(); err == nil || h.Dir != "" {
		t.Errorf("%v", h)
	}
}
