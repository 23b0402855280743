package history_test

import (
	"errors"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
)

// TestUndoneOverTalk: an undo over turns that only talked, and over one that the person went back behind, has the
// conversation of the turn that it goes back to.
func TestUndoneOverTalk(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	one := p.Get(k.Take("one", p.Edits("f", "1")))
	two := p.Get(k.Take("two", p.Edits("f", "2")))
	k.Take("three", nil)
	at := k.Parent
	k.Take("left", nil)
	k.Parent = at
	k.Take("instead", nil)
	six := p.Get(k.Take("six", p.Edits("f", "6")))
	p.Settle()
	p.Must(p.E.Log.LoadSessions())
	for _, tt := range []struct {
		to, from *model.Checkpoint
		turn     int
	}{{two, six, 2}, {one, six, 1}, {one, two, 1}} {
		m, err := p.E.History.Undone(tt.to, tt.from)
		p.Must(err)
		p.Must(m.Err)
		if m.Checkpoint.ID != tt.to.ID || m.Turn != tt.turn || m.Start {
			t.Errorf("%q from %q: %+v", tt.to.Cause.Prompt, tt.from.Cause.Prompt, m)
		}
	}
}

// TestNowOfASession: the current state is with the conversation of the session that was asked for, as it is now.
func TestNowOfASession(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Used("not captured yet")
	k.Say("there")
	defer p.E.Log.Hold()()
	p.Must(p.E.Log.LoadSessions())
	for _, tt := range []struct {
		session, name, want string
		now                 bool
	}{
		{k.Name(), "@", "not captured yet", true},
		{"", "@", "not captured yet", true},
		{k.Name(), "@~1", "done: one", false},
		{"", "turn:1@" + k.Name(), "done: one", false},
		{model.Manual, "@", "", true},
	} {
		m, err := p.E.History.NamedMoment(enginetest.Bg, tt.name, model.SessionChoice{Session: tt.session})
		p.Must(err)
		text := ""
		if !m.Transcript.IsZero() {
			text = string(enginetest.ReadAll(t, p.E.Log.Objs, m.Transcript))
		}
		has := strings.Contains(text, tt.want) && (tt.want == "") == (text == "")
		if m.Now != tt.now || !has || m.Checkpoint == nil {
			t.Errorf("%s of %q: %+v", tt.name, tt.session, m)
		}
	}
	if _, err := p.E.History.NamedMoment(enginetest.Bg, "turn:1", model.SessionChoice{Session: "none"}); err == nil {
		t.Error("of nobody")
	}
	_, err := p.E.History.NamedMoment(enginetest.Bg, "turn:x", model.SessionChoice{})
	if !errors.Is(err, model.ErrUsage) {
		t.Errorf("no name: %v", err)
	}
}
