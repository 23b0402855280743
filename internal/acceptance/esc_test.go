//go:build acceptance

package acceptance

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestEscClaude(t *testing.T) { plays(t, "together", testEsc, claude) }
func TestEscCodex(t *testing.T)  { plays(t, "together", testEsc, codex) }
func TestEscGemini(t *testing.T) { plays(t, "together", testEsc, gemini) }
func TestEscDroid(t *testing.T)  { plays(t, "together", testEsc, droid) }

// testEsc presses Esc while a call runs, and goes on with another prompt: what the call had done by then belongs to the
// turn that was cut short, which keeps its prompt, and the next prompt is the next turn.
func testEsc(w *world, d driver) {
	w.install()
	w.rewind("init")
	t := d.open(w, "")
	t.types("ESC-TURN please")
	t.until("the call at work", func(string) bool { return w.exists("half.txt") })
	t.settling() // screens count the seconds
	t.press("Escape")
	t.settles()
	t.press("C-u") // some offer the prompt again
	t.settles()
	t.say("NEXT-CUT please")
	d.leave(t)

	id := w.session()
	w.checkTurns(id, "ESC-TURN please", "NEXT-CUT please")
	for name, want := range map[string]string{
		"turn:0": "", "turn:1": "alpha.txt half.txt", "turn:2": "alpha.txt cut.txt half.txt",
	} {
		w.checkFiles(name, want)
	}
	if w.exists("never.txt") {
		w.Errorf("%s: the call was not interrupted", w.client)
	}
	w.goes("checkout", "turn:1", "--session", id)
	w.isThere("alpha.txt half.txt")
	w.rewind("undo-restore")
	w.isThere("alpha.txt cut.txt half.txt")
	w.checkQuiet()
}

// exists tells whether the project has a file.
func (w *world) exists(name string) bool {
	return slices.Contains(w.files(), name)
}

// files are the names in the project but for README.md and what begins with a dot.
func (w *world) files() []string {
	w.Helper()
	list, err := filepath.Glob(filepath.Join(w.project, "[a-z]*"))
	if err != nil {
		w.Fatal(err)
	}
	for i, path := range list {
		list[i] = filepath.Base(path)
	}
	return list
}
