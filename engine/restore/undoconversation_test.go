package restore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/clients"
	"rewind/refs"
	"rewind/transcript"
)

// A run of undos leaves one fork behind, also when the daemon looks at sessions in between; one that was used stays.
func TestUndoLeavesOneFork(t *testing.T) {
	p, k := enginetest.Begun(t)
	for _, s := range []string{"1", "2", "3", "4", "5"} {
		k.Take("say "+s, p.Edits("f", s))
	}
	undo := func(o restore.Options) *restore.Result {
		t.Helper()
		o.Env = p.Env()
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1, o)
		p.Must(err)
		return r
	}
	for i, want := range []string{"4", "3", "2"} {
		r := undo(restore.Options{})
		if p.Read("f") != enginetest.Big(want) || r.Conversation.Mode != model.ConversationFork || len(p.Files()) != 2 {
			t.Fatalf("undo %d: %+v, %q", i, r.Conversation, p.Files())
		}
		p.Settle()
		if i == 1 {
			p.Reopen()
		}
	}
	r, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Env: p.Env()})
	p.Must(err)
	if len(p.Files()) != 2 || p.Read("f") != enginetest.Big("3") {
		t.Errorf("redo: %+v, %q", r.Conversation, p.Files())
	}
	if all, _, err := p.E.History.SessionList(enginetest.Bg, true, 0); err != nil || len(all) != 2 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
	// Somebody goes on with it.
	p.Opened(r.Conversation.Fork).Used("mine")
	undo(restore.Options{})
	if len(p.Files()) != 3 {
		t.Errorf("%q", p.Files())
	}
	// The agent has it open, but nothing was said yet.
	last := undo(restore.Options{})
	if len(p.Files()) != 3 {
		t.Errorf("%q", p.Files())
	}
	note := running(p, last.Conversation.Fork.Session)
	back, err := p.E.Restorer.Redo(enginetest.Bg, 1, restore.Options{Env: p.Env()})
	p.Must(err)
	if _, err := os.Stat(last.Conversation.Fork.Path); err != nil || len(p.Files()) != 4 {
		t.Errorf("a session that is open is gone: %v, %q, %+v", err, p.Files(), back.Conversation)
	}
	p.Must(os.Remove(note))
	p.Verify()
}

