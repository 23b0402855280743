package restore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
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

// A fork that nobody has used serves again where its place is gone to, the named one before a newer one, also by the
// turn of another session that shares it; it is no reason to make one more.
func TestUnusedForkServesAgain(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	of := func(session string, title string) restore.Options {
		return restore.Options{Session: model.SessionChoice{Session: session}, Title: title}
	}
	first := p.Back("turn:1", of(k.Name(), "first")).Conversation
	if first.Mode != model.ConversationFork || len(p.Files()) != 2 {
		t.Fatalf("%+v", first)
	}
	serves := func(what string, o restore.Options, name string, want *model.Conversation) {
		t.Helper()
		p.Write("f", what)
		r := p.Back(name, o)
		c := r.Conversation
		is := fmt.Sprint(c.Mode, c.Session, c.Path, c.Turn, len(c.Removed))
		same := is == fmt.Sprint(model.ConversationOriginal, want.Session, want.Path, 1, 0)
		if !same || p.Read("f") != enginetest.Big("1") {
			t.Errorf("%s: %+v, want %s", what, c, want.Session)
		}
		at, err := p.E.Sessions.Position()
		p.Must(err)
		if at.Session != want.Session {
			t.Errorf("%s: the project stands at %+v", what, at)
		}
		if _, err := os.Stat(want.Path); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	serves("again", of(k.Name(), ""), "turn:1", first)
	serves("by itself", of(first.Session, ""), "turn:1", first)
	_, err := p.E.Restorer.Switch(enginetest.Bg, k.Name(), restore.Options{Env: p.Env()}) // which keeps forks
	p.Must(err)
	// another one of the same place, which has a title of its own
	second := p.Back("turn:1", of(k.Name(), "second")).Conversation
	if second.Mode != model.ConversationFork || second.Session == first.Session {
		t.Fatalf("%+v", second)
	}
	serves("the named one", of(first.Session, ""), "turn:1", first)
	serves("the newest", of(k.Name(), ""), "turn:1", second)

	// a fork of the session that goes on shares the turn
	g := p.Fork("turn:2@"+k.Name(), restore.Options{})
	p.Opened(g.Fork).Take("of its own", p.Edits("g", "1"))
	p.Settle()
	p.Write("f", "away")
	c := p.Back("turn:1@"+g.Session, restore.Options{}).Conversation
	if c.Session != second.Session || c.Mode != model.ConversationOriginal {
		t.Errorf("by the turn of a fork: %+v, want %s", c, second.Session)
	}
	if c := p.Back("turn:2@"+g.Session, restore.Options{}).Conversation; c.Session == second.Session || c.Turn != 2 {
		t.Errorf("the turn behind it: %+v", c)
	}
	p.Verify()
}

// What a restore took away comes back with undo-restore as it was: a file that is gone, one with records that say
// nothing behind it, and not one whose name somebody else has taken.
func TestUndoRestoreOfForks(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	of := restore.Options{Session: model.SessionChoice{Session: k.Name()}}
	undo := func(seq uint64, o restore.Options) (*restore.Result, error) {
		o.Env = p.Env()
		return p.E.Restorer.UndoRestore(enginetest.Bg, seq, o)
	}
	went := p.Back("turn:1", of)
	fork := went.Conversation.Path
	more := p.Slurp(fork) + `{"type":"mode","mode":"normal"}` + "\n"
	p.Must(os.WriteFile(fork, []byte(more), 0o600))
	back, err := undo(went.Operation.Seq, restore.Options{})
	p.Must(err)
	enginetest.Equal(t, "removed", back.Conversation.Removed, []string{fork})
	if len(back.Conversation.Kept) > 0 || len(p.Files()) != 1 {
		t.Errorf("%+v, %q", back.Conversation, p.Files())
	}
	_, err = undo(back.Operation.Seq, restore.Options{})
	p.Must(err)
	if p.Slurp(fork) != more {
		t.Error("it does not come back as it was")
	}

	other := p.Back("turn:2", of) // the first one gives way
	if _, err := os.Stat(fork); err == nil {
		t.Fatalf("%+v", other.Conversation)
	}
	p.Must(os.WriteFile(fork, []byte("somebody's\n"), 0o600))
	alone := restore.Options{Scope: refs.Scope{ContextOnly: true}}
	if r, err := undo(other.Operation.Seq, alone); !errors.Is(err, os.ErrExist) {
		t.Errorf("the name is taken: %+v, %v", r, err)
	}
	r, err := undo(other.Operation.Seq, restore.Options{DryRun: true})
	p.Must(err)
	if r.Conversation.Mode != model.ConversationNone || !strings.Contains(r.Conversation.Why, "--context-only") {
		t.Errorf("the name is taken, with the code: %+v", r.Conversation)
	}
	p.Must(os.Remove(fork))
	_, err = undo(other.Operation.Seq, restore.Options{})
	p.Must(err)
	if p.Slurp(fork) != more || p.Read("f") != enginetest.Big("1") {
		t.Error("the first fork does not come back")
	}

	before := p.Slurp(k.File)
	o := of
	o.InPlace = true
	cut := p.Back("turn:1", o)
	p.Must(os.Remove(k.File))
	_, err = undo(cut.Operation.Seq, restore.Options{})
	p.Must(err)
	if p.Slurp(k.File) != before {
		t.Error("the file was gone, and does not come back whole")
	}
	p.Verify()
}

// A fork that is cut in front of where it parted shares fewer turns with its original, and as many as before when the
// cut is taken back.
func TestCutOfAForkMovesWhereItParted(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	made := p.Fork("turn:2@"+k.Name(), restore.Options{})
	f := p.Opened(made.Fork)
	f.Take("mine", p.Edits("g", "1"))
	f.Take("again", p.Edits("g", "2"))
	p.Settle()
	before := p.Slurp(made.Path)
	for turn, both := range map[int]int{1: 1, 2: 2, 3: 2} {
		cut := p.Back(fmt.Sprint("turn:", turn, "@", f.Name()), restore.Options{InPlace: true})
		if s := p.Session(f.Name()); s.Fork.Both != both || int(s.Turn) != turn || cut.Conversation.Turn != turn {
			t.Errorf("cut to turn %d: both have %d, turn %d, want %d", turn, s.Fork.Both, s.Turn, both)
		}
		if s := p.Session(f.Name()); s.Prompt != map[int]string{1: "one", 2: "two", 3: "mine"}[turn] {
			t.Errorf("cut to turn %d: prompt %q", turn, s.Prompt)
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		s := p.Session(f.Name())
		if s.Fork.Both != 2 || s.Turn != 4 || s.Prompt != "again" {
			t.Errorf("back from turn %d: both have %d, turn %d, prompt %q", turn, s.Fork.Both, s.Turn, s.Prompt)
		}
		if p.Slurp(made.Path) != before {
			t.Errorf("back from turn %d: the file is another", turn)
		}
	}
	p.Verify()
}

// A session whose file is gone goes on in a new one, also where it ends at the target.
func TestCheckoutOfASessionWithoutItsFile(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	p.Must(os.Remove(k.File))
	for name, asked := range map[string][]string{"turn:2@": {"one", "two"}, "turn:1@": {"one"}} {
		c := p.Back(name+k.Name(), restore.Options{}).Conversation
		if c.Mode != model.ConversationFork || c.Turn != len(asked) || c.Fork.From.Session != k.Name() {
			t.Fatalf("%s: %+v", name, c)
		}
		p.WantTalk(c.Path, "done: "+asked[len(asked)-1], asked...)
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
	}
	p.Verify()
}

// Where the agent's folder is none, the code goes alone and says why; what is of no use without the
// conversation is refused, and nothing is made there.
func TestSessionFolderThatIsNone(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	cut := p.Back("turn:2", restore.Options{InPlace: true})
	p.Settle()
	before, was := enginetest.List(t, p.Root), p.Slurp(k.File)
	away := p.Chats() + "-away"
	p.Must(os.Rename(p.Chats(), away))
	p.Must(os.WriteFile(p.Chats(), []byte("no directory"), 0o600))
	alone := refs.Scope{ContextOnly: true}
	of := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: k.Name()}}
	checkout := func(set func(o *restore.Options)) func() error {
		o := of
		set(&o)
		return func() error { _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", o); return err }
	}
	fork := func(set func(o *restore.Options)) func() error {
		o := of
		set(&o)
		return func() error { _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", o); return err }
	}
	for name, do := range map[string]func() error{
		"the conversation alone": checkout(func(o *restore.Options) { o.Scope = alone }),
		"in place":               checkout(func(o *restore.Options) { o.InPlace = true }),
		"fork":                   fork(func(*restore.Options) {}),
		"fork, tried":            fork(func(o *restore.Options) { o.SelfTest = true }),
		"fork, a dry run":        fork(func(o *restore.Options) { o.DryRun = true }),
		"fork with the code":     fork(func(o *restore.Options) { o.Checkout = true }),
		"clone":                  func() error { _, err := p.E.Restorer.Clone(enginetest.Bg, of); return err },
		"undo-restore": func() error {
			o := restore.Options{Env: p.Env(), Scope: alone}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, cut.Operation.Seq, o)
			return err
		},
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), p.Chats()) {
			t.Errorf("%s: %v", name, err)
		}
		p.WantTree(before)
	}
	c := p.Back("turn:1", of).Conversation
	if c.Mode != model.ConversationNone || !strings.Contains(c.Why, p.Chats()) || p.Read("f") != enginetest.Big("1") {
		t.Errorf("with the code: %+v, f %.3q", c, p.Read("f"))
	}
	_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	p.WantTree(before)
	r, err := p.E.Restorer.UndoRestore(enginetest.Bg, cut.Operation.Seq, restore.Options{Env: p.Env()})
	p.Must(err)
	if r.Conversation.Mode != model.ConversationNone || p.Read("f") != enginetest.Big("3") {
		t.Errorf("taken back: %+v, f %.3q", r.Conversation, p.Read("f"))
	}
	p.Must(os.Remove(p.Chats()))
	p.Must(os.Rename(away, p.Chats()))
	if p.Slurp(k.File) != was || len(p.Files()) != 1 {
		t.Errorf("the session has changed, or %q is there", p.Files())
	}
	p.Verify()
}

