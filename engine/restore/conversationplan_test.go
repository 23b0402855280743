package restore_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/refs"
)

// The three ways of a checkout with the conversation.
func TestCheckoutConversation(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	first := p.Save("first")
	k := p.Talker(1)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	before := p.Slurp(k.File)

	dry := p.Back("turn:1", restore.Options{DryRun: true})
	if dry.Conversation.Mode != model.ConversationFork || len(p.Files()) != 1 || p.Read("f") != enginetest.Big("2") {
		t.Fatalf("dry run: %+v, %q", dry.Conversation, p.Files())
	}
	r := p.Back("turn:1", restore.Options{})
	if r.Conversation.Mode != model.ConversationFork || r.Conversation.Turn != 1 ||
		p.Read("f") != enginetest.Big("1") ||
		r.Conversation.Fork.From.Session != k.Name() ||
		r.Conversation.Fork.From.Checkpoint != r.Plan.Target.ID.String() {
		t.Fatalf("%+v", r.Conversation)
	}
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	if mode := stat(t, r.Conversation.Path).Mode(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	enginetest.Equal(t, "resume", r.Conversation.Resume(),
		[]string{"claude", "--resume", r.Conversation.Fork.Session[len("claude/"):]})
	if o := p.Back("turn:2",
		restore.Options{Session: model.SessionChoice{Session: k.Name()}}); o.Conversation.Mode != model.ConversationOriginal ||
		o.Conversation.Session != k.Name() || p.Read("f") != enginetest.Big("2") {
		t.Errorf("to its end: %+v", o.Conversation)
	}
	// Code that belongs to nobody's conversation, and the code alone.
	if o := p.Back(first.ID.String(), restore.Options{}); o.Conversation == nil ||
		o.Conversation.Mode != model.ConversationNone ||
		p.Read("f") != enginetest.Big("0") {
		t.Errorf("to a save: %+v", o.Conversation)
	}
	if o := p.Back("turn:1",
		restore.Options{Session: model.SessionChoice{Session: k.Name()}, CodeOnly: true}); o.Conversation != nil ||
		p.Read("f") != enginetest.Big("1") {
		t.Errorf("code only: %+v", o.Conversation)
	}
	if o := p.Back("turn:0", restore.Options{Session: model.SessionChoice{Session: k.Name()}}); o.Conversation == nil ||
		o.Conversation.Mode != model.ConversationNone || o.Conversation.Why == "" {
		t.Errorf("before the first prompt: %+v", o.Conversation)
	}
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:0", restore.Options{
		Session: model.SessionChoice{Session: k.Name()},
		Env:     p.Env(), Scope: refs.Scope{ContextOnly: true},
	}); !errors.Is(err, model.ErrNoConversation) {
		t.Errorf("before the first prompt, --context-only: %v", err)
	}
	if p.Slurp(k.File) != before {
		t.Error("the session that was forked has changed")
	}
	p.Verify()
}

