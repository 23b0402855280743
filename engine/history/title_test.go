package history_test

import (
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// TestTitlesAsStored: where a session's file is not there, its title is the one that the store has, else the one in
// what was captured; the title that a session of Codex was given stays the one that counts.
func TestTitlesAsStored(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	other := p.Talker(2)
	other.Take("other", nil)
	codex := p.Scribe(hooks.Codex, enginetest.Unique())
	codex.Asked("do it")
	codex.Tell(hooks.Prompt, map[string]any{"prompt": "do it"})
	codex.Says("done")
	codex.Tell(hooks.Stop, nil)
	p.Settle()
	fork := p.Fork("turn:1", restore.Options{Title: "given", Session: model.SessionChoice{Session: codex.Name()}}).Fork
	for _, file := range []string{first.File, other.File} {
		p.Must(os.Remove(file))
	}
	is := model.Known{Read: model.KnownRead, Path: first.File, Title: "as it is stored"}
	put(p, first.Name(), is.Encode())
	titles := func(want map[string]string) {
		t.Helper()
		for title, want := range want {
			release := p.E.Log.Hold()
			got, err := p.E.History.BranchNamed(title)
			release()
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%q is %q, %v; want %q", title, got, err, want)
			}
		}
	}
	want := map[string]string{
		"as it is stored": first.Name(), "one": "", "other": other.Name(), "[Fork @1] given": fork.Session,
		" ": "", "do it": codex.Name(),
	}
	titles(want)
	p.Must(p.E.Log.LoadSessions())
	_, err := p.E.History.Names(enginetest.Bg)
	p.Must(err)
	titles(want)
	for title, want := range map[string]string{"as it is stored": first.Name(), "as it is": "", "stored": ""} {
		if got, err := p.E.Sessions.FindWhole(title); got != want || (err == nil) != (want != "") {
			t.Errorf("whole %q is %q, %v", title, got, err)
		}
	}
}