// Undo goes along the code's line: whose conversation goes back is that of the step which it comes to, where the
// session that goes back comes from there, and none where it does not.
func TestUndoToAStepOfAnother(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	made := p.Fork("turn:2@"+k.Name(), restore.Options{Checkout: true})
	f := p.Opened(made.Fork)
	f.Take("mine", p.Edits("f", "mine"))
	p.Settle()
	of := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: f.Name()}}
	r, err := p.E.Restorer.Undo(enginetest.Bg, 1, of)
	p.Must(err)
	c := r.Conversation
	if c == nil || c.Mode != model.ConversationFork || c.Turn != 2 || p.Read("f") != enginetest.Big("2") {
		t.Errorf("to where the fork begins: %+v, f %.3q", c, p.Read("f"))
	}
	p.WantTalk(r.Conversation.Path, "done: two", "one", "two")
	_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
	p.Must(err)
	r, err = p.E.Restorer.Undo(enginetest.Bg, 2, of)
	p.Must(err)
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	p.Verify()
}

// A call in the middle of a turn is gone to with the conversation up to its result, also where the agent wrote both
// only after its hooks.
func TestCheckoutOfACall(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	tool := hooks.Tool{Name: "Bash", Call: "toolu_late"}
	k.Ask("one")
	k.Send(hooks.Event{Kind: hooks.BeforeTool, Tool: tool}, capture.HandleOptions{})
	p.Write("f", enginetest.Big("1"))
	first := k.Send(hooks.Event{Kind: hooks.AfterTool, Tool: tool}, capture.HandleOptions{})
	k.Line("assistant", `{"id":"msg_late","type":"message","role":"assistant","content":[{"type":"tool_use",`+
		`"id":"toolu_late","name":"Bash","input":{"command":"x"}}],"stop_reason":"tool_use"}`)
	k.Line("user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_late","content":"done"}]}`)
	k.Work(p.Edits("f", "2"))
	k.Say("done: one")
	k.Stop()
	p.Settle()
	whole := p.Slurp(k.File)
	for _, inPlace := range []bool{false, true} {
		r := p.Back(first.Checkpoint.String(), restore.Options{InPlace: inPlace})
		text := p.Slurp(r.Conversation.Path)
		said := strings.Count(text, `"tool_result"`) == 1 && !strings.Contains(text, "done: one")
		if !said || r.Conversation.Turn != 1 || p.Read("f") != enginetest.Big("1") {
			t.Errorf("in place %v: %+v, f %.3q:\n%s", inPlace, r.Conversation, p.Read("f"), text)
		}
		_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
		p.Must(err)
		if p.Slurp(k.File) != whole || p.Read("f") != enginetest.Big("2") {
			t.Errorf("in place %v, taken back: f %.3q", inPlace, p.Read("f"))
		}
	}
}

// The newest step of a turn that is under way is gone to with what was said since, in the session itself; once the
// session was cut to before it, with what was said then.
func TestCheckoutOfTheNewestStep(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Ask("two")
	h := k.Work(p.Edits("f", "2"))
	k.Say("more")
	p.Write("f", "unsaved")
	c := p.Back(h.Checkpoint.String(), restore.Options{}).Conversation
	if c.Mode != model.ConversationOriginal || c.Path != k.File || c.Turn != 2 || len(p.Files()) != 1 ||
		p.Read("f") != enginetest.Big("2") {
		t.Errorf("%+v, f %.3q, %q", c, p.Read("f"), p.Files())
	}
	p.Settle()
	p.Back("turn:1", restore.Options{InPlace: true, Force: true})
	c = p.Back(h.Checkpoint.String(), restore.Options{}).Conversation
	if c.Mode != model.ConversationFork || p.Read("f") != enginetest.Big("2") {
		t.Fatalf("after the cut: %+v, f %.3q", c, p.Read("f"))
	}
	if asked, _ := p.Prompts(c.Path); len(asked) < 2 || asked[0] != "one" || asked[1] != "two" {
		t.Errorf("after the cut: %q", asked)
	}
}

// A session in which nothing was said yet tells nothing of its conversation where the code goes back.
func TestCheckoutOfASessionThatSaidNothing(t *testing.T) {
	t.Parallel()
	for _, says := range []bool{false, true} {
		p, k := enginetest.Begun(t)
		first := p.Listed()[0].ID.String()
		k.Append(`{"type":"mode","mode":"normal","sessionId":"` + k.ID + `"}` + "\n")
		k.Start()
		if says {
			k.Take("one", nil)
		}
		p.Write("f", "unsaved")
		c := p.Back(first, restore.Options{Session: model.SessionChoice{Session: k.Name()}}).Conversation
		if (c != nil) != says || c != nil && (c.Mode != model.ConversationNone || c.Why == "") {
			t.Errorf("says something %v: %+v", says, c)
		}
	}
}

// What was said last is captured before a step back is planned, unless the code goes alone.
func TestUndoCapturesWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	for _, codeOnly := range []bool{false, true} {
		p, k := enginetest.TwoTurns(t)
		p.Settle()
		k.Used("at last")
		_, err := p.E.Restorer.Undo(enginetest.Bg, 1, restore.Options{Env: p.Env(), CodeOnly: codeOnly, DryRun: true})
		p.Must(err)
		got := string(p.Talk(p.Session(k.Name())))
		if strings.Contains(got, "at last") == codeOnly {
			t.Errorf("the code alone %v: %d of %d bytes are captured", codeOnly, len(got), len(p.Slurp(k.File)))
		}
	}
}

// A conversation that cannot be read is no reason to leave the code, and none to tell how the conversation would go
// later: it would not.
func TestCheckoutBesideWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	one := p.Listed()[1].Checkpoint
	for _, cp := range p.Listed() {
		if cp.Cause.Turn == 1 && cp.Session == k.Name() {
			one = cp.Checkpoint
			break
		}
	}
	hurt := *one
	hurt.Conversation.Transcript = said(p, "{\"type\":\"user\",\n")
	hurt.Conversation.Length = 16
	hurt = *stored(p, hurt, nil, nil)
	r := p.Back(hurt.ID.String(), restore.Options{})
	c := r.Conversation
	if c.Mode != model.ConversationNone || c.Why == "" || strings.Contains(c.Why, "--context-only") ||
		p.Read("f") != enginetest.Big("1") {
		t.Errorf("%+v, f %.3q", c, p.Read("f"))
	}
	o := restore.Options{Env: p.Env(), Scope: talkAlone}
	_, err := p.E.Restorer.Checkout(enginetest.Bg, hurt.ID.String(), o)
	if err == nil {
		t.Error("the conversation alone is gone to")
	}
}

// The code alone, a part of it, and code of which nobody says where sessions lie, go without a word of the
// conversation.
func TestCheckoutWithoutAConversation(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was := p.Slurp(k.File)
	for name, o := range map[string]restore.Options{
		"the code alone":     {CodeOnly: true, Env: p.Env()},
		"a part":             {Scope: refs.Scope{Paths: refs.PathSet{"f"}}, Env: p.Env()},
		"nobody's directory": {},
	} {
		r := p.Checkout("turn:1@"+k.Name(), o)
		if r.Conversation != nil || p.Read("f") != enginetest.Big("1") || len(p.Files()) != 1 {
			t.Errorf("%s: %+v, f %.3q", name, r.Conversation, p.Read("f"))
		}
		r, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, o)
		p.Must(err)
		if r.Conversation != nil || p.Read("f") != enginetest.Big("2") || p.Slurp(k.File) != was {
			t.Errorf("%s, taken back: %+v, f %.3q", name, r.Conversation, p.Read("f"))
		}
	}
}

// The end of a turn is gone to without what was only said behind it, and the prompt in front of which one goes is told.
func TestCheckoutBehindWhichOnlyTalkCame(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	two := k.Take("two", p.Edits("f", "2"))
	k.Take("only talk", nil)
	p.Settle()
	for name, want := range map[string]string{"before:2": "two", "before:3": "only talk", "turn:1": "two", "@": ""} {
		o := restore.Options{DryRun: true, Session: model.SessionChoice{Session: k.Name()}}
		if got := p.Back(name, o).Prompt; got != want {
			t.Errorf("%s is in front of %q, want %q", name, got, want)
		}
	}
	c := p.Back(two.Checkpoint.String(), restore.Options{}).Conversation
	if c.Mode != model.ConversationFork || c.Turn != 2 {
		t.Fatalf("%+v", c)
	}
	p.WantTalk(c.Path, "done: two", "one", "two")
}

// Who finishes a cut hears whether the file was set to another version of itself.
func TestContinueTellsOfAnotherVersion(t *testing.T) {
	t.Parallel()
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	two := k.Take("two", p.Edits("f", "2"))
	p.Settle()
	end := func(name string, version bool) {
		t.Helper()
		p.Crashed(name, restore.Options{InPlace: true}, true, 0)
		r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
		p.Must(err)
		if c := r.Conversation; c.Mode != model.ConversationInPlace || c.Version != version {
			t.Errorf("%s: %+v", name, c)
		}
		p.Settle()
	}
	end("turn:1", false)
	k.Parent = lastUUID(p.Slurp(k.File))
	k.Take("another two", p.Edits("f", "3"))
	p.Settle()
	end(two.Checkpoint.String(), true)
	p.WantTalk(k.File, "done: two", "one", "two")
}
