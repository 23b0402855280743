package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitLayout is a way to lay out repositories in a project. The snippets are run by bash in the project.
type gitLayout struct {
	name         string
	make, change string   // change is what is done between two checkpoints
	git          []string // git's directories, and working trees of their own
	edit         string   // a file of the project that goes back
}

var gitLayouts = []gitLayout{
	{
		"plain", "git init -q .; echo 1 > f; git add .; git commit -qm one", "git commit -qam two; git branch x",
		[]string{".git"},
		"f",
	},
	{
		"separate", "git init -q --separate-git-dir=repo.git .; echo 1 > f; git add f; git commit -qm one",
		"git commit -qam two; git tag v",
		[]string{"repo.git"},
		"f",
	},
	{
		"separate, deep, tracked as files",
		"mkdir -p a/b; git init -q --separate-git-dir=a/b/repo .; echo 1 > f; git add -f f; git commit -qm one",
		"git commit -qam two",
		[]string{"a/b/repo"},
		"f",
	},
	{
		"bare layout", "git init -q s; (cd s; echo 1 > f; git add .; git commit -qm one); git clone -q --bare s .bare; rm -rf s; " +
			"echo 'gitdir: ./.bare' > .git; git worktree add -q main main; echo 1 > notes",
		"(cd main; echo 2 > f; git commit -qam two; echo mine > hand); git worktree add -q -b x x main; echo mine > x/hand",
		[]string{".bare", "main", "x"},
		"notes",
	},
	{
		"bare remote inside", "git init -q .; git init -q --bare server.git; " +
			"echo server.git >> .git/info/attributes; echo 1 > f; git add f; " +
			"git commit -qm one; git push -q server.git HEAD:main",
		"git commit -qam two; git push -q server.git HEAD:main",
		[]string{".git", "server.git"},
		"f",
	},
	{
		"bare fixture in no repository", "mkdir -p test/data; git init -q --bare test/data/r.git; echo 1 > f",
		"git init -q t; (cd t; echo 1 > a; git add .; git commit -qm a; git push -q ../test/data/r.git " +
			"HEAD:main)",
		[]string{"test/data/r.git", "t"},
		"f",
	},
	{
		"repo tool", "mkdir -p .repo/project-objects .repo/projects; git init -q --bare .repo/project-objects/a.git; git init -q --bare " +
			".repo/projects/a.git; rm -rf .repo/projects/a.git/objects; " +
			"ln -s ../../project-objects/a.git/objects .repo/projects/a.git/objects; " +
			"git init -q --bare .repo/manifests.git; mkdir a; ln -s ../.repo/projects/a.git a/.git; " +
			"(cd a; git config core.bare false; echo 1 > f; git add .; git commit -qm one)",
		"(cd a; git commit -qam two; git branch other)",
		[]string{".repo"},
		"a/f",
	},
	{
		"worktree below", "git init -q .; echo 1 > f; git add .; git commit -qm one",
		"git worktree add -q -b x .claude/worktrees/x; echo mine >> .claude/worktrees/x/f",
		[]string{".git", ".claude/worktrees/x"},
		"f",
	},
	{
		"worktree that goes",
		"git init -q .; echo 1 > f; git add .; git commit -qm one; git worktree add -q -b x wt",
		"git worktree remove --force wt",
		[]string{".git", "wt"},
		"f",
	},
	{
		"nested repository, made since", "git init -q .; echo 1 > f; git add .; git commit -qm one",
		"git init -q in/ner; (cd in/ner; echo 1 > a; git add .; git commit -qm a; echo mine > hand)",
		[]string{".git", "in/ner"},
		"f",
	},
	{
		"submodule, added since",
		"git init -q ../lib; (cd ../lib; echo 1 > a; git add .; git commit -qm a); git init -q .; echo 1 > f; " +
			"git add .; git commit -qm one",
		"git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qam sub; " +
			"(cd lib; git checkout -qb w; echo 2 > a; " +
			"git commit -qam w)",
		[]string{".git", "lib"},
		"f",
	},
	{
		"git init in a folder of the project", "mkdir src; echo 1 > src/f; echo 1 > f",
		"cd src; git init -q .; git add .; git commit -qm one",
		[]string{"src/.git"},
		"src/f",
	},
	{
		"damaged, found by the .git file alone",
		"git init -q --separate-git-dir=g .; echo 1 > f; git add f; git commit -qm one; rm g/HEAD",
		"echo x > g/logs/x; mkdir -p g/objects/ff; echo o > g/objects/ff/o",
		[]string{"g"},
		"f",
	},
}

// Going back and forth over commits, pushes, new worktrees and repositories leaves every repository as it is, byte for
// byte, however git's directories are laid out (T26).
func TestT26Promise10GitLayouts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	for _, l := range gitLayouts {
		t.Run(l.name, func(t *testing.T) {
			base := t.TempDir()
			p := filepath.Join(base, "p")
			must(t, os.Mkdir(p, 0o755))
			bash(t, p, l.make)
			mustHere(t, p, "init", "--agents", "none")
			first := checkpoints(t, p)[0]
			must(t, os.WriteFile(filepath.Join(p, l.edit), []byte("2\n"), 0o644))
			bash(t, p, l.change)
			mustHere(t, p, "save", "two")
			state := gitState(t, p, l.git)
			for _, args := range [][]string{
				{"checkout", first},
				{"undo-restore"},
				{"undo"},
				{"redo"},
				{"checkout", first, "--exact"},
				{"undo-restore"},
				{"checkout", first, "--", l.edit},
				{"undo-restore"},
				{"revert", "@"},
			} {
				code, out, errs := here(p, args...)
				if code != 0 && code != 15 {
					t.Fatalf("rewind %q: exit code %d\n%s%s", args, code, out, errs)
				}
				if d := difference(state, gitState(t, p, l.git)); d != "" {
					t.Fatalf("rewind %q changed what is git's:\n%s\n%s%s", args, d, out, errs)
				}
				if args[0] == "checkout" || args[0] == "undo" {
					if b, err := os.ReadFile(filepath.Join(p, l.edit)); err != nil || string(b) != "1\n" {
						t.Fatalf("after rewind %q %s is %q, %v", args, l.edit, b, err)
					}
				}
			}
		})
	}
}

// bash runs a snippet as a user with a name.
func bash(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.name",
		"GIT_CONFIG_VALUE_0=n",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=e", "GIT_CONFIG_KEY_2=init.defaultBranch",
		"GIT_CONFIG_VALUE_2=main")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// gitState lists directories with all that is in them; one that is not there is listed as that.
func gitState(t *testing.T, p string, dirs []string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		list, err := listing(filepath.Join(p, filepath.FromSlash(dir)))
		if err != nil {
			list = err.Error() + "\n"
		}
		b.WriteString(dir + "\n" + list)
	}
	return b.String()
}
