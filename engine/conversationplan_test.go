package engine

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// The three ways of a checkout with the conversation.
func TestCheckoutConversation(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	first := p.save("first")
	k := p.talker(1)
	k.take("one", p.edits("f", "1"))
	k.take("two", p.edits("f", "2"))
	before := p.slurp(k.file)

	dry := p.back("turn:1", restore.Options{DryRun: true})
	if dry.Conversation.Mode != model.ConversationFork || len(p.files()) != 1 || p.read("f") != big("2") {
		t.Fatalf("dry run: %+v, %q", dry.Conversation, p.files())
	}
	r := p.back("turn:1", restore.Options{})
	if r.Conversation.Mode != model.ConversationFork || r.Conversation.Turn != 1 || p.read("f") != big("1") || r.Conversation.Fork.From.Session != k.name() || r.Conversation.Fork.From.Checkpoint != r.Plan.Target.ID.String() {
		t.Fatalf("%+v", r.Conversation)
	}
	p.wantTalk(r.Conversation.Path, "done: one", "one")
	if mode := stat(t, r.Conversation.Path).Mode(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	equal(t, "resume", r.Conversation.Resume(), []string{"claude", "--resume", r.Conversation.Fork.Session[len("claude/"):]})
	if o := p.back("turn:2", restore.Options{Session: model.SessionChoice{Session: k.name()}}); o.Conversation.Mode != model.ConversationOriginal || o.Conversation.Session != k.name() || p.read("f") != big("2") {
		t.Errorf("to its end: %+v", o.Conversation)
	}
	// Code that belongs to nobody's conversation, and the code alone.
	if o := p.back(first.ID.String(), restore.Options{}); o.Conversation == nil || o.Conversation.Mode != model.ConversationNone || p.read("f") != big("0") {
		t.Errorf("to a save: %+v", o.Conversation)
	}
	if o := p.back("turn:1", restore.Options{Session: model.SessionChoice{Session: k.name()}, Conversation: model.ConversationOptions{CodeOnly: true}}); o.Conversation != nil || p.read("f") != big("1") {
		t.Errorf("code only: %+v", o.Conversation)
	}
	if o := p.back("turn:0", restore.Options{Session: model.SessionChoice{Session: k.name()}}); o.Conversation == nil || o.Conversation.Mode != model.ConversationNone || o.Conversation.Why == "" {
		t.Errorf("before the first prompt: %+v", o.Conversation)
	}
	if _, err := p.e.Restorer.Checkout(bg, "turn:0", restore.Options{Session: model.SessionChoice{Session: k.name()}, Env: p.env(), Conversation: model.ConversationOptions{ContextOnly: true}}); !errors.Is(err, model.ErrNoConversation) {
		t.Errorf("before the first prompt, --context-only: %v", err)
	}
	if p.slurp(k.file) != before {
		t.Error("the session that was forked has changed")
	}
	p.verify()
}

// In place the session file itself goes back, and comes back.
func TestCheckoutInPlace(t *testing.T) {
	p, k := twoTurns(t)
	k.append(`{"type":"unfinish`)
	p.must(os.Chmod(k.file, 0o640))
	before := p.slurp(k.file)
	inPlace := restore.Options{Conversation: model.ConversationOptions{InPlace: true}}
	dry := inPlace
	dry.DryRun = true
	if r := p.back("turn:1", dry); r.Conversation.Mode != model.ConversationInPlace || p.slurp(k.file) != before {
		t.Fatalf("dry run: %+v", r.Conversation)
	}

	note := p.running(k.name())
	_, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Env: p.env(), Conversation: model.ConversationOptions{InPlace: true}})
	var open *model.RunningError
	if !errors.As(err, &open) || open.Session != k.name() || p.slurp(k.file) != before || p.read("f") != big("2") {
		t.Fatalf("while it is open: %v", err)
	}
	forced := inPlace
	forced.Conversation.Force = true
	cut := p.back("turn:1", forced)
	p.must(os.Remove(note))
	after := p.slurp(k.file)
	if cut.Conversation.Mode != model.ConversationInPlace || cut.Conversation.Session != k.name() || cut.Conversation.Turn != 1 || !strings.HasPrefix(before, after) || p.read("f") != big("1") || len(p.files()) != 1 {
		t.Fatalf("%+v, %q", cut.Conversation, p.files())
	}
	if mode := stat(t, k.file).Mode().Perm(); mode != 0o640 {
		t.Errorf("mode %v", mode)
	}
	p.wantTalk(k.file, "done: one", "one")
	if s := p.session(k.name()); s.Turn != 1 || s.Busy {
		t.Errorf("turn %d", s.Turn)
	}
	p.settle()
	// Again: there is nothing to be cut.
	if r := p.back("turn:1", inPlace); r.Conversation.Mode != model.ConversationOriginal || p.slurp(k.file) != after {
		t.Errorf("again: %+v", r.Conversation)
	}
	back, err := p.e.Restorer.UndoRestore(bg, cut.Operation.Seq, restore.Options{Env: p.env()})
	p.must(err)
	if back.Conversation.Mode != model.ConversationBack || p.slurp(k.file) != before || p.read("f") != big("2") || p.session(k.name()).Turn != 2 {
		t.Fatalf("undo-restore: %+v", back.Conversation)
	}
	p.settle()
	again, err := p.e.Restorer.UndoRestore(bg, back.Operation.Seq, restore.Options{Env: p.env()})
	p.must(err)
	if p.slurp(k.file) != after || p.read("f") != big("1") || p.session(k.name()).Turn != 1 {
		t.Fatalf("undo of the undo-restore: %+v", again.Conversation)
	}
	// The session goes on; undo-restore brings the end back, and what was said since is stored.
	k.parent = lastUUID(after)
	k.take("another two", p.edits("f", "3"))
	with := p.slurp(k.file)
	r, err := p.e.Restorer.UndoRestore(bg, again.Operation.Seq, restore.Options{Env: p.env()})
	p.must(err)
	if p.slurp(k.file) != before {
		t.Errorf("%+v", r.Conversation)
	}
	if _, err := p.e.Restorer.UndoRestore(bg, r.Operation.Seq, restore.Options{Env: p.env()}); err != nil || p.slurp(k.file) != with {
		t.Errorf("what was said since is lost: %v", err)
	}
	p.verify()
}

