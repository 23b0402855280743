//go:build acceptance

package acceptance

import (
	"slices"
	"testing"
)

func TestOwnForkClaude(t *testing.T) { each(t, testOwnFork, claude) }
func TestOwnForkCodex(t *testing.T)  { each(t, testOwnFork, codex) }
func TestOwnForkDroid(t *testing.T)  { each(t, testOwnFork, droid) }

// ownFork goes on with a session in a fork that the agent itself makes of it.
var ownFork = map[string]func(w *world, id, prompt string){
	"claude": func(w *world, id, prompt string) {
		w.headless("-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--resume", id, "--fork-session")
	},
	"codex": func(w *world, id, prompt string) {
		t := w.open(append([]string{"fork", id}, codexTUI...)...)
		codexGreets(t)
		t.say(prompt)
		t.leave("/quit")
	},
	"droid": func(w *world, id, prompt string) {
		t := w.open("--fork", id, "--auto", "high")
		droidGreets(t)
		t.say(prompt)
		droidLeave(t)
	},
}

// testOwnFork has a third turn in a fork of the agent's own: it is told from which turn on the fork goes its own way,
// and the turns before that have the code that they had.
func testOwnFork(w *world, d driver) {
	w.install()
	w.rewind("init")
	id, _ := d.twoTurns(w)
	ownFork[d.agent](w, id, "NEXT-LIVE please")
	w.check("the fork", w.conversation("NEXT-LIVE please", with(bothTurns, "NEXT-LIVE please"), nil))

	list := w.sessions()
	i := slices.IndexFunc(list, func(s sessionInfo) bool { return s.ID != id })
	if i < 0 || len(list) != 2 {
		w.Fatalf("%s: rewind sessions: %+v, want %s and its fork", w.client, list, id)
	}
	fork := list[i].ID
	if from := (lineage{Session: w.agent + "/" + id, Turn: 2}); list[i].Fork == nil || *list[i].Fork != from || list[i].Turns != 3 {
		w.Errorf("%s: rewind sessions: %+v, want a fork from %+v, 3 turns", w.client, list, from)
	}
	w.checkTurns(fork, prompts[0], prompts[1], "NEXT-LIVE please")
	w.checkTurns(id, prompts...)
	for _, of := range []string{fork, id} {
		w.goes("checkout", "turn:1", "--session", of, "--code-only")
		w.at(work[2].after)
		w.goes("checkout", "turn:2", "--session", of, "--code-only")
		w.checkWork()
	}
	w.checkQuiet()
}
