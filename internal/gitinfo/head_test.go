package gitinfo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	sandbox(t)
	for _, c := range []struct {
		name string
		make func(t *testing.T) string
	}{
		{"branch", func(t *testing.T) string { return newRepo(t) }},
		{"slashes", func(t *testing.T) string { r := newRepo(t); git(t, r, "checkout", "-q", "-b", "x/y/é"); return r }},
		{"packed", func(t *testing.T) string { r := newRepo(t); git(t, r, "pack-refs", "--all"); return r }},
		{"packed, longer name first", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "branch", "mai", "HEAD~1")
			git(t, r, "branch", "maiden", "HEAD")
			git(t, r, "tag", "-a", "-m", "m", "main", "HEAD~1")
			git(t, r, "checkout", "-q", "mai")
			git(t, r, "pack-refs", "--all")
			return r
		}},
		{"packed, directory in its place", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "pack-refs", "--all")
			if err := os.MkdirAll(filepath.Join(r, ".git/refs/heads/main/x"), 0o700); err != nil {
				t.Fatal(err)
			}
			return r
		}},
		{"loose over packed", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "pack-refs", "--all")
			git(t, r, "commit", "-q", "--allow-empty", "-m", "x")
			return r
		}},
		{"detached", func(t *testing.T) string { r := newRepo(t); git(t, r, "checkout", "-q", "HEAD~1"); return r }},
		{"unborn", func(t *testing.T) string { r := newRepo(t); git(t, r, "checkout", "-q", "--orphan", "new"); return r }},
		{"empty", func(t *testing.T) string { r := t.TempDir(); git(t, r, "init", "-q"); return r }},
		{"linked worktree", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "worktree", "add", "-q", "-b", "side", "../side", "HEAD~1")
			git(t, r, "pack-refs", "--all")
			return filepath.Join(filepath.Dir(r), "side")
		}},
		{"submodule", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "submodule", "-q", "add", newRepo(t), "sub")
			return filepath.Join(r, "sub")
		}},
		{"symbolic branch", func(t *testing.T) string {
			r := newRepo(t)
			git(t, r, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			git(t, r, "symbolic-ref", "HEAD", "refs/heads/alias")
			return r
		}},
		{"link", func(t *testing.T) string {
			r := newRepo(t)
			head := filepath.Join(r, ".git/HEAD")
			if err := errors.Join(os.Remove(head), os.Symlink("refs/heads/main", head)); err != nil {
				t.Fatal(err)
			}
			return r
		}},
		{"sha256", func(t *testing.T) string { return newRepo(t, "--object-format=sha256") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := c.make(t)
			r := open(t, dir)
			untouched(t, r.CommonDir())
			want, err := r.headFromGit()
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "symbolic branch" {
				want.Branch = "alias" // git symbolic-ref goes to the end
			}
			t.Setenv("GIT_DIR", "/nowhere")
			withoutGit(t)
			if got, err := r.Head(); err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
			if (want.Commit == "") != (c.name == "unborn" || c.name == "empty") || want.detached != (c.name == "detached") {
				t.Errorf("git says %+v, the case is not what it should be", want)
			}
		})
	}
}

func TestHeadRefused(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	r := open(t, dir)
	secret := filepath.Join(dir, "secret")
	put(t, secret, strings.Repeat("a", 40))
	for _, head := range []string{
		"", "nonsense", "ref: ", "ref: ../secret", "ref: refs/../../secret", "ref: refs/heads/../../../secret",
		"ref: refs//x", "ref: " + secret, "ref: refs/heads/a\x00b", strings.Repeat("g", 40),
	} {
		put(t, filepath.Join(dir, ".git/HEAD"), head+"\n")
		if got, err := r.Head(); !errors.Is(err, errCorrupt) {
			t.Errorf("HEAD %q: %+v, %v; want ErrCorrupt", head, got, err)
		}
	}
	put(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/loop\n")
	put(t, filepath.Join(dir, ".git/refs/heads/loop"), "ref: refs/heads/loop\n")
	if _, err := r.Head(); !errors.Is(err, errCorrupt) {
		t.Errorf("loop of refs: %v, want ErrCorrupt", err)
	}
}

// A reftable is left to git; this one plays a git that knows it.
func TestHeadReftable(t *testing.T) {
	sandbox(t)
	dir := newRepo(t)
	r := open(t, dir)
	put(t, filepath.Join(dir, ".git/HEAD"), "ref: refs/heads/.invalid\n")
	put(t, filepath.Join(dir, ".git/reftable/tables.list"), "")
	hash := strings.Repeat("1", 40)
	calls := fakeGit(t, `case "$*" in *symbolic-ref*) echo refs/heads/main;; *rev-parse*) echo `+hash+`;; esac`)
	if got, err := r.Head(); err != nil || (got != Head{Commit: hash, Branch: "main"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := strings.Count(calls(), "\n"); n != 2 {
		t.Errorf("git was called %d times: %s", n, calls())
	}
	withoutGit(t)
	if _, err := r.Head(); !errors.Is(err, errNoGit) {
		t.Errorf("without git: %v, want ErrNoGit", err)
	}
}

func TestState(t *testing.T) {
	sandbox(t)
	conflict := func(t *testing.T) string {
		r := newRepo(t)
		git(t, r, "checkout", "-q", "-b", "side", "HEAD~1")
		for _, v := range []string{"one\n", "two\n"} {
			put(t, filepath.Join(r, "a/file"), v)
			git(t, r, "commit", "-q", "-a", "-m", v)
		}
		return r
	}
	for _, c := range []struct {
		want string
		args [][]string
	}{
		{"", nil},
		{stateMerge, [][]string{{"merge", "main"}}},
		{stateRebase, [][]string{{"rebase", "main"}}},
		{stateRebase, [][]string{{"rebase", "--apply", "main"}}},
		{stateRebase, [][]string{{"rebase", "-i", "--rebase-merges", "main"}}},
		{stateCherryPick, [][]string{{"cherry-pick", "main"}}},
		{stateCherryPick, [][]string{
			{"checkout", "-q", "main"},
			{"cherry-pick", "side~1", "side"},
			{"add", "."},
			{"commit", "-q", "--allow-empty", "-m", "x"},
		}},
		{stateRevert, [][]string{{"revert", "HEAD~1"}}},
		{stateBisect, [][]string{{"bisect", "start"}, {"bisect", "bad"}}},
		{stateMerge, [][]string{{"bisect", "start"}, {"merge", "main"}}},
	} {
		dir := conflict(t)
		for _, a := range c.args {
			mayFail(dir, a...)
		}
		r := open(t, dir)
		untouched(t, r.CommonDir())
		if got, err := r.state(); err != nil || got != c.want {
			t.Errorf("after %q: %q, %v; want %q\n%s", c.args, got, err, c.want, git(t, dir, "status"))
		}
	}
	dir := conflict(t)
	linked := filepath.Join(filepath.Dir(dir), "linked")
	git(t, dir, "worktree", "add", "-q", "--detach", linked, "side")
	mayFail(linked, "merge", "main")
	for d, want := range map[string]string{dir: "", linked: stateMerge} {
		if got, err := open(t, d).state(); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", d, got, err, want)
		}
	}
}
