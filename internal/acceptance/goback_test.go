//go:build acceptance

package acceptance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGoBackClaude(t *testing.T)    { each(t, testGoBack, claude) }
func TestGoBackClaudeOld(t *testing.T) { each(t, testGoBack, claude21, claude20) }
func TestGoBackCodex(t *testing.T)     { each(t, testGoBack, codex) }
func TestGoBackCodexOld(t *testing.T)  { each(t, testGoBack, codexOld) }
func TestGoBackGemini(t *testing.T)    { each(t, testGoBack, gemini) }
func TestGoBackGeminiOld(t *testing.T) { each(t, testGoBack, geminiOld) }
func TestGoBackDroid(t *testing.T)     { each(t, testGoBack, droid) }

// testGoBack takes code and conversation back to the end of the first of two turns, as a new session and in place, and
// forward again.
func testGoBack(w *world, d driver) {
	w.install()
	w.rewind("init")
	id, _ := d.twoTurns(w)
	d.checkNewSession(w, id)
	d.checkInPlace(w, id)
	w.checkQuiet()
}

// checkNewSession checks the end of the first turn out, takes that back, and does both again with a prompt in between.
func (d driver) checkNewSession(w *world, id string) {
	w.Helper()
	file := w.file(id)
	before := w.read(file)
	unused := w.wentBack(w.goes("checkout", "turn:1", "--title", "nobody uses it"), id)
	w.unchanged("checkout", file, before)
	back := w.goes("undo-restore")
	w.checkWork()
	if back.Talk.Mode != "back" || !slices.Equal(back.Talk.Removed, []string{unused.Fork.Path}) {
		w.Errorf("%s: undo-restore: %+v, want %s removed", w.client, back, unused.Fork.Path)
	}
	if _, err := os.Stat(unused.Fork.Path); !errors.Is(err, os.ErrNotExist) {
		w.Errorf("%s: the fork that nobody used is there: %v", w.client, err)
	}
	w.check("list after undo-restore", d.listed(w, "", "nobody uses it"))
	if now := w.current(); now != id {
		w.Errorf("%s: with the list of sessions looked at, the current one is %s, not %s", w.client, now, id)
	}
	used := w.wentBack(w.goes("checkout", "turn:1", "--title", "fork of turn 1", "--session", id), id)
	w.check("list after checkout", d.listed(w, forkTitle))
	d.follow(w, used.Resume)
	w.check("the new session", w.conversation(nextInFork, with(firstTurn, nextInFork), secondTurn))
	w.check("list after the new session was used", d.listed(w, forkTitle))
	back = w.goes("undo-restore")
	w.checkWork()
	if !slices.Equal(back.Talk.Kept, []string{used.Fork.Path}) {
		w.Errorf("%s: undo-restore: %+v, want %s kept", w.client, back, used.Fork.Path)
	}
	d.must(w, id, nextInOrig)
	w.check("the original", w.conversation(nextInOrig, with(bothTurns, nextInOrig), []string{nextInFork}))
}

// talk is the new session of a checkout, and the command line that opens it.
type talk struct {
	Fork   *forked
	Resume []string
}

// wentBack holds what a checkout of the end of the first turn left against what it must have: the code, and a new
// session.
func (w *world) wentBack(r restored, id string) talk {
	w.Helper()
	w.at(work[2].after)
	if r.Talk.Mode != "fork" || r.Talk.Fork == nil || r.Talk.Fork.ID == id || !r.Talk.Fork.Listed ||
		len(r.Talk.Resume) == 0 {
		w.Fatalf("%s: checkout made no new session: %+v", w.client, r)
	}
	w.private(r.Talk.Fork.Path)
	return talk{r.Talk.Fork, r.Talk.Resume}
}

// at holds the project against a state.
func (w *world) at(want state) {
	w.Helper()
	for _, name := range []string{"alpha.txt", "beta.txt", "gamma.txt", "delta.txt"} {
		b, err := os.ReadFile(filepath.Join(w.project, name))
		text, there := want[name]
		if there != (err == nil) || string(b) != text {
			w.Errorf("%s: %s is %q (%v), want %q", w.client, name, b, err, text)
		}
	}
}

// follow does what the printed command line says, and says one thing in the session that it opens.
func (d driver) follow(w *world, words []string) {
	w.Helper()
	t := w.start(words...)
	d.greets(t)
	t.say(nextInFork)
	d.leave(t)
}