func lastUUID(text string) (id string) {
	for line := range strings.Lines(text) {
		if i := strings.Index(line, `"uuid":"`); i > 0 {
			id = line[i+8 : i+8+36]
		}
	}
	return id
}

func TestCheckoutContextOnly(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	two := k.take("two", p.edits("f", "2"))
	p.write("unsaved", "u")
	code := list(t, p.root)
	for _, inPlace := range []bool{false, true} {
		before := p.slurp(k.file)
		r := p.back("turn:1", restore.Options{Session: model.SessionChoice{Session: k.name()}, Conversation: model.ConversationOptions{ContextOnly: true, InPlace: inPlace}})
		p.wantTalk(r.Conversation.Path, "done: one", "one")
		p.wantTree(code)
		if at, err := p.e.Log.Refs.ID(refs.Cursor(k.name())); err != nil || at != two.Checkpoint {
			t.Errorf("the cursor went to %s, %v", at.Short(), err)
		}
		if !inPlace { // the code that the new session has is the code that is there
			if at, err := p.e.Log.Refs.ID(refs.Cursor(r.Conversation.Session)); err != nil || at != two.Checkpoint {
				t.Errorf("the new session begins at %s, %v; want %s", at.Short(), err, two.Checkpoint.Short())
			}
		}
		back, err := p.e.Restorer.UndoRestore(bg, 0, restore.Options{Env: p.env()})
		p.must(err)
		p.wantTree(code)
		if p.slurp(k.file) != before || back.Conversation.Mode != model.ConversationBack || len(p.files()) != 1 {
			t.Errorf("undo-restore: %+v, %q", back.Conversation, p.files())
		}
	}
}
