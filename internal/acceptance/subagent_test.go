//go:build acceptance

package acceptance

import "testing"

func TestSubagentClaude(t *testing.T) { plays(t, "together", testSubagent, claude) }
func TestSubagentCodex(t *testing.T)  { plays(t, "together", testSubagent, codex) }
func TestSubagentGemini(t *testing.T) { plays(t, "together", testSubagent, gemini) }
func TestSubagentDroid(t *testing.T)  { plays(t, "together", testSubagent, droid) }

// testSubagent has a turn in which the agent lets another do the work, of most in the background: that work is the
// session's and the turn's, however late it comes, and neither the other's prompt nor the news of its end is a turn.
func testSubagent(w *world, d driver) {
	if w.agent == "codex" {
		config := w.home + "/.codex/config.toml"
		w.write(config, w.read(config)+"[features]\nmulti_agent_v2 = true\n")
	}
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	id := w.session()
	t.types("PARENT-TURN please")
	t.until("the subagent's work", func(string) bool { return w.exists("child.txt") })
	t.until("the end of both", func(s string) bool { return w.asked("CHILD-GO") > 1 && w.asked("PARENT-TURN") > 1 })
	t.still(4 * steady)
	t.say("NEXT-CUT please")
	d.leave(t)

	w.checkTurns(id, prompts[0], "PARENT-TURN please", "NEXT-CUT please")
	w.checkFiles("turn:1", "alpha.txt beta.txt")
	w.checkFiles("turn:2", "alpha.txt beta.txt child.txt")
	w.rewind("undo", "--session", id)
	w.isThere("alpha.txt beta.txt child.txt")
	w.rewind("undo", "--session", id)
	w.isThere("alpha.txt beta.txt")
	w.rewind("redo", "--session", id)
	w.isThere("alpha.txt beta.txt child.txt")
	w.goes("checkout", "turn:1", "--session", id, "--code-only")
	w.isThere("alpha.txt beta.txt")
	w.checkQuiet()
}
