//go:build acceptance

package acceptance

import (
	"strings"
	"testing"
)

func TestCompactedClaude(t *testing.T) { each(t, testCompacted, claude) }
func TestCompactedCodex(t *testing.T)  { each(t, testCompacted, codex) }
func TestCompactedDroid(t *testing.T)  { each(t, testCompacted, droid) }

// compacts are the agents' commands that replace what was said by a summary. Gemini CLI finds nothing to gain in a
// conversation this short.
var compacts = map[string]string{"claude": "/compact", "codex": "/compact", "droid": "/compress"}

// testCompacted has the agent compact the conversation between the two turns: a fork of the first turn has it in full,
// one of the second has what the agent itself goes on with.
func testCompacted(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	id := w.session()
	n := len(w.model.Requests())
	t.press("-l", compacts[d.agent])
	t.settles()
	t.press("Enter")
	if d.agent == "droid" {
		t.chooses("", "Enter to confirm") // it goes on in a new session
		t.press("Enter")
	}
	t.until("a summary", func(string) bool { return len(w.model.Requests()) > n })
	s := t.still(2 * steady)
	w.Logf("%s: %s:\n%s", w.client, compacts[d.agent], tail(s, 3000))
	t.say(prompts[1])
	t.say(nextInOrig)
	d.leave(t)
	w.check("the agent itself", w.conversation(nextInOrig, with(secondTurn, nextInOrig), firstTurn[2:3]))
	now := w.current()
	f := w.makes("fork", w.endOf(id, prompts[0]), "--session", id, "--title", "before")
	d.must(w, f.ID, nextInFork)
	w.check("fork before the compaction", w.conversation(nextInFork, with(firstTurn, nextInFork), secondTurn))
	f = w.makes("fork", w.endOf(now, prompts[1]), "--session", now, "--title", "after")
	d.must(w, f.ID, "NEXT-LIVE please")
	w.check("fork after the compaction", w.conversation("NEXT-LIVE please", with(secondTurn, "NEXT-LIVE please"),
		[]string{nextInOrig, nextInFork}))
	own, _ := w.sent(nextInOrig)
	forks, _ := w.sent("NEXT-LIVE please")
	for _, text := range firstTurn {
		if a, b := strings.Count(spoken(own), text), strings.Count(spoken(forks), text); (a == 0) != (b == 0) {
			w.Errorf("%s: %q is %d times in the conversation of the session itself, %d times in that of the fork:\n%s", w.client, text, a,
				b, short(spoken(forks)))
		}
	}
}
