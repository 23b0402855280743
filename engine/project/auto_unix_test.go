package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/project"
)

// TestPromise17AutoOfAnotherUser: a repository is not set up by itself where .git is a directory of another user's, or
// a file or a link that leads to one, or whose common directory is one.
func TestPromise17AutoOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("another user is needed: root")
	}
	p := enginetest.NewProject(t) // for its home
	base, err := filepath.EvalSymlinks(t.TempDir())
	p.Must(err)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	give := func(dir string, uid int) {
		t.Helper()
		p.Must(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, uid, uid)
		}))
	}
	in := func(name string) string { return filepath.Join(base, name) }
	git("init", "-q", in("theirs"))
	git("-C", in("theirs"), "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-q", "--allow-empty", "-m", "x")
	git("-C", in("theirs"), "worktree", "add", "-q", in("linked"))
	for _, dir := range []string{"file", "link"} {
		p.Must(os.Mkdir(in(dir), 0o755))
	}
	p.Must(os.WriteFile(in("file/.git"), []byte("gitdir: "+in("theirs/.git")+"\n"), 0o644))
	p.Must(os.Symlink(in("theirs/.git"), in("link/.git")))
	all := []string{"file", "link", "linked"}
	for _, dir := range all {
		if root, err := project.PlanAuto(enginetest.Bg, p.Home, in(dir), 0); err != nil || root != in(dir) {
			t.Errorf("%s, of this user's: %q, %v", dir, root, err)
		}
	}
	give(in("theirs/.git"), 65534)
	give(in("theirs/.git/worktrees"), 0) // the git directory of linked is this user's; what it shares is not
	for _, dir := range append(all, "theirs") {
		root, err := project.PlanAuto(enginetest.Bg, p.Home, in(dir), 0)
		if err == nil || !strings.Contains(err.Error(), "another user's") {
			t.Errorf("%s: %q, %v", dir, root, err)
		}
	}
}
