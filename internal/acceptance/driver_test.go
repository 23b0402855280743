//go:build acceptance

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// driver is an agent whose sessions are opened, gone on with and listed, as a person does it.
type driver struct {
	client
	offline func(*world)
	begin   func(w *world, prompt string)           // has the first turn of a new session, and ends
	resume  func(w *world, id, prompt string) error // has one more turn of a session, and ends
	open    func(w *world, id string) *terminal     // has a session open in a terminal, that waits for a prompt; id "": a new one
	greets  func(*terminal)                         // waits for a prompt in a terminal that was just opened
	leave   func(*terminal)
	lists   func(*world) map[string]string // what the agent's own lists of sessions show, by the way to ask for it
}

var (
	codexTUI    = []string{"--no-alt-screen", "--no-daemon"}
	codexTUIOld = codexTUI[:1]

	drivers = []driver{
		{claude, claudeOffline, claudeBegin, claudeResume, claudeOpen, claudeGreets, leave("/exit"), claudeLists},
		{claude21, claudeOffline, claudeBegin, claudeResume, claudeOpen, claudeGreets, leave("/exit"), claudeLists},
		{claude20, claudeOffline, claudeBegin, claudeResume, claudeOpen, claudeGreets, leave("/exit"), claudeLists},
		{
			codex, codexOffline("gpt-5.5"), codexBegin(codexTUI), codexResume, codexOpen(codexTUI), codexGreets,
			leave("/quit"),
			codexLists(codexTUI),
		},
		{
			codexOld, codexOffline("gpt-5.5"), codexBegin(codexTUIOld), codexResume, codexOpen(codexTUIOld),
			codexGreets, leave("/quit"),
			codexLists(codexTUIOld),
		},
		{gemini, geminiOffline, geminiBegin, geminiResume, geminiOpen, geminiGreets, leave("/quit"), geminiLists},
		{geminiOld, geminiOffline, geminiBegin, geminiResume, geminiOpen, geminiGreets, leave("/quit"), geminiLists},
		{droid, droidOffline, droidBegin, droidResume, droidOpen, droidGreets, droidLeave, droidLists},
	}
)

func leave(command string) func(*terminal) {
	return func(t *terminal) {
		t.Helper()
		t.leave(command)
	}
}

// resuming is the option of most agents that opens a session, none for a new one.
func resuming(id string) []string {
	if id == "" {
		return nil
	}
	return []string{"--resume", id}
}

// each runs a test for some versions, beside those for others: agents wait more than they work.
func each(t *testing.T, test func(*world, driver), versions ...client) {
	t.Parallel()
	for _, d := range drivers {
		if slices.Contains(versions, d.client) {
			d.test(t, test)
		}
	}
}

// test runs a test in a world of its own, in which the agent is on the PATH.
func (d driver) test(t *testing.T, test func(*world, driver)) { d.play(t, "forks", test) }

// play is test with another script.
func (d driver) play(t *testing.T, play string, test func(*world, driver)) {
	t.Run(d.String(), func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, d.client, play)
		d.onPath(w)
		d.offline(w)
		test(w, d)
	})
}

// onPath puts the agent on the PATH.
func (d driver) onPath(w *world) {
	w.Helper()
	if err := os.Symlink(w.program, filepath.Join(w.mkdir(filepath.Join(w.home, ".local", "bin")), d.agent)); err != nil {
		w.Fatal(err)
	}
}

// twoTurns has the two turns that all that follows goes back from: the second by resuming the session of the first,
// which it returns with what its file held in between.
func (d driver) twoTurns(w *world) (id, first string) {
	w.Helper()
	d.begin(w, prompts[0])
	w.at(work[2].after)
	id = w.session()
	first = w.read(w.file(id))
	d.must(w, id, prompts[1])
	w.checkWork()
	if now := w.session(); now != id {
		w.Fatalf("%s: the second turn is in session %s, not in %s", w.client, now, id)
	}
	w.check("the second turn", w.conversation(prompts[1], bothTurns[:len(bothTurns)-1], nil))
	return id, first
}

// must is resume for what has to work.
func (d driver) must(w *world, id, prompt string) {
	w.Helper()
	if err := d.resume(w, id, prompt); err != nil {
		w.Fatal(err)
	}
}

// file is a session's own file.
func (w *world) file(id string) string {
	w.Helper()
	if path := w.fileOf(id); path != "" {
		return path
	}
	w.Fatalf("%s: no file of session %s among\n%s", w.client, id, strings.Join(w.transcripts(), "\n"))
	return ""
}

// fileOf is file, or "". Gemini's file names hold the first eight characters of the id.
func (w *world) fileOf(id string) string {
	w.Helper()
	name := id
	if w.agent == "gemini" {
		name = fmt.Sprintf("-%.8s.", id)
	}
	for _, path := range w.transcripts() {
		if strings.Contains(filepath.Base(path), name) {
			return path
		}
	}
	return ""
}

// picker is what the agent shows when it is started to choose from its sessions.
func (w *world) picker(args ...string) string {
	w.Helper()
	t := w.open(args...)
	defer t.shut()
	t.settles()
	t.until("a list", func(s string) bool { return !strings.Contains(s, "Loading") })
	return t.still(2 * steady)
}