// In place the session file itself goes back, and comes back.
func TestCheckoutInPlace(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	k.Append(`{"type":"unfinish`)
	p.Must(os.Chmod(k.File, 0o640))
	before := p.Slurp(k.File)
	inPlace := restore.Options{InPlace: true}
	dry := inPlace
	dry.DryRun = true
	if r := p.Back("turn:1", dry); r.Conversation.Mode != model.ConversationInPlace || p.Slurp(k.File) != before {
		t.Fatalf("dry run: %+v", r.Conversation)
	}

	note := running(p, k.Name())
	_, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env(), InPlace: true})
	var open *model.RunningError
	if !errors.As(err, &open) || open.Session != k.Name() || p.Slurp(k.File) != before ||
		p.Read("f") != enginetest.Big("2") {
		t.Fatalf("while it is open: %v", err)
	}
	forced := inPlace
	forced.Force = true
	cut := p.Back("turn:1", forced)
	p.Must(os.Remove(note))
	after := p.Slurp(k.File)
	if cut.Conversation.Mode != model.ConversationInPlace || cut.Conversation.Session != k.Name() ||
		cut.Conversation.Turn != 1 ||
		!strings.HasPrefix(before, after) || p.Read("f") != enginetest.Big("1") || len(p.Files()) != 1 {
		t.Fatalf("%+v, %q", cut.Conversation, p.Files())
	}
	if mode := stat(t, k.File).Mode().Perm(); mode != 0o640 {
		t.Errorf("mode %v", mode)
	}
	p.WantTalk(k.File, "done: one", "one")
	if s := p.Session(k.Name()); s.Turn != 1 || s.Busy {
		t.Errorf("turn %d", s.Turn)
	}
	p.Settle()
	// Again: there is nothing to be cut.
	if r := p.Back("turn:1", inPlace); r.Conversation.Mode != model.ConversationOriginal || p.Slurp(k.File) != after {
		t.Errorf("again: %+v", r.Conversation)
	}
	back, err := p.E.Restorer.UndoRestore(enginetest.Bg, cut.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if back.Conversation.Mode != model.ConversationBack || p.Slurp(k.File) != before ||
		p.Read("f") != enginetest.Big("2") ||
		p.Session(k.Name()).Turn != 2 {
		t.Fatalf("undo-restore: %+v", back.Conversation)
	}
	p.Settle()
	again, err := p.E.Restorer.UndoRestore(enginetest.Bg, back.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Slurp(k.File) != after || p.Read("f") != enginetest.Big("1") || p.Session(k.Name()).Turn != 1 {
		t.Fatalf("undo of the undo-restore: %+v", again.Conversation)
	}
	// The session goes on; undo-restore brings the end back, and what was said since is stored.
	k.Parent = lastUUID(after)
	k.Take("another two", p.Edits("f", "3"))
	with := p.Slurp(k.File)
	r, err := p.E.Restorer.UndoRestore(enginetest.Bg, again.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if p.Slurp(k.File) != before {
		t.Errorf("%+v", r.Conversation)
	}
	if _, err := p.E.Restorer.UndoRestore(enginetest.Bg, r.Operation.Seq, restore.Options{Env: p.Env()}); err != nil ||
		p.Slurp(k.File) != with {
		t.Errorf("what was said since is lost: %v", err)
	}
	p.Verify()
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
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	two := k.Take("two", p.Edits("f", "2"))
	p.Write("unsaved", "u")
	code := enginetest.List(t, p.Root)
	for _, inPlace := range []bool{false, true} {
		before := p.Slurp(k.File)
		r := p.Back("turn:1", restore.Options{
			Session: model.SessionChoice{Session: k.Name()}, Scope: refs.Scope{ContextOnly: true},
			InPlace: inPlace,
		})
		p.WantTalk(r.Conversation.Path, "done: one", "one")
		p.WantTree(code)
		if at, err := p.E.Log.Refs.ID(refs.Cursor(k.Name())); err != nil || at != two.Checkpoint {
			t.Errorf("the cursor went to %s, %v", at.Short(), err)
		}
		if !inPlace { // the code that the new session has is the code that is there
			if at, err := p.E.Log.Refs.ID(refs.Cursor(r.Conversation.Session)); err != nil || at != two.Checkpoint {
				t.Errorf("the new session begins at %s, %v; want %s", at.Short(), err, two.Checkpoint.Short())
			}
		}
		back, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		p.WantTree(code)
		if p.Slurp(k.File) != before || back.Conversation.Mode != model.ConversationBack || len(p.Files()) != 1 {
			t.Errorf("undo-restore: %+v, %q", back.Conversation, p.Files())
		}
	}
}

// A dry run says what lies behind the target on the branch that goes back: turns, of its conversation those that
// changed nothing too, and checkpoints.
func TestBehind(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	first := p.Save("by hand")
	k := p.Talker(1)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", p.Edits("f", "2"))
	k.Take("nothing", func() {})
	k.Take("four", p.Edits("f", "4"))
	behind := func(name string, o restore.Options) (turns, checkpoints int) {
		t.Helper()
		o.DryRun = true
		b := p.Back(name, o).Behind
		if b == nil {
			return 0, 0
		}
		if b.Session != k.Name() {
			t.Errorf("%s: the branch of %s", name, b.Session)
		}
		return b.Turns, b.Checkpoints
	}
	ours := restore.Options{Session: model.SessionChoice{Session: k.Name()}}
	for name, want := range map[string][2]int{
		"turn:0": {4, 3}, "turn:1": {3, 2}, "turn:2": {2, 1}, "turn:3": {1, 1}, "turn:4": {}, "before:2": {3, 2},
		"@": {},
	} {
		turns, checkpoints := behind(name, ours)
		enginetest.Equal(t, name, []int{turns, checkpoints}, want[:])
	}
	// from which the branch goes on
	if turns, checkpoints := behind(first.ID.String(), restore.Options{}); turns != 3 || checkpoints != 3 {
		t.Errorf("of what was saved by hand before: %d, %d", turns, checkpoints)
	}
	p.Back("turn:2", ours)
	if turns, checkpoints := behind("turn:1", ours); turns != 3 || checkpoints != 2 { // also what lies ahead already
		t.Errorf("having gone back: %d, %d", turns, checkpoints)
	}
	part := ours
	part.Paths = []string{"f"}
	if turns, checkpoints := behind("turn:1", part); turns+checkpoints > 0 {
		t.Errorf("of a part: %d, %d", turns, checkpoints)
	}
}
