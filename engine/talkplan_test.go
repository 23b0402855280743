package engine

import (
	"errors"
	"os"
	"strings"
	"testing"

	"rewind/refs"
)

// The three ways of a checkout with the conversation.
func TestCheckoutTalk(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	first := p.save("first")
	k := p.talker(1)
	k.take("one", p.edits("f", "1"))
	k.take("two", p.edits("f", "2"))
	before := p.slurp(k.file)

	dry := p.back("turn:1", RestoreOptions{DryRun: true})
	if dry.Talk.Mode != TalkFork || len(p.files()) != 1 || p.read("f") != big("2") {
		t.Fatalf("dry run: %+v, %q", dry.Talk, p.files())
	}
	r := p.back("turn:1", RestoreOptions{})
	if r.Talk.Mode != TalkFork || r.Talk.Turn != 1 || p.read("f") != big("1") || r.Talk.Fork.From.Session != k.name() || r.Talk.Fork.From.Checkpoint != r.Plan.Target.ID.String() {
		t.Fatalf("%+v", r.Talk)
	}
	p.wantTalk(r.Talk.Path, "done: one", "one")
	if mode := stat(t, r.Talk.Path).Mode(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	equal(t, "resume", r.Talk.Resume(), []string{"claude", "--resume", r.Talk.Fork.Session[len("claude/"):]})
	if o := p.back("turn:2", RestoreOptions{Session: Whose{Session: k.name()}}); o.Talk.Mode != TalkOriginal || o.Talk.Session != k.name() || p.read("f") != big("2") {
		t.Errorf("to its end: %+v", o.Talk)
	}
	// Code that belongs to nobody's conversation, and the code alone.
	if o := p.back(first.ID.String(), RestoreOptions{}); o.Talk != nil || p.read("f") != big("0") {
		t.Errorf("to a save: %+v", o.Talk)
	}
	if o := p.back("turn:1", RestoreOptions{Session: Whose{Session: k.name()}, Talk: TalkOptions{CodeOnly: true}}); o.Talk != nil || p.read("f") != big("1") {
		t.Errorf("code only: %+v", o.Talk)
	}
	if o := p.back("turn:0", RestoreOptions{Session: Whose{Session: k.name()}}); o.Talk == nil || o.Talk.Mode != TalkNone || o.Talk.Why == "" {
		t.Errorf("before the first prompt: %+v", o.Talk)
	}
	if _, err := p.e.Checkout(bg, "turn:0", RestoreOptions{Session: Whose{Session: k.name()}, Env: p.env(), Talk: TalkOptions{ContextOnly: true}}); !errors.Is(err, ErrNoConversation) {
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
	inPlace := RestoreOptions{Talk: TalkOptions{InPlace: true}}
	dry := inPlace
	dry.DryRun = true
	if r := p.back("turn:1", dry); r.Talk.Mode != TalkInPlace || p.slurp(k.file) != before {
		t.Fatalf("dry run: %+v", r.Talk)
	}

	note := p.running(k.name())
	_, err := p.e.Checkout(bg, "turn:1", RestoreOptions{Env: p.env(), Talk: TalkOptions{InPlace: true}})
	var open *RunningError
	if !errors.As(err, &open) || open.Session != k.name() || p.slurp(k.file) != before || p.read("f") != big("2") {
		t.Fatalf("while it is open: %v", err)
	}
	forced := inPlace
	forced.Talk.Force = true
	cut := p.back("turn:1", forced)
	p.must(os.Remove(note))
	after := p.slurp(k.file)
	if cut.Talk.Mode != TalkInPlace || cut.Talk.Session != k.name() || cut.Talk.Turn != 1 || !strings.HasPrefix(before, after) || p.read("f") != big("1") || len(p.files()) != 1 {
		t.Fatalf("%+v, %q", cut.Talk, p.files())
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
	if r := p.back("turn:1", inPlace); r.Talk.Mode != TalkOriginal || p.slurp(k.file) != after {
		t.Errorf("again: %+v", r.Talk)
	}
	back, err := p.e.UndoRestore(bg, cut.Operation.Seq, RestoreOptions{Env: p.env()})
	p.must(err)
	if back.Talk.Mode != TalkBack || p.slurp(k.file) != before || p.read("f") != big("2") || p.session(k.name()).Turn != 2 {
		t.Fatalf("undo-restore: %+v", back.Talk)
	}
	p.settle()
	again, err := p.e.UndoRestore(bg, back.Operation.Seq, RestoreOptions{Env: p.env()})
	p.must(err)
	if p.slurp(k.file) != after || p.read("f") != big("1") || p.session(k.name()).Turn != 1 {
		t.Fatalf("undo of the undo-restore: %+v", again.Talk)
	}
	// The session goes on; undo-restore brings the end back, and what was said since is stored.
	k.parent = lastUUID(after)
	k.take("another two", p.edits("f", "3"))
	with := p.slurp(k.file)
	r, err := p.e.UndoRestore(bg, again.Operation.Seq, RestoreOptions{Env: p.env()})
	p.must(err)
	if p.slurp(k.file) != before {
		t.Errorf("%+v", r.Talk)
	}
	if _, err := p.e.UndoRestore(bg, r.Operation.Seq, RestoreOptions{Env: p.env()}); err != nil || p.slurp(k.file) != with {
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
		r := p.back("turn:1", RestoreOptions{Session: Whose{Session: k.name()}, Talk: TalkOptions{ContextOnly: true, InPlace: inPlace}})
		p.wantTalk(r.Talk.Path, "done: one", "one")
		p.wantTree(code)
		if at, err := p.e.refs.ID(refs.Cursor(k.name())); err != nil || at != two.Checkpoint {
			t.Errorf("the cursor went to %s, %v", at.Short(), err)
		}
		if !inPlace { // the code that the new session has is the code that is there
			if at, err := p.e.refs.ID(refs.Cursor(r.Talk.Session)); err != nil || at != two.Checkpoint {
				t.Errorf("the new session begins at %s, %v; want %s", at.Short(), err, two.Checkpoint.Short())
			}
		}
		back, err := p.e.UndoRestore(bg, 0, RestoreOptions{Env: p.env()})
		p.must(err)
		p.wantTree(code)
		if p.slurp(k.file) != before || back.Talk.Mode != TalkBack || len(p.files()) != 1 {
			t.Errorf("undo-restore: %+v, %q", back.Talk, p.files())
		}
	}
}
