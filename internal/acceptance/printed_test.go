//go:build acceptance

package acceptance

import (
	"strings"
	"testing"
)

// TestForkPrinted forks sessions that were begun without a terminal, Codex's in code mode: the agents leave them out of
// their lists, or show them only when they are asked to.
func TestForkPrinted(t *testing.T) {
	t.Parallel()
	exec := codexExec("--dangerously-bypass-hook-trust")
	for _, d := range drivers {
		switch d.client {
		case claude:
			d.begin = func(w *world, prompt string) { claudePrint(w, prompt) }
		case codex:
			d.offline = codexOffline("gpt-5.6-sol")
			d.begin = func(w *world, prompt string) { exec(w, prompt) }
			d.resume = func(w *world, id, prompt string) error {
				_, err := w.try("exec", "--dangerously-bypass-hook-trust", "resume", id, prompt)
				return err
			}
		default:
			continue
		}
		d.test(t, testPrinted)
	}
}

func testPrinted(w *world, d driver) {
	w.install()
	w.rewind("init")
	id, _ := d.twoTurns(w)
	f := w.makes("fork", "turn:1", "--title", "fork of turn 1")
	shown := false
	for how, shows := range d.lists(w) {
		w.Logf("%s: %s: listed %v (%s)\n%s", w.client, how, f.Listed, f.Problem, shows)
		shown = shown || strings.Contains(shows, forkTitle)
	}
	if shown != f.Listed {
		w.Errorf("%s: the fork is listed: %v; rewind says %v: %s", w.client, shown, f.Listed, f.Problem)
	}
	w.check("apart", d.apart(w, id, f.ID))
	w.checkQuiet()
}
