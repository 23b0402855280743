package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/clients"
	"rewind/refs"
	"rewind/transcript"
)

// used says that somebody has gone on with a session.
func (k *talker) used(text string) {
	k.line("user", fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

// A run of undos leaves one fork behind, also when the daemon looks at sessions in between; one that was used stays.
func TestUndoLeavesOneFork(t *testing.T) {
	p, k := begun(t)
	for _, s := range []string{"1", "2", "3", "4", "5"} {
		k.take("say "+s, p.edits("f", s))
	}
	undo := func(o restore.Options) *restore.Result {
		t.Helper()
		o.Env = p.env()
		r, err := p.e.Restorer.Undo(bg, 1, o)
		p.must(err)
		return r
	}
	for i, want := range []string{"4", "3", "2"} {
		r := undo(restore.Options{})
		if p.read("f") != big(want) || r.Conversation.Mode != model.ConversationFork || len(p.files()) != 2 {
			t.Fatalf("undo %d: %+v, %q", i, r.Conversation, p.files())
		}
		p.settle()
		if i == 1 {
			p.reopen()
		}
	}
	r, err := p.e.Restorer.Redo(bg, 1, restore.Options{Env: p.env()})
	p.must(err)
	if len(p.files()) != 2 || p.read("f") != big("3") {
		t.Errorf("redo: %+v, %q", r.Conversation, p.files())
	}
	if all, err := p.e.History.SessionList(bg, p.env()); err != nil || len(all) != 2 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
	// Somebody goes on with it.
	p.opened(r.Conversation.Fork).used("mine")
	undo(restore.Options{})
	if len(p.files()) != 3 {
		t.Errorf("%q", p.files())
	}
	// The agent has it open, but nothing was said yet.
	last := undo(restore.Options{})
	if len(p.files()) != 3 {
		t.Errorf("%q", p.files())
	}
	note := p.running(last.Conversation.Fork.Session)
	back, err := p.e.Restorer.Redo(bg, 1, restore.Options{Env: p.env()})
	p.must(err)
	if _, err := os.Stat(last.Conversation.Fork.Path); err != nil || len(p.files()) != 4 {
		t.Errorf("a session that is open is gone: %v, %q, %+v", err, p.files(), back.Conversation)
	}
	p.must(os.Remove(note))
	p.verify()
}

// running says that an agent has a session open: this process is it.
func (p *fixture) running(session string) (note string) {
	p.t.Helper()
	_, id := model.SplitSession(session)
	dir := filepath.Join(p.user(), ".claude", "sessions")
	p.must(os.MkdirAll(dir, 0o700))
	note = filepath.Join(dir, fmt.Sprint(os.Getpid(), ".json"))
	p.must(os.WriteFile(note, fmt.Appendf(nil, `{"pid":%d,"sessionId":%q,"cwd":%q}`, os.Getpid(), id, p.root), 0o600))
	live, err := clients.Running(transcript.Claude, filepath.Join(p.user(), ".claude"), id)
	p.must(err)
	if !live.Running {
		p.t.Fatalf("the session does not count as open")
	}
	return note
}

// TestPromise18NamedForkStays: a fork that nobody has used yet gives way to the next restore, but not to one that names it and makes nothing in its place.
func TestPromise18NamedForkStays(t *testing.T) {
	p, k := begun(t)
	k.take("say 1", p.edits("f", "1"))
	k.take("say 2", p.edits("f", "2"))
	first, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Env: p.env()})
	p.must(err)
	fork := first.Conversation.Fork
	r, err := p.e.Restorer.Checkout(bg, "turn:0", restore.Options{Session: model.SessionChoice{Session: fork.Session}, Env: p.env()})
	p.must(err)
	if r.Conversation.Mode != model.ConversationNone || len(r.Conversation.Removed) > 0 {
		t.Errorf("%+v", r.Conversation)
	}
	if _, err := os.Stat(fork.Path); err != nil {
		t.Errorf("the session that was named is gone: %v", err)
	}
	if at, err := p.e.Sessions.Position(); err != nil || at.Session != fork.Session {
		t.Errorf("the project stands at %+v, %v", at, err)
	}
	p.verify()
}

