//go:build acceptance

package acceptance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	forkTitle  = "[Fork @1] fork of turn 1"
	selfTest   = "taken away again"
	otherName  = "quite another name"
	nextInFork = "NEXT-FORK please"
	nextInOrig = "NEXT-ORIGINAL please"
)

func TestForkClaude(t *testing.T)    { each(t, testFork, claude) }
func TestForkClaudeOld(t *testing.T) { each(t, testFork, claude21, claude20) }
func TestForkCodex(t *testing.T)     { each(t, testFork, codex) }
func TestForkCodexOld(t *testing.T)  { each(t, testFork, codexOld) }
func TestForkGemini(t *testing.T)    { each(t, testFork, gemini) }
func TestForkGeminiOld(t *testing.T) { each(t, testFork, geminiOld) }
func TestForkDroid(t *testing.T)     { each(t, testFork, droid) }

// testFork forks the end of the first of two turns: the agent lists the fork, and both go on apart from each other.
func testFork(w *world, d driver) {
	w.install()
	w.rewind("init")
	id, _ := d.twoTurns(w)
	file := w.file(id)
	before := w.read(file)
	if list := w.turns(id); len(list) != 2 || list[0].Prompt != prompts[0] || list[1].Prompt != prompts[1] {
		w.Errorf("%s: rewind turns: %+v, want the prompts %q", w.client, list, prompts)
	}
	f := w.makes("fork", "turn:1", "--title", "fork of turn 1")
	w.unchanged("fork", file, before)
	if f.ID == id || f.Title != forkTitle || !f.Listed {
		w.Errorf("%s: fork: %+v", w.client, f)
	}
	w.private(f.Path)
	w.check("list", d.listed(w, forkTitle))
	w.checkForks(id, f.ID, 0)
	w.check("apart", d.apart(w, id, f.ID))
	w.checkForks(id, f.ID, 1)
	w.checkMessages(id)
	d.checkSelfTest(w, id)
	d.checkClone(w, id)
	d.checkInside(w, id)
	d.checkOpen(w, id)
	d.checkManaged(w, f.ID)
	w.checkQuiet()
}

// checkManaged renames a fork that was gone on with, deletes it and takes that back: the agent's own lists show it so
// each time.
func (d driver) checkManaged(w *world, fork string) {
	w.Helper()
	w.rewind("forks", "rename", fork, otherName)
	w.check("renamed", d.listed(w, otherName, forkTitle))
	w.rewind("forks", "delete", fork, "--yes")
	for how, shows := range d.lists(w) {
		if strings.Contains(shows, otherName) {
			w.Errorf("%s: deleted, and %s shows it:\n%s", w.client, how, shows)
		}
	}
	w.rewind("undo-restore")
	w.check("deleted and brought back", d.listed(w, otherName))
}

// listed holds the agent's own lists against a title that must be there, and others that must not.
func (d driver) listed(w *world, title string, gone ...string) (problems []string) {
	w.Helper()
	for how, shows := range d.lists(w) {
		if !strings.Contains(shows, title) {
			problems = append(problems, fmt.Sprintf("%s does not show %q:\n%s", how, title, shows))
		}
		for _, s := range gone {
			if strings.Contains(shows, s) {
				problems = append(problems, fmt.Sprintf("%s shows %q:\n%s", how, s, shows))
			}
		}
	}
	return problems
}

// apart goes on with a fork of the end of the first turn, then with what it was made of: each carries its own
// conversation.
func (d driver) apart(w *world, original, fork string) (problems []string) {
	w.Helper()
	if err := d.resume(w, fork, nextInFork); err != nil {
		return []string{err.Error()}
	}
	problems = w.conversation(nextInFork, with(firstTurn, nextInFork), with(secondTurn, nextInOrig))
	if err := d.resume(w, original, nextInOrig); err != nil {
		return append(problems, err.Error())
	}
	return append(problems, w.conversation(nextInOrig, with(bothTurns, nextInOrig), []string{nextInFork})...)
}

func with(list []string, more ...string) []string { return slices.Concat(list, more) }

// checkForks holds what rewind tells of a fork against the truth: where it comes from, and how many turns of its own it
// has.
func (w *world) checkForks(original, fork string, own int) {
	w.Helper()
	var r struct {
		Forks []struct {
			sessionInfo
			Lineage []lineage `json:"lineage"`
			Own     int       `json:"own_turns"`
		} `json:"forks"`
	}
	w.json(&r, "forks", "show", fork)
	from := lineage{Session: w.agent + "/" + original, Turn: 1}
	if len(r.Forks) != 1 || r.Forks[0].ID != fork || r.Forks[0].Own != own || len(r.Forks[0].Lineage) != 1 ||
		r.Forks[0].Lineage[0] != from {
		w.Errorf("%s: rewind forks show: %+v, want a fork from %+v with %d turns of its own", w.client, r, from, own)
	}
	list := w.sessions()
	i := slices.IndexFunc(list, func(s sessionInfo) bool { return s.ID == original })
	j := slices.IndexFunc(list, func(s sessionInfo) bool { return s.ID == fork })
	if i < 0 || j < 0 || list[i].Fork != nil || list[j].Fork == nil || *list[j].Fork != from ||
		list[j].Title != forkTitle ||
		list[j].Turns != 1+own {
		w.Errorf("%s: rewind sessions, of %s and its fork %s:\n%+v", w.client, original, fork, list)
	}
}

