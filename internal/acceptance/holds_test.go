//go:build acceptance

package acceptance

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// plays is each for another script.
func plays(t *testing.T, play string, test func(*world, driver), versions ...client) {
	t.Parallel()
	for _, d := range drivers {
		if slices.Contains(versions, d.client) {
			d.play(t, play, test)
		}
	}
}

// types types a prompt and sends it; nobody waits for the answer.
func (t *terminal) types(prompt string) {
	t.Helper()
	t.press("-l", prompt)
	t.until("typed prompt", func(s string) bool { return strings.Contains(s, prompt) })
	t.settles()
	t.press("Enter")
}

// settling gives a screen that never stands still the time that others take to settle.
func (*terminal) settling() { time.Sleep(2 * steady) }

// checkTurns holds the turns of a session against their prompts.
func (w *world) checkTurns(id string, prompts ...string) {
	w.Helper()
	var got []string
	for _, t := range w.turns(id) {
		got = append(got, t.Prompt)
	}
	if !slices.Equal(got, prompts) {
		w.Errorf("%s: rewind turns: %q, want %q", w.client, got, prompts)
	}
}

// checkFiles holds the files of a checkpoint, but for README.md, against a list.
func (w *world) checkFiles(name, want string) {
	w.Helper()
	var r struct {
		Changes []struct {
			Path   string `json:"path"`
			Status string `json:"status"`
		} `json:"files"`
	}
	w.json(&r, "diff", w.first(), name)
	var got []string
	for _, c := range r.Changes {
		got = append(got, c.Path)
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != want {
		w.Errorf("%s: %s has %q, want %q", w.client, name, s, want)
	}
}

// first is the checkpoint that init took.
func (w *world) first() string {
	w.Helper()
	for _, c := range w.checkpoints() {
		if c.Event == "init" {
			return c.ID
		}
	}
	w.Fatalf("no first checkpoint among\n%s", lines(w.checkpoints()))
	return ""
}

// isThere holds the project's files, but for README.md, against a list.
func (w *world) isThere(want string) {
	w.Helper()
	if got := strings.Join(w.files(), " "); got != want {
		w.Errorf("%s: the project has %q, want %q", w.client, got, want)
	}
}
