package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/internal/torture"
	"rewind/transcript"
)

// TestKillWorktree kills what makes a worktree before its calls that change something, and what removes one. The
// project and its session are as they were, always; and what is left of the worktree is an ordinary directory, one that
// 'worktrees' calls not finished, or all of it, and goes away by what the listing says. Then the same command succeeds.
func TestKillWorktree(t *testing.T) {
	t.Parallel()
	k := newTalker(t, transcript.Claude)
	fork := []string{"fork", "turn:1", "--worktree", "../try"}
	dir, said := filepath.Join(k.home, "try"), ""
	session, err := os.ReadFile(k.file)
	must(t, err)
	code, calls := k.run(0, fork...)
	if code != 0 || calls == 0 {
		t.Fatalf("exit code %d, %d calls", code, calls)
	}
	seen := map[string]int{}
	makes, goes := 6, 1
	if torture.Full() {
		makes, goes = 2*calls, 100
	}
	for _, n := range append(latePoints(makes, calls), 1) { // killed at once, it has left nothing
		k.reset()
		k.run(n, fork...)
		if now, err := os.ReadFile(k.file); err != nil || string(now) != string(session) {
			t.Errorf("killed at call %d: the session's file is another, %v", n, err)
		}
		if d := k.must("diff", "--name-only"); !strings.Contains(d, "nothing is unsaved") {
			t.Errorf("killed at call %d: the project has changed: %s", n, d)
		}
		k.must("verify")
		_, said = k.try("worktrees")
		_, err := os.Stat(dir)
		switch {
		case strings.Contains(said, "not finished"):
			seen["not finished"]++
			k.must("worktrees", "remove", "../try", "--force")
		case strings.Contains(said, dir):
			seen["whole"]++
			k.must("worktrees", "remove", "../try")
		case err == nil:
			seen["no project"]++
			discard(t, dir)
		default:
			seen["nothing"]++
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("killed at call %d: it does not go away", n)
		}
		k.must(fork...)
	}
	if seen["nothing"]*seen["not finished"] == 0 {
		t.Errorf("the kills left only %v", seen)
	}
	// Its removal: what was saved is in its store, and the directory goes the second time at the latest.
	_, calls = k.run(0, "worktrees", "remove", "../try")
	for _, n := range latePoints(goes, calls) {
		k.reset()
		k.must(fork...)
		write(t, dir, map[string]string{"mine": "new\n"})
		k.run(n, "worktrees", "remove", "../try")
		if _, said = k.try("worktrees"); strings.Contains(said, dir) {
			k.must("worktrees", "remove", "../try", "--force")
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("killed at call %d: the directory is there", n)
		}
		id := ""
		for line := range strings.Lines(k.must("stores")) {
			if strings.Contains(line, "belongs to no directory") {
				id = strings.Fields(line)[0]
			}
		}
		must(t, os.Mkdir(dir, 0o755))
		k.must("stores", "join", id, dir)
		cmd := k.command("checkout", "@", "--code-only", "--exact")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("killed at call %d: %v\n%s", n, err, out)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "mine")); err != nil || string(b) != "new\n" {
			t.Errorf("killed at call %d: what was saved does not come back: %v", n, err)
		}
		k.must("verify")
	}
}