// checkInPlace cuts the session itself: not while it is open; the cut can be taken back, also when the session has gone
// on from there.
func (d driver) checkInPlace(w *world, id string) {
	w.Helper()
	file := w.file(id)
	t := d.open(w, id)
	before := w.read(file)
	w.Logf("%s: while it is open:\n%s", w.client, w.refuses(11, "checkout", "turn:1", "--in-place", "--session", id))
	w.unchanged("a refused checkout", file, before)
	w.checkWork()
	d.leave(t)

	before = w.read(file)
	w.cut(id)
	w.goes("undo-restore")
	w.unchanged("checkout --in-place and undo-restore", file, before)
	w.checkWork()
	w.check("the screen after undo-restore",
		d.shows(w, id, []string{"TURN-1 complete.", "TURN-2 complete.", "NEXT-ORIGINAL complete."},
			[]string{nextInFork}))
	d.must(w, id, "NEXT-BACK please")
	w.check("after undo-restore",
		w.conversation("NEXT-BACK please", with(bothTurns, nextInOrig, "NEXT-BACK please"), []string{nextInFork}))

	whole := w.cut(id)
	gone := with(secondTurn, nextInOrig, "NEXT-BACK", nextInFork)
	d.must(w, id, "NEXT-CUT please")
	w.check("after the cut", w.conversation("NEXT-CUT please", with(firstTurn, "NEXT-CUT please"), gone))
	d.must(w, id, "NEXT-MORE please")
	w.check("once more",
		w.conversation("NEXT-MORE please", with(firstTurn, "NEXT-CUT please", "NEXT-CUT complete.", "NEXT-MORE please"),
			gone))
	w.check("the screen", d.shows(w, id, []string{
		"TURN-1 complete.", "NEXT-CUT please", "NEXT-CUT complete.", "NEXT-MORE please",
		"NEXT-MORE complete.",
	}, gone))

	w.goes("undo-restore")
	w.unchanged("undo-restore of a session that has gone on", file, whole)
	w.checkWork()
	gone = []string{nextInFork, "NEXT-CUT", "NEXT-MORE"}
	d.must(w, id, "NEXT-LIVE please")
	w.check("after all",
		w.conversation("NEXT-LIVE please", with(bothTurns, nextInOrig, "NEXT-BACK please", "NEXT-LIVE please"), gone))
	w.check("the screen after all", d.shows(w, id,
		[]string{"TURN-1 complete.", "TURN-2 complete.", "NEXT-BACK complete.", "NEXT-LIVE complete."}, gone))
}

// cut cuts a session after its first turn; what is left is the beginning of what it was, which it returns.
func (w *world) cut(id string) (before string) {
	w.Helper()
	file := w.file(id)
	before = w.read(file)
	mode := w.mode(file)
	r := w.goes("checkout", "turn:1", "--in-place", "--session", id)
	if r.Talk.Mode != "in-place" {
		w.Errorf("%s: checkout --in-place: %+v", w.client, r)
	}
	w.at(work[2].after)
	if now := w.mode(file); now != mode {
		w.Errorf("%s: %s has mode %v, had %v", w.client, file, now, mode)
	}
	if now := w.read(file); w.client != geminiOld && (!strings.HasPrefix(before, now) || len(now) == len(before)) {
		w.Errorf("%s: %s has %d bytes of %d, and they are not its beginning", w.client, file, len(now), len(before))
	}
	return before
}

// shows opens the session in a terminal and holds what the agent shows of it against what it must show.
func (d driver) shows(w *world, id string, has, lacks []string) (problems []string) {
	w.Helper()
	t := d.open(w, id)
	missing := func(s string) (list []string) {
		for _, text := range has {
			if !strings.Contains(s, text) {
				list = append(list, fmt.Sprintf("%q is not shown", text))
			}
		}
		return list
	}
	s, end := "", time.Now().Add(patience/3) // Droid may be asked for a prompt before it has read the session
	for {
		var err error
		if s, _, err = t.tmux("capture-pane", "-p", "-S", "-"); err != nil {
			w.Fatal(err)
		}
		if problems = missing(s); problems == nil || time.Now().After(end) {
			break
		}
		time.Sleep(look)
	}
	for _, text := range lacks {
		if strings.Contains(s, text) {
			problems = append(problems, fmt.Sprintf("%q is shown", text))
		}
	}
	d.leave(t)
	if problems != nil {
		problems = append(problems, "the screen:\n"+s)
	}
	return problems
}
