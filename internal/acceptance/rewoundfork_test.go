//go:build acceptance

package acceptance

import (
	"path/filepath"
	"testing"
)

func TestRewoundForkClaude(t *testing.T) { plays(t, "together", testRewoundFork, claude) }

// testRewoundFork takes code and conversation back behind turn 2 by Claude's own rewind: in a fork that rewind made, in
// a clone, and, so that it is known that it works there, in the session itself.
func testRewoundFork(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	t.say(prompts[1])
	d.leave(t)
	id := w.session()
	fork := w.makes("fork", "turn:2", "--session", id, "--title", "goes back")
	clone := w.makes("clone", id, "--title", "goes back, too")
	for _, of := range []struct{ what, id, next string }{
		{"the fork", fork.ID, "NEXT-MORE please"}, {"the clone", clone.ID, "NEXT-FORK please"}, {
			"the session itself", id,
			"NEXT-LIVE please",
		},
	} {
		w.write(filepath.Join(w.project, "alpha.txt"), "two\n")
		t := d.open(w, of.id)
		t.escapes("Restore the code and/or conversation")
		t.chooses("Up", "  ❯ TURN-2 please")
		t.press("Enter")
		t.chooses("", "❯ 1. Restore code and conversation")
		t.press("Enter")
		t.settles()
		t.press("C-u")
		t.settles()
		if got := w.read(filepath.Join(w.project, "alpha.txt")); got != "one\n" {
			w.Errorf("%s: Claude's own rewind in %s leaves alpha.txt %q, want %q", w.client, of.what, got, "one\n")
		}
		t.say(of.next)
		w.check(of.what, w.conversation(of.next, with(firstTurn, of.next), secondTurn))
		d.leave(t)
	}
	w.checkQuiet()
}