// The whole way to the beginning and back.
func TestUndoRedoConversation(t *testing.T) {
	p, k := twoTurns(t)
	env := restore.Options{Env: p.env()}
	r, err := p.e.Restorer.Undo(bg, 1, env)
	p.must(err)
	p.wantTalk(r.Conversation.Path, "done: one", "one")
	r, err = p.e.Restorer.Undo(bg, 1, env)
	p.must(err)
	if p.read("f") != big("0") {
		t.Errorf("f is %.3q", p.read("f"))
	}
	if r.Conversation != nil && r.Conversation.Mode == model.ConversationFork {
		t.Errorf("before the first prompt: %+v", r.Conversation)
	}
	r, err = p.e.Restorer.Redo(bg, 2, env)
	p.must(err)
	if p.read("f") != big("2") || r.Conversation.Mode != model.ConversationOriginal || r.Conversation.Session != k.name() || len(p.files()) != 1 {
		t.Errorf("redo to the end: %+v, %q", r.Conversation, p.files())
	}
}

// Undo along a session's line goes to steps of the session before it; that one's conversation is not this one's.
func TestUndoBeforeTheSessionBegan(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	p.save("first")
	a := p.talker(1)
	a.take("one", p.edits("f", "1"))
	a.take("two", p.edits("f", "2"))
	b := p.talker(2)
	b.take("three", p.edits("f", "3"))
	before := p.slurp(a.file)
	for _, inPlace := range []bool{true, false} {
		r, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: model.SessionChoice{Session: b.name()}, Env: p.env(), InPlace: inPlace})
		if inPlace {
			if !errors.Is(err, model.ErrNoConversation) {
				t.Errorf("in place: %v", err)
			}
			continue
		}
		if err != nil || p.read("f") != big("2") || r.Conversation.Mode != model.ConversationNone {
			t.Errorf("%+v, %v", r.Conversation, err)
		}
	}
	if p.slurp(a.file) != before || len(p.files()) != 2 {
		t.Errorf("the other session has changed: %q", p.files())
	}
}

// TestT18Promise12ForkGoesBack: a session that a checkout made goes back: what the session before it had done was taken back already and is not kept, what a
// third one has done is.
func TestT18Promise12ForkGoesBack(t *testing.T) {
	for _, contextOnly := range []bool{false, true} {
		p := newProject(t)
		for _, f := range []string{"f", "g", "h"} {
			p.write(f, big("0"))
		}
		p.save("first")
		k, other := p.talker(1), p.talker(2)
		k.take("one", p.edits("f", "1"))
		k.take("two", func() { p.write("f", big("2")); p.write("new", big("2")) })
		other.take("else", p.edits("g", "other"))
		r := p.back("turn:1", restore.Options{Session: model.SessionChoice{Session: k.name()}, Scope: refs.Scope{ContextOnly: contextOnly}})
		if p.read("g") != big("other") {
			t.Fatal("the other session's change is gone")
		}
		f := p.opened(r.Conversation.Fork)
		f.start()
		f.take("another two", p.edits("h", "fork"))
		f.take("three", p.edits("h", "fork 3"))
		w := model.SessionChoice{Session: f.name()}
		u, err := p.e.Restorer.Undo(bg, 1, restore.Options{Session: w, Env: p.env()})
		p.must(err)
		if p.read("h") != big("fork") || p.read("g") != big("other") {
			t.Errorf("undo: h is %.5q, g is %.5q", p.read("h"), p.read("g"))
		}
		for _, kept := range u.Plan.Kept {
			if kept.Path != "g" {
				t.Errorf("undo kept %s", kept.Path)
			}
		}
		b := p.back("turn:1", restore.Options{Session: w})
		if p.read("f") != big("1") || p.read("g") != big("other") || p.read("h") != big("0") {
			t.Errorf("context only %v: turn:1: f is %.3q, g is %.5q, h is %.5q, kept %v", contextOnly, p.read("f"), p.read("g"), p.read("h"), p.keptNames(b))
		}
		if _, err := os.Stat(p.path("new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("context only %v: new: %v", contextOnly, err)
		}
	}
}

// Undo-restore leaves a fork that the agent has open.
func TestUndoRestoreWhileTheForkIsOpen(t *testing.T) {
	p, _ := twoTurns(t)
	r := p.back("turn:1", restore.Options{})
	note := p.running(r.Conversation.Session)
	back, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{Env: p.env()})
	p.must(err)
	equal(t, "kept", back.Conversation.Kept, []string{r.Conversation.Path})
	p.must(os.Remove(note))
	p.wantTalk(r.Conversation.Path, "done: one", "one")
	if p.read("f") != big("2") {
		t.Errorf("f is %.3q", p.read("f"))
	}
}
