package capture_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
)

// TestSaveNotes: where nothing has changed, a message is put on the checkpoint that is there, and no message is none.
func TestSaveNotes(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	first := p.Save("first")
	for _, message := range []string{"", "again"} {
		before := p.E.Log.DB.LastSeq()
		r, err := p.E.Worktree.Save(enginetest.Bg, "", message, nil)
		p.Must(err)
		noted := message != ""
		if r.Checkpoint.ID != first.ID || !r.Unchanged || r.Noted != noted || (p.E.Log.DB.LastSeq() > before) != noted {
			t.Errorf("%q: %+v", message, r)
		}
	}
	if l := p.Listed(); len(l) != 1 || !slices.Equal(l[0].Messages, []string{"again"}) {
		t.Errorf("%+v", l)
	}
	if _, err := p.E.Worktree.Save(enginetest.Bg, "none", "x", nil); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("in a session that is not known: %v", err)
	}
}

// TestNotRecorded: the end of a session that nothing was heard of, what only reads, and an event of no kind leave
// nothing behind.
func TestNotRecorded(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	p.Save("first")
	a := p.Agent("a")
	p.Write("f", "2")
	before := p.E.Log.DB.LastSeq()
	for what, ev := range map[string]hooks.Event{
		"a session's end":  {Kind: hooks.SessionEnd},
		"what only reads":  {Kind: hooks.BeforeTool, Tool: hooks.Tool{Name: "Read", Call: "r", Class: hooks.Reader}},
		"an event of none": {Kind: 0},
	} {
		h := a.Send(ev, capture.HandleOptions{})
		if h.Recorded || h.New || p.E.Log.DB.LastSeq() != before {
			t.Errorf("%s: %+v", what, h)
		}
	}
}

// TestToldEdits: what lies outside of the project is told as edited by the end of a call that names it, if that did not
// fail.
func TestToldEdits(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	a := p.Agent("a")
	a.Prompt("x")
	edit := hooks.Tool{Name: "Edit", Call: "e", Class: hooks.Editor, Paths: []string{"/elsewhere/x"}}
	for _, tt := range []struct {
		ev   hooks.Event
		want string
	}{
		{hooks.Event{Kind: hooks.BeforeTool, Tool: edit}, ""},
		{hooks.Event{Kind: hooks.AfterTool, Tool: edit, Failed: true}, ""},
		{hooks.Event{Kind: hooks.BeforeTool, Tool: edit}, ""},
		{hooks.Event{Kind: hooks.AfterTool, Tool: edit}, "/elsewhere/x"},
	} {
		a.Send(tt.ev, capture.HandleOptions{})
		if got := strings.Join(p.Session(a.Name()).Uncaptured, " "); got != tt.want {
			t.Errorf("%d, failed %v: %q", tt.ev.Kind, tt.ev.Failed, got)
		}
	}
}

// TestRepositoryGone: that a repository is gone is found until somebody saves without it, however many events come.
func TestRepositoryGone(t *testing.T) {
	p := enginetest.NewProject(t)
	const head = "0123456789abcdef0123456789abcdef01234567"
	for name, content := range map[string]string{"HEAD": head + "\n", "objects/x": "", "refs/x": "", "config": ""} {
		p.Write(".git/"+name, content)
	}
	p.Write("f", "0")
	p.Save("with a repository")
	gone := func(what string, want bool) {
		t.Helper()
		checks, found := p.E.Worktree.CheckGit(), false
		for _, c := range checks {
			found = found || strings.Contains(string(c.Text), "the repository is gone") && strings.Contains(string(c.Text), head[:8])
		}
		if found != want {
			t.Errorf("%s: %+v", what, checks)
		}
	}
	gone("it is there", false)
	p.Must(os.RemoveAll(p.Path(".git")))
	a := p.Agent("a")
	a.Prompt("x")
	for _, text := range []string{"1", "2", "3"} {
		a.Run(text, func() { p.Write("f", text) })
		gone("behind "+text, true)
	}
	p.Write("f", "mine")
	p.Save("without one")
	gone("saved without", false)
}
