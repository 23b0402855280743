//go:build acceptance

package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBlockedClaude(t *testing.T) { plays(t, "together", testBlocked, claude) }

// testBlocked has a hook of the person's own refuse prompts, the first of all and one between two: a refused one has a
// number, every name behind it means its turn, and numbers go on where the session is cut in place.
func testBlocked(w *world, d driver) {
	w.install()
	hook := filepath.Join(w.home, "no.sh")
	w.write(hook, "if grep -q forbidden; then echo 'not here' >&2; exit 2; fi\n")
	own := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "sh " + hook}}}
	w.writeJSON(filepath.Join(w.home, ".claude", "settings.json"),
		map[string]any{"hooks": map[string]any{"UserPromptSubmit": []any{own}}})
	w.rewind("init")
	t := d.open(w, "")
	refused := func(prompt string) {
		t.types(prompt)
		t.until("the refusal", func(s string) bool { return strings.Contains(s, "Original prompt: "+prompt) })
		t.settles()
		t.press("C-u") // it is on the line again
		t.settles()
	}
	refused("a forbidden word")
	t.say(prompts[0])
	id := w.session()
	refused("and another forbidden one")
	t.say("NEXT-CUT please")
	d.leave(t)
	w.checkTurns(id, "a forbidden word", prompts[0], "and another forbidden one", "NEXT-CUT please")
	w.checkFiles("turn:1", "")
	w.checkFiles("turn:2", "alpha.txt beta.txt")
	w.checkFiles("turn:3", "alpha.txt beta.txt")
	w.checkFiles("turn:4", "alpha.txt beta.txt cut.txt")
	if out := w.rewind("fork", "before:4"); !strings.Contains(out, "at the end of turn 2: ") {
		w.Errorf("fork before:4 says\n%s", out)
	}
	w.goes("checkout", "turn:2", "--in-place", "--session", id)
	w.isThere("alpha.txt beta.txt")
	t = d.open(w, id)
	t.say("NEXT-CUT please")
	d.leave(t)
	w.checkTurns(id, "a forbidden word", prompts[0], "and another forbidden one", "NEXT-CUT please", "NEXT-CUT please")
	w.checkFiles("turn:3", "alpha.txt beta.txt cut.txt")
}
