//go:build acceptance

package acceptance

import "testing"

func TestLiveClaude(t *testing.T)    { each(t, testLive, claude) }
func TestLiveClaudeOld(t *testing.T) { each(t, testLive, claude21, claude20) }
func TestLiveCodex(t *testing.T)     { each(t, testLive, codex) }
func TestLiveCodexOld(t *testing.T)  { each(t, testLive, codexOld) }
func TestLiveGemini(t *testing.T)    { each(t, testLive, gemini) }
func TestLiveGeminiOld(t *testing.T) { each(t, testLive, geminiOld) }
func TestLiveDroid(t *testing.T)     { each(t, testLive, droid) }

// testLive has both turns in one terminal, in a session that no command line names, and goes back while it is open: a
// new session can be made, the session itself is not cut, and the agent goes on as if nothing had been.
func testLive(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	t.say(prompts[1])
	w.checkWork()
	id := w.session()
	file := w.file(id)
	before := w.read(file)
	w.Logf("%s: while it is open:\n%s", w.client, w.refuses(11, "checkout", "turn:1", "--in-place"))
	w.unchanged("a refused checkout", file, before)
	w.checkWork()
	r := w.goes("checkout", "turn:1", "--title", "fork of turn 1")
	made := w.wentBack(r, id)
	w.unchanged("checkout", file, before)
	t.say("NEXT-LIVE please")
	w.check("the open session", w.conversation("NEXT-LIVE please", with(bothTurns, "NEXT-LIVE please"), nil))
	d.leave(t)
	d.follow(w, made.Resume)
	w.check("the new session", w.conversation(nextInFork, with(firstTurn, nextInFork), with(secondTurn, "NEXT-LIVE")))
	w.check("list", d.listed(w, forkTitle))
	w.cut(id)
	d.must(w, id, "NEXT-CUT please")
	w.check("after the cut", w.conversation("NEXT-CUT please", with(firstTurn, "NEXT-CUT please"), with(secondTurn, "NEXT-LIVE")))
	w.checkQuiet()
}