// checkMessages holds the conversation that rewind shows against the two turns. The session is named: Codex 0.125 tells
// nobody that it ended, so that its fork is taken to be at work, too.
func (w *world) checkMessages(id string) {
	w.Helper()
	shows, at := w.rewind("show", "turn:2@"+id, "--messages", "30"), 0
	for _, s := range with(firstTurn[:2], toolNames[w.agent]["write"], "TURN-1 complete.", "TURN-2 please",
		"Second turn.", "TURN-2 complete.") {
		i := strings.Index(shows[at:], s)
		if i < 0 {
			w.Errorf("%s: rewind show --messages lacks %q, or has it out of order:\n%s", w.client, s, shows)
			continue
		}
		at += i
	}
}

// checkSelfTest makes a fork that is taken away again; that no list has it shows in checkClone.
func (d driver) checkSelfTest(w *world, id string) {
	w.Helper()
	files := w.transcripts()
	f := w.makes("fork", "turn:1", "--session", id, "--title", selfTest, "--self-test")
	if len(f.Checks) == 0 {
		w.Errorf("%s: the self-test has checked nothing: %+v", w.client, f)
	}
	if now := w.transcripts(); !slices.Equal(now, files) {
		w.Errorf("%s: the self-test leaves\n%s\nof\n%s", w.client, strings.Join(now, "\n"), strings.Join(files, "\n"))
	}
}

// checkClone copies the session with all that it has by now.
func (d driver) checkClone(w *world, id string) {
	w.Helper()
	f := w.makes("clone", id, "--title", "whole copy")
	w.private(f.Path)
	w.check("list of the clone", d.listed(w, "whole copy", selfTest))
	d.must(w, f.ID, "NEXT-MORE please")
	w.check("clone",
		w.conversation("NEXT-MORE please", with(bothTurns, nextInOrig, "NEXT-MORE please"), []string{nextInFork}))
}

// checkInside forks the checkpoint after the first call of the second turn: what the model gets has a result for every
// call.
func (d driver) checkInside(w *world, id string) {
	w.Helper()
	list := w.checkpoints()
	i := slices.IndexFunc(list, func(c checkpoint) bool { return c.Session == id && c.Turn == 2 && c.Event == after })
	if i < 0 {
		w.Errorf("%s: no %s of turn 2 among\n%s", w.client, after, lines(list))
		return
	}
	f := w.makes("fork", list[i].ID, "--title", "inside")
	d.must(w, f.ID, "NEXT-INSIDE please")
	w.check("fork inside a turn",
		w.conversation("NEXT-INSIDE please", with(firstTurn, "TURN-2 please", "NEXT-INSIDE please"),
			with(secondTurn[2:], nextInOrig, nextInFork)))
	r, _ := w.sent("NEXT-INSIDE please")
	w.Logf("%s: fork at %s: %d messages, %d records dropped; the model was sent:\n%s", w.client, list[i], f.Messages,
		f.Dropped, tail(short(spoken(r)), 1200))
}

// checkOpen forks a session that is open in a terminal: a fork only reads it.
func (d driver) checkOpen(w *world, id string) {
	w.Helper()
	t := d.open(w, id)
	f := w.makes("fork", "turn:1", "--session", id, "--title", "made while open")
	if s := w.sessions(); !slices.ContainsFunc(s, func(s sessionInfo) bool { return s.ID == id && s.Running }) {
		w.Errorf("%s: rewind sessions does not say that %s is open: %+v", w.client, id, s)
	}
	d.must(w, f.ID, "NEXT-LIVE please")
	w.check("fork of an open session", w.conversation("NEXT-LIVE please", with(firstTurn, "NEXT-LIVE please"),
		with(secondTurn, nextInOrig)))
	t.say("NEXT-BACK please")
	w.check("the open session", w.conversation("NEXT-BACK please", with(bothTurns, nextInOrig, "NEXT-BACK please"),
		[]string{nextInFork, "NEXT-LIVE"}))
	d.leave(t)
}

// unchanged holds a file against what it held.
func (w *world) unchanged(what, path, before string) {
	w.Helper()
	if now := w.read(path); now != before {
		w.Errorf("%s: %s changed %s: %d bytes, were %d", w.client, what, path, len(now), len(before))
	}
}

// private holds the mode of a session file that rewind made.
func (w *world) private(path string) {
	w.Helper()
	if mode := w.mode(path); mode != 0o600 {
		w.Errorf("%s: %s has mode %v", w.client, path, mode)
	}
}

func (w *world) mode(path string) os.FileMode {
	w.Helper()
	info, err := os.Stat(path)
	if err != nil {
		w.Fatal(err)
	}
	return info.Mode()
}
