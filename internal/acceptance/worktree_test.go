//go:build acceptance

package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestWorktreeClaude(t *testing.T) { each(t, testWorktree, claude) }
func TestWorktreeCodex(t *testing.T)  { each(t, testWorktree, codex) }
func TestWorktreeGemini(t *testing.T) { each(t, testWorktree, gemini) }
func TestWorktreeDroid(t *testing.T)  { each(t, testWorktree, droid) }

// testWorktree forks the end of the first of two turns into a worktree: the agent goes on with it there, and what it
// does is that directory's alone.
func testWorktree(w *world, d driver) {
	w.install()
	w.rewind("init")
	id, _ := d.twoTurns(w)
	f := w.makes("fork", "turn:1", "--worktree", "../my.try 2", "--git", "--title", "fork of turn 1")
	there := *w
	there.project = filepath.Join(filepath.Dir(w.project), "my.try 2")
	before := w.rewind("list", "--all", "--json")
	if d.agent != "droid" { // which asks first whether the directory is trusted
		w.check("list", d.listed(&there, forkTitle))
	}
	if err := d.resume(&there, f.ID, nextInFork); err != nil {
		w.Errorf("%s: the fork is not gone on with: %v", w.client, err)
	}
	w.check("the fork", w.conversation(nextInFork, with(firstTurn, nextInFork), secondTurn))
	if now := w.rewind("list", "--all", "--json"); now != before {
		w.Errorf("%s: what was done in the worktree is in the project's list:\n%s", w.client, now)
	}
	if turns := there.rewind("turns", "--session", f.ID); !strings.Contains(turns, nextInFork) {
		w.Errorf("%s: the worktree has not the turn that was made in it:\n%s", w.client, turns)
	}
	if err := d.resume(w, id, nextInOrig); err != nil {
		w.Error(err)
	}
	w.check("the original", w.conversation(nextInOrig, with(bothTurns, nextInOrig), []string{nextInFork}))
}
