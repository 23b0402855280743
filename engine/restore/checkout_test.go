package restore_test

import (
	"errors"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
)

// talkAlone is a restore of the conversation alone.
var talkAlone = refs.Scope{ContextOnly: true}

// A checkout that names what is not there, or asks for what cannot be, is refused with the reason, and nothing is
// changed by it.
func TestCheckoutsThatAreRefused(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Write("f", "unsaved")
	one := p.Listed()[len(p.Listed())-1].ID.String()
	if _, err := p.E.History.Tag(enginetest.Bg, "taken", one, false); err != nil {
		t.Fatal(err)
	}
	code, talk := enginetest.List(t, p.Root), p.Slurp(k.File)
	ops := func() int {
		list, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
		p.Must(err)
		return len(list)
	}
	before, nobody := ops(), model.SessionChoice{Session: "nobody"}
	for name, c := range map[string]struct {
		name string
		o    restore.Options
		want error
	}{
		"a name of no form":           {"turn:x", restore.Options{}, model.ErrUsage},
		"a name of nothing":           {"nowhere", restore.Options{}, model.ErrNotFound},
		"a turn that there is not":    {"turn:9", restore.Options{}, model.ErrNotFound},
		"a turn of nobody":            {"turn:1@nobody", restore.Options{}, model.ErrNotFound},
		"a path outside":              {one, restore.Options{Scope: only("../x")}, model.ErrUsage},
		"a path of nothing":           {one, restore.Options{Scope: only("x")}, model.ErrNotFound},
		"a tag that is taken":         {one, restore.Options{Tag: "taken"}, nil},
		"a tag of no form":            {one, restore.Options{Tag: "a b"}, nil},
		"for a session of nobody":     {one, restore.Options{Session: nobody}, model.ErrNotFound},
		"a conversation of nobody's":  {one, restore.Options{Scope: talkAlone}, model.ErrNoConversation},
		"a cut of nobody's":           {one, restore.Options{InPlace: true}, model.ErrNoConversation},
		"a cut to the beginning":      {"turn:0", restore.Options{InPlace: true}, model.ErrNoConversation},
		"a merge of the conversation": {one, restore.Options{Merge: true, Scope: talkAlone}, model.ErrUsage},
	} {
		c.o.Env = p.Env()
		_, err := p.E.Restorer.Checkout(enginetest.Bg, c.name, c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		c.o.Checkout = true
		if c.o.InPlace || c.o.ContextOnly {
			continue
		}
		_, err = p.E.Restorer.Fork(enginetest.Bg, c.name, c.o)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("fork with %s: %v", name, err)
		}
	}
	p.WantTree(code)
	if p.Slurp(k.File) != talk || ops() != before || len(p.Files()) != 1 {
		t.Errorf("%d operations, were %d; files %q", ops(), before, p.Files())
	}
}

// A turn is one of the session on which the project stands: that one's cursor moves, also where the code there is
// another one's step. What was not captured of the code leaves the conversation to be gone to.
func TestCheckoutMovesWhoStands(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	b := p.Talker(2)
	b.Take("only talk", nil)
	p.Settle()
	at := model.SessionChoice{Session: b.Name()}
	_, err := p.E.Restorer.Switch(enginetest.Bg, b.Name(), restore.Options{Env: p.Env()})
	p.Must(err)
	for name, want := range map[string]string{
		"turn:1": b.Name(), "@": b.Name(), "turn:1@" + k.Name(): k.Name(), p.Listed()[0].ID.String(): k.Name(),
	} {
		r, err := p.E.Restorer.PrepareCheckout(enginetest.Bg, name, restore.Options{})
		if err != nil || r.Session != want {
			t.Errorf("%s moves %v, %v; want %s", name, r, err, want)
		}
		if name == "turn:1@"+k.Name() {
			continue
		}
		r, err = p.E.Restorer.PrepareCheckout(enginetest.Bg, name, restore.Options{Session: at})
		if err != nil || r.Session != b.Name() {
			t.Errorf("%s for %s moves %v, %v", name, b.Name(), r, err)
		}
	}
}

// A turn from before rewind knew the session has no code: its conversation can be gone to alone.
func TestCheckoutOfATurnWithoutCode(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Line("user", `{"role":"user","content":"one"}`)
	k.Say("done: one")
	k.Take("two", p.Edits("f", "2"))
	p.Settle()
	code := enginetest.List(t, p.Root)
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()})
	if !errors.Is(err, model.ErrNotFound) || len(p.Files()) != 1 {
		t.Errorf("with the code: %v, %q", err, p.Files())
	}
	r := p.Back("turn:1", restore.Options{Scope: talkAlone})
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	if s := p.Session(r.Conversation.Session); s.Turn != 1 || s.Fork.Session != k.Name() {
		t.Errorf("%+v, %+v", s, s.Fork)
	}
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	if err != nil || len(p.Files()) != 1 {
		t.Errorf("taken back: %v, %q", err, p.Files())
	}
	p.WantTree(code)
	p.Verify()
}
