//go:build acceptance

package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRewoundClaude(t *testing.T) { each(t, testRewound, claude) }
func TestRewoundCodex(t *testing.T)  { each(t, testRewound, codex) }
func TestRewoundGemini(t *testing.T) { each(t, testRewound, gemini) }
func TestRewoundDroid(t *testing.T)  { each(t, testRewound, droid) }

// back takes the conversation, and not the code, back to the end of the first turn by what each agent has for that
// itself.
var back = map[string]func(*terminal){
	"claude": func(t *terminal) {
		t.escapes("Restore the code and/or conversation")
		t.chooses("Up", "  ❯ TURN-2 please") // the conversation above shows it without the spaces
		t.press("Enter")
		t.chooses("Down", "❯ 2. Restore conversation")
		t.press("Enter")
	},
	"codex": func(t *terminal) {
		t.escapes("↵ rewind")
		t.press("Enter")
		t.until("the conversation reverted",
			func(s string) bool { return strings.Contains(s, "Conversation reverted") })
	},
	"gemini": func(t *terminal) {
		t.escapes("Stay at current position")
		t.chooses("Up", "● TURN-2 please")
		t.press("Enter")
		t.chooses("Down", "● 2. Rewind conversation") // the first takes the code back, too
		t.press("Enter")
	},
	"droid": func(t *terminal) {
		t.press("-l", "/rewind-conversation")
		t.settles()
		t.press("Enter")
		t.chooses("", "TURN-2 please")
		t.press("Enter")
		t.chooses("Down", "> Don't restore files")
		t.press("Enter")
	},
}

// escapes presses Escape twice.
func (t *terminal) escapes(opens string) {
	t.Helper()
	t.press("Escape")
	time.Sleep(300 * time.Millisecond) // in one burst they are another key
	t.press("Escape")
	t.until(opens, func(s string) bool { return strings.Contains(s, opens) })
	t.settles()
}

// chooses presses a key until the line that is chosen shows a text.
func (t *terminal) chooses(key, text string) {
	t.Helper()
	for range 12 {
		s := t.settles()
		if slices.ContainsFunc(strings.Split(s, "\n"), func(l string) bool {
			return strings.Contains(l, text)
		}) {
			return
		}
		if key != "" {
			t.press(key)
		}
	}
	s, _ := t.screen()
	t.Fatalf("%s offers no %q:\n%s", t.client, text, s)
}

// testRewound goes back in the agent itself and on from there: what was left behind can be forked, and so can what came
// after.
func testRewound(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.say(prompts[0])
	t.say(prompts[1])
	id := w.session()
	back[d.agent](t)
	t.settles()
	t.press("C-u") // it offers the prompt that it has gone behind
	t.settles()
	t.say("NEXT-MORE please")
	d.leave(t)
	w.check("after the agent's own rewind",
		w.conversation("NEXT-MORE please", with(firstTurn, "NEXT-MORE please"), secondTurn))

	current := w.current()
	w.Logf("%s: the session was %s, is %s", w.client, id, current)
	f := w.makes("fork", w.endOf(id, prompts[1]), "--session", id, "--title", "what was left behind")
	d.must(w, f.ID, nextInFork)
	w.check("fork of what was left behind",
		w.conversation(nextInFork, with(bothTurns, nextInFork), []string{"NEXT-MORE"}))
	f = w.makes("fork", w.endOf(current, "NEXT-MORE please"), "--session", current, "--title", "what came after")
	d.must(w, f.ID, "NEXT-LIVE please")
	w.check("fork of what came after", w.conversation("NEXT-LIVE please",
		with(firstTurn, "NEXT-MORE please", "NEXT-MORE complete.", "NEXT-LIVE please"), secondTurn))
	f = w.makes("fork", w.endOf(current, prompts[0]), "--session", current, "--title", "fork of turn 1")
	d.must(w, f.ID, "NEXT-BACK please")
	w.check("fork of the first turn", w.conversation("NEXT-BACK please", with(firstTurn, "NEXT-BACK please"),
		with(secondTurn, "NEXT-MORE")))
	w.check("list", d.listed(w, "what was left behind"))
	d.must(w, current, nextInOrig)
	w.check("the session itself",
		w.conversation(nextInOrig, with(firstTurn, "NEXT-MORE please", nextInOrig), with(secondTurn, nextInFork)))
	// the agent took the conversation back, not the code
	w.goes("checkout", w.endOf(current, prompts[0]), "--session", current, "--code-only")
	w.at(work[2].after)
	w.goes("checkout", w.endOf(current, "NEXT-MORE please"), "--session", current, "--code-only")
	w.checkWork()
	w.goes("checkout", w.endOf(id, prompts[1]), "--session", id, "--code-only")
	w.checkWork()
}

// endOf is the name of the end of the turn with a prompt.
func (w *world) endOf(id, prompt string) string {
	w.Helper()
	list := w.turns(id)
	i := slices.IndexFunc(list, func(t turn) bool { return t.Prompt == prompt })
	if i < 0 {
		w.Fatalf("%s: rewind turns has no %q: %+v", w.client, prompt, list)
	}
	return fmt.Sprintf("turn:%d", list[i].Turn)
}

// current is the agent's id of the session that rewind goes by when none is named.
func (w *world) current() string {
	w.Helper()
	var r struct {
		Session string `json:"session"`
	}
	w.json(&r, "turns")
	_, id, _ := strings.Cut(r.Session, "/")
	return id
}
