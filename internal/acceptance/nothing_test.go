//go:build acceptance

package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNothingClaude(t *testing.T) { each(t, testNothing, claude) }
func TestNothingCodex(t *testing.T)  { each(t, testNothing, codex) }
func TestNothingGemini(t *testing.T) { each(t, testNothing, gemini) }
func TestNothingDroid(t *testing.T)  { each(t, testNothing, droid) }

// testNothing has one turn where nothing but init has been done: the programs are in a directory of their own, which is
// gone by then, no daemon runs, and the turn is captured.
func testNothing(w *world, d driver) {
	built := w.mkdir(filepath.Join(filepath.Dir(w.home), "built"))
	w.copyPrograms(built)
	rewind := filepath.Join(built, "rewind")
	w.Logf("%s", w.must(rewind, "init"))
	said, _, err := w.run(rewind, "validate")
	// which it asks about when it is started
	if err != nil && (w.agent != "codex" || !strings.Contains(said, "not trusted yet")) {
		w.Errorf("%s: rewind validate after init: %v\n%s", w.client, err, said)
	}
	w.must(rewind, "daemon", "stop")
	if err := os.RemoveAll(built); err != nil {
		w.Fatal(err)
	}
	d.begin(w, prompts[0])
	w.at(work[2].after)
	if err := os.Symlink(filepath.Join(w.home, ".rewind", "system", "rewind"),
		filepath.Join(w.home, ".local", "bin", "rewind")); err != nil {
		w.Fatal(err)
	}
	id, ends := w.session(), 0
	for _, c := range w.checkpoints() {
		if c.Session == id && c.Event == stop && c.Turn == 1 {
			w.holds(c, work[2].after)
			ends++
		}
	}
	if ends == 0 {
		w.Errorf("%s: the turn was not captured:\n%s", w.client, lines(w.checkpoints()))
	}
	if diff := w.rewind("diff"); diff != "" {
		w.Errorf("rewind diff after the turn:\n%s", diff)
	}
	if said := w.rewind("validate"); !strings.Contains(said, "which start rewind ") || strings.Contains(said, "finding") {
		w.Errorf("%s: rewind validate:\n%s", w.client, said)
	}
	w.checkQuiet()
}
