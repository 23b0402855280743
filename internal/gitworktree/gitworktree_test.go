package gitworktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/gitinfo"
)

// sandbox gives an empty home, and a directory beside which working trees can be made.
func sandbox(t *testing.T) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	must(t, os.Mkdir(filepath.Join(dir, "home"), 0o755))
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// git runs git as a person would, but none of a repository's programs.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitTry(dir, args...)
	if err != nil {
		t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

func gitTry(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{
		"-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main", "-c", "core.fsmonitor=false",
		"-c", "core.hooksPath=/dev/null",
	}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// repository makes one with a commit, and a directory with the same file, another one changed, and none of git's.
func repository(t *testing.T, dir string, args ...string) (repo, tree string) {
	t.Helper()
	repo, tree = filepath.Join(dir, "p"), filepath.Join(dir, "odd name: ü")
	for _, d := range []string{repo, tree} {
		must(t, os.MkdirAll(filepath.Join(d, "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(d, "sub/a"), []byte("a\n"), 0o644))
		must(t, os.WriteFile(filepath.Join(d, "b.txt"), []byte(filepath.Base(d)+"\n"), 0o644))
	}
	git(t, repo, append([]string{"init", "-q"}, args...)...)
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-qm", "one")
	return repo, tree
}

func TestAddAndRemove(t *testing.T) {
	kinds := map[string][]string{"sha1": nil, "sha256": {"--object-format=sha256"}}
	if out, err := gitTry(t.TempDir(), "init", "-q", "--ref-format=reftable"); err == nil {
		kinds["tables"] = []string{"--ref-format=reftable"}
	} else if !strings.Contains(out, "unknown option") {
		t.Fatal(out)
	}
	for kind, args := range kinds {
		for _, branch := range []string{"", "topic/new"} {
			t.Run(kind+" "+branch, func(t *testing.T) {
				dir := sandbox(t)
				repo, tree := repository(t, dir, args...)
				before := git(t, repo, "worktree", "list")
				r, err := Of(filepath.Join(repo, "sub"))
				must(t, err)
				must(t, r.Add(context.Background(), tree, branch))
				list := git(t, repo, "worktree", "list", "--porcelain")
				want := "detached"
				if branch != "" {
					want = "branch refs/heads/" + branch
				}
				if !strings.Contains(list, "worktree "+tree+"\n") || !strings.Contains(list, want) {
					t.Errorf("git lists\n%s", list)
				}
				if got := git(t, tree, "status", "--porcelain"); got != " M b.txt\n" {
					t.Errorf("git status says %q", got)
				}
				git(t, tree, "commit", "-qam", "two")
				if got := git(t, tree, "log", "--format=%s"); got != "two\none\n" {
					t.Errorf("git log says %q", got)
				}
				git(t, repo, "fsck", "--strict")
				must(t, r.Add(context.Background(), second(t, dir), ""))
				if err := r.Add(context.Background(), tree, ""); err == nil {
					t.Error("it was made again")
				}
				must(t, remove(r.place.Common, filepath.Join(dir, "second")))
				must(t, RemoveFrom(repo, tree))
				must(t, RemoveFrom(repo, tree))
				if after := git(t, repo, "worktree", "list"); after != before {
					t.Errorf("git lists\n%safterwards", after)
				}
				if _, err := os.Lstat(filepath.Join(repo, ".git", worktreesName)); err == nil {
					t.Error("something is left in .git")
				}
				if b, err := os.ReadFile(filepath.Join(tree, "b.txt")); err != nil || len(b) == 0 {
					t.Errorf("its files are gone: %v", err)
				}
			})
		}
	}
}

// second is another directory, with the same name in git but for its number.
func second(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "second")
	must(t, os.Mkdir(path, 0o755))
	return path
}

func TestAddRefused(t *testing.T) {
	dir := sandbox(t)
	if _, err := Of(dir); !errors.Is(err, ErrNoRepo) {
		t.Errorf("%v, want ErrNoRepo", err)
	}
	repo, tree := repository(t, dir)
	empty := filepath.Join(dir, "empty")
	must(t, os.Mkdir(empty, 0o755))
	git(t, empty, "init", "-q")
	if _, err := Of(empty); !errors.Is(err, errUnborn) {
		t.Errorf("%v, want errUnborn", err)
	}
	r, err := Of(repo)
	must(t, err)
	for _, branch := range []string{"main", "-x", "a..b", "@{-1}", "main/sub", ".invalid", "a b", "x.lock"} {
		if err := r.Add(context.Background(), tree, branch); err == nil {
			t.Errorf("a worktree was made on %q", branch)
		}
		if left, err := filepath.Glob(filepath.Join(repo, ".git/worktrees/*")); err != nil || len(left) > 0 {
			t.Errorf("%q: left %v", branch, left)
		}
		if _, err := os.Lstat(filepath.Join(tree, ".git")); err == nil {
			t.Errorf("%q: the directory has a .git", branch)
		}
	}
	// What git was told to leave alone stays.
	must(t, r.Add(context.Background(), tree, ""))
	git(t, repo, "worktree", "lock", tree)
	if err := RemoveFrom(repo, tree); !errors.Is(err, ErrLocked) {
		t.Errorf("%v, want ErrLocked", err)
	}
	git(t, repo, "worktree", "unlock", tree)
	// So does a worktree that only claims the directory's name, and one that the directory only claims.
	other := filepath.Join(dir, "other")
	git(t, repo, "worktree", "add", "-q", other)
	must(t, os.WriteFile(filepath.Join(tree, ".git"),
		[]byte("gitdir: "+filepath.Join(repo, ".git/worktrees/other")+"\n"), 0o644))
	must(t, RemoveFrom(repo, tree))
	if list := git(t, repo, "worktree", "list"); !strings.Contains(list, other) || strings.Contains(list, tree) {
		t.Errorf("git lists\n%s", list)
	}
	git(t, other, "status")
}

// What a kill left of older versions goes with the directory.
func TestRemoveBeside(t *testing.T) {
	dir := sandbox(t)
	repo, tree := repository(t, dir)
	beside := tree + besideSuffix
	git(t, repo, "worktree", "add", "-q", "--no-checkout", "--detach", beside)
	must(t, RemoveFrom(repo, tree))
	if _, err := os.Lstat(beside); err == nil {
		t.Error("it is there")
	}
	git(t, repo, "worktree", "add", "-q", "--no-checkout", "--detach", beside)
	must(t, os.Rename(filepath.Join(beside, ".git"), filepath.Join(tree, ".git")))
	must(t, RemoveFrom(repo, tree))
	if list := git(t, repo, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("git lists\n%s", list)
	}
}

// programs are the keys of git's configuration that name programs, %s is one; and those that have git need them.
const programs = `[core]
	fsmonitor = %[1]s
	hooksPath = %[2]s
	sshCommand = %[1]s
	gitProxy = %[1]s
	askPass = %[1]s
	editor = %[1]s
	pager = %[1]s
	alternateRefsCommand = %[1]s
	untrackedCache = true
	autocrlf = true
	attributesFile = %[3]s
[pager]
	worktree = true
	log = %[1]s
	blame = %[1]s
	config = %[1]s
[alias]
	worktree = !%[1]s
	read-tree = !%[1]s
	update-ref = !%[1]s
	blame = !%[1]s
[filter "x"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff]
	external = %[1]s
[diff "x"]
	command = %[1]s
	textconv = %[1]s
[merge "x"]
	driver = %[1]s
[credential]
	helper = !%[1]s
[gpg]
	program = %[1]s
[gpg "ssh"]
	program = %[1]s
	defaultKeyCommand = %[1]s
[commit]
	gpgSign = true
[log]
	showSignature = true
[submodule]
	recurse = true
[submodule "s"]
	update = !%[1]s
	active = true
	url = ext::%[1]s
[remote "origin"]
	url = ext::%[1]s
	promisor = true
	partialclonefilter = blob:none
	uploadpack = %[1]s
	vcs = x
[protocol "ext"]
	allow = always
[uploadpack]
	packObjectsHook = %[1]s
[sequence]
	editor = %[1]s
[interactive]
	diffFilter = %[1]s
[trailer "x"]
	command = %[1]s
	cmd = %[1]s
[sendemail]
	toCmd = %[1]s
[hook "planted = one"]
	command = %[1]s
	event = reference-transaction
	event = post-index-change
	event = post-checkout
[hook "two"]
	command = %[1]s
	event = post-index-change
[gc]
	auto = 1
	recentObjectsHook = %[1]s
[maintenance]
	auto = true
[extensions]
	worktreeConfig = true
`

// TestPromise20NothingOfARepositoryRuns: a repository that names programs wherever git takes them from has none of them
// run.
func TestPromise20NothingOfARepositoryRuns(t *testing.T) {
	for _, where := range []string{"config", "include", "includeIf", "config.worktree"} {
		t.Run(where, func(t *testing.T) {
			dir := sandbox(t)
			repo, tree := repository(t, dir)
			git(t, repo, "update-index", "--split-index") // which only git reads
			canary, hooks := filepath.Join(dir, "canary"), filepath.Join(dir, "hooks")
			program := filepath.Join(dir, "program")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >> '"+canary+"'\n"), 0o755))
			attributes := filepath.Join(dir, "attributes")
			must(t, os.WriteFile(attributes, []byte("* filter=x diff=x merge=x\n"), 0o644))
			text := fmt.Sprintf(programs, program, hooks, attributes)
			plant(t, filepath.Join(repo, ".git"), where, text)
			named := []string{
				"reference-transaction", "post-index-change", "post-checkout", "fsmonitor-watchman",
				"pre-auto-gc",
			}
			for _, at := range []string{hooks, filepath.Join(repo, ".git/hooks")} {
				must(t, os.MkdirAll(at, 0o755))
				for _, hook := range named {
					must(t,
						os.WriteFile(filepath.Join(at, hook), []byte("#!/bin/sh\nexec '"+program+"' hook\n"), 0o755))
				}
			}
			must(t,
				os.WriteFile(filepath.Join(repo, ".git/info/attributes"), []byte("* filter=x diff=x merge=x\n"), 0o644))
			for i, branch := range []string{"", "topic"} {
				r, err := Of(repo)
				must(t, err)
				at := tree
				if i > 0 {
					at = second(t, dir)
				}
				must(t, r.Add(context.Background(), at, branch))
				must(t, RemoveFrom(repo, at))
			}
			questions(t, repo)
			if b, err := os.ReadFile(canary); err == nil {
				t.Errorf("programs ran:\n%s", b)
			}
			// The trap is one: git by itself runs some of them.
			cmd := exec.Command("git", "status")
			cmd.Dir = repo
			cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH"))
			_ = cmd.Run()
			if _, err := os.Stat(canary); err != nil {
				t.Error("git itself runs none of the programs")
			}
		})
	}
}

// plant writes configuration into a git directory, in one of the ways in which git reads it.
func plant(t *testing.T, gitDir, where, text string) {
	t.Helper()
	config := filepath.Join(gitDir, "config")
	was, err := os.ReadFile(config)
	must(t, err)
	aside := filepath.Join(gitDir, "planted")
	switch where {
	case "config":
		text = string(was) + text
	case "include":
		must(t, os.WriteFile(aside, []byte(text), 0o644))
		text = string(was) + "[include]\n\tpath = planted\n"
	case "includeIf":
		must(t, os.WriteFile(aside, []byte(text), 0o644))
		text = string(was) + "[includeIf \"gitdir:**\"]\n\tpath = planted\n"
	case "config.worktree":
		must(t, os.WriteFile(filepath.Join(gitDir, where), []byte(text), 0o644))
		text = string(was) + "[extensions]\n\tworktreeConfig = true\n"
	}
	must(t, os.WriteFile(config, []byte(text), 0o644))
}

// questions asks all that is asked of a repository elsewhere, in ways that start git.
func questions(t *testing.T, repo string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(repo, ".git/info/exclude"), []byte("x\n"), 0o644))
	var reader gitinfo.Reader
	f := reader.Read(repo, false)
	if f.Tracked == nil || f.Tracked.Len() == 0 {
		t.Errorf("the index is not read: %+v", f.Faults)
	}
	r, err := gitinfo.Open(repo)
	must(t, err)
	place, err := r.Place()
	must(t, err)
	if b, err := r.FileAt(place.Head.Commit, "sub/a", 1<<10); err != nil || !bytes.Equal(b, []byte("a\n")) {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := r.BlameAt(place.Head.Commit, "sub/a", [][2]int{{1, 1}}, true); err != nil {
		t.Error(err)
	}
	if ok, err := r.Has(place.Head.Commit); err != nil || !ok {
		t.Errorf("%v, %v", ok, err)
	}
	if ok, err := r.Has(strings.Repeat("1", 40)); ok { // which a partial clone would fetch
		t.Errorf("%v, %v", ok, err)
	}
}
