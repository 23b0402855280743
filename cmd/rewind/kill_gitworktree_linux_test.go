package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/torture"
	"rewind/transcript"
)

// TestKillGitWorktree kills what makes a worktree that is git's, too, and what removes one, before their calls that
// change something. Git lists nothing then that 'worktrees' does not list, and nothing that 'worktrees remove' does not
// remove; nor does its directory hold it.
func TestKillGitWorktree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("missing tool: git")
	}
	k := newTalker(t, transcript.Claude)
	repo := filepath.Join(k.saved(), "p")
	git := func(dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git(repo, "init", "-q")
	git(repo, "add", "start")
	git(repo, "commit", "-qm", "one")
	k.reset()
	repo = filepath.Join(k.home, "p")
	dir := filepath.Join(k.home, "try")
	fork := []string{"fork", "turn:1", "--worktree", "../try", "--git-branch", "topic"}
	// clean holds what is promised, and ends with nothing of the worktree.
	clean := func(what string, n int) (listed bool) {
		t.Helper()
		_, said := k.try("worktrees")
		for line := range strings.Lines(git(repo, "worktree", "list", "--porcelain")) {
			path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
			if !ok || path == repo {
				continue
			}
			listed = true
			if path != dir || !strings.Contains(said, dir) {
				t.Errorf("%s killed at call %d: git lists %s, 'worktrees' says\n%s", what, n, path, said)
			}
		}
		if strings.Contains(said, dir) {
			k.must("worktrees", "remove", "../try", "--force")
		}
		if left, _ := filepath.Glob(filepath.Join(repo, ".git/worktrees/*")); len(left) > 0 {
			t.Errorf("%s killed at call %d: left %v", what, n, left)
		}
		if got := git(repo, "worktree", "list"); strings.Count(got, "\n") != 1 {
			t.Errorf("%s killed at call %d: git still lists\n%s", what, n, got)
		}
		if left, _ := filepath.Glob(dir + ".rewind*"); len(left) > 0 {
			t.Errorf("%s killed at call %d: left %v", what, n, left)
		}
		git(repo, "fsck")
		return listed
	}
	code, calls := k.run(0, fork...)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	seen := map[bool]int{}
	for _, n := range append([]int{1, calls / 4}, lastPoints(8, calls)...) {
		k.reset()
		k.run(n, fork...)
		seen[clean("the fork", n)]++
	}
	if seen[true]*seen[false] == 0 {
		t.Errorf("git listed it after %d kills, and did not after %d", seen[true], seen[false])
	}
	k.reset()
	k.must(fork...)
	_, calls = k.run(0, "worktrees", "remove", "../try")
	for _, n := range lastPoints(6, calls) {
		k.reset()
		k.must(fork...)
		k.run(n, "worktrees", "remove", "../try")
		clean("the removal", n)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("the removal killed at call %d: the directory is there", n)
		}
	}
}

// lastPoints are calls among the last ones, where git's part is; all of them at full size.
func lastPoints(want, calls int) (list []int) {
	last := min(calls, 60)
	if torture.Full() {
		want = last
	}
	for i := range want {
		list = append(list, calls-last+1+i*last/want)
	}
	return list
}