// running says that an agent has a session open: this process is it.
func running(p *enginetest.Project, session string) (note string) {
	p.T.Helper()
	_, id := model.SplitSession(session)
	dir := filepath.Join(p.User(), ".claude", "sessions")
	p.Must(os.MkdirAll(dir, 0o700))
	note = filepath.Join(dir, fmt.Sprint(os.Getpid(), ".json"))
	p.Must(os.WriteFile(note, fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"cwd":%q}`, os.Getpid(), id, p.Root), 0o600))
	live, err := new(clients.Processes).Running(transcript.Claude, filepath.Join(p.User(), ".claude"), id)
	p.Must(err)
	if !live.Running {
		p.T.Fatalf("the session does not count as open")
	}
	return note
}

// TestPromise18NamedForkStays: a fork that nobody has used yet gives way to the next restore, but not to one that names
// it and makes nothing in its place.
func TestPromise18NamedForkStays(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("say 1", p.Edits("f", "1"))
	k.Take("say 2", p.Edits("f", "2"))
	first, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()})
	p.Must(err)
	fork := first.Conversation.Fork
	r, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:0",
		restore.Options{Session: model.SessionChoice{Session: fork.Session}, Env: p.Env()})
	p.Must(err)
	if r.Conversation.Mode != model.ConversationNone || len(r.Conversation.Removed) > 0 {
		t.Errorf("%+v", r.Conversation)
	}
	if _, err := os.Stat(fork.Path); err != nil {
		t.Errorf("the session that was named is gone: %v", err)
	}
	if at, err := p.E.Sessions.Position(); err != nil || at.Session != fork.Session {
		t.Errorf("the project stands at %+v, %v", at, err)
	}
	p.Verify()
}

// The whole way to the beginning and back.
func TestUndoRedoConversation(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	env := restore.Options{Env: p.Env()}
	r, err := p.E.Restorer.Undo(enginetest.Bg, 1, env)
	p.Must(err)
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	r, err = p.E.Restorer.Undo(enginetest.Bg, 1, env)
	p.Must(err)
	if p.Read("f") != enginetest.Big("0") {
		t.Errorf("f is %.3q", p.Read("f"))
	}
	if r.Conversation != nil && r.Conversation.Mode == model.ConversationFork {
		t.Errorf("before the first prompt: %+v", r.Conversation)
	}
	r, err = p.E.Restorer.Redo(enginetest.Bg, 2, env)
	p.Must(err)
	if p.Read("f") != enginetest.Big("2") || r.Conversation.Mode != model.ConversationOriginal ||
		r.Conversation.Session != k.Name() ||
		len(p.Files()) != 1 {
		t.Errorf("redo to the end: %+v, %q", r.Conversation, p.Files())
	}
}

// Undo along a session's line goes to steps of the session before it; that one's conversation is not this one's.
func TestUndoBeforeTheSessionBegan(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	a := p.Talker(1)
	a.Take("one", p.Edits("f", "1"))
	a.Take("two", p.Edits("f", "2"))
	b := p.Talker(2)
	b.Take("three", p.Edits("f", "3"))
	before := p.Slurp(a.File)
	for _, inPlace := range []bool{true, false} {
		r, err := p.E.Restorer.Undo(enginetest.Bg, 1,
			restore.Options{Session: model.SessionChoice{Session: b.Name()}, Env: p.Env(), InPlace: inPlace})
		if inPlace {
			if !errors.Is(err, model.ErrNoConversation) {
				t.Errorf("in place: %v", err)
			}
			continue
		}
		if err != nil || p.Read("f") != enginetest.Big("2") || r.Conversation.Mode != model.ConversationNone {
			t.Errorf("%+v, %v", r.Conversation, err)
		}
	}
	if p.Slurp(a.File) != before || len(p.Files()) != 2 {
		t.Errorf("the other session has changed: %q", p.Files())
	}
}

// TestT18Promise12ForkGoesBack: a session that a checkout made goes back: what the session before it had done was taken
// back already and is not kept, what a third one has done is.
func TestT18Promise12ForkGoesBack(t *testing.T) {
	for _, contextOnly := range []bool{false, true} {
		p := enginetest.NewProject(t)
		for _, f := range []string{"f", "g", "h"} {
			p.Write(f, enginetest.Big("0"))
		}
		p.Save("first")
		k, other := p.Talker(1), p.Talker(2)
		k.Take("one", p.Edits("f", "1"))
		k.Take("two", func() { p.Write("f", enginetest.Big("2")); p.Write("new", enginetest.Big("2")) })
		other.Take("else", p.Edits("g", "other"))
		r := p.Back("turn:1", restore.Options{
			Session: model.SessionChoice{Session: k.Name()},
			Scope:   refs.Scope{ContextOnly: contextOnly},
		})
		if p.Read("g") != enginetest.Big("other") {
			t.Fatal("the other session's change is gone")
		}
		f := p.Opened(r.Conversation.Fork)
		f.Start()
		f.Take("another two", p.Edits("h", "fork"))
		f.Take("three", p.Edits("h", "fork 3"))
		w := model.SessionChoice{Session: f.Name()}
		u, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Session: w, Env: p.Env()})
		p.Must(err)
		if p.Read("h") != enginetest.Big("fork") || p.Read("g") != enginetest.Big("other") {
			t.Errorf("undo: h is %.5q, g is %.5q", p.Read("h"), p.Read("g"))
		}
		for _, kept := range u.Plan.Kept {
			if kept.Path != "g" {
				t.Errorf("undo kept %s", kept.Path)
			}
		}
		b := p.Back("turn:1", restore.Options{Session: w})
		if p.Read("f") != enginetest.Big("1") || p.Read("g") != enginetest.Big("other") ||
			p.Read("h") != enginetest.Big("0") {
			t.Errorf("context only %v: turn:1: f is %.3q, g is %.5q, h is %.5q, kept %v", contextOnly, p.Read("f"),
				p.Read("g"), p.Read("h"), p.KeptNames(b))
		}
		if _, err := os.Stat(p.Path("new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("context only %v: new: %v", contextOnly, err)
		}
	}
}

// Undo-restore leaves a fork that the agent has open.
func TestUndoRestoreWhileTheForkIsOpen(t *testing.T) {
	p, _ := enginetest.TwoTurns(t)
	r := p.Back("turn:1", restore.Options{})
	note := running(p, r.Conversation.Session)
	back, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	enginetest.Equal(t, "kept", back.Conversation.Kept, []string{r.Conversation.Path})
	p.Must(os.Remove(note))
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	if p.Read("f") != enginetest.Big("2") {
		t.Errorf("f is %.3q", p.Read("f"))
	}
}
