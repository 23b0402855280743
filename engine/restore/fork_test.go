package restore_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
	"rewind/transcript"
)

// bytesOf are what a fork of a moment would be written as.
func bytesOf(p *enginetest.Project, k *enginetest.Talker, name string, as transcript.Fork) []byte {
	p.T.Helper()
	pt, err := p.E.History.Moment(k.Name(), name)
	p.Must(err)
	plan, err := p.E.Restorer.PlanFork(pt, "", "fork", false)
	p.Must(err)
	as.Cut, as.Title, as.From = plan.Fork.Cut, plan.Fork.Title, plan.Fork.From
	plan.Fork = as
	var out bytes.Buffer
	p.Must(plan.Write(&out))
	return out.Bytes()
}

// TestPromise14ForkFromStore: a fork has the same bytes whatever has become of the live file.
func TestPromise14ForkFromStore(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Append(strings.Repeat(`{"type":"x","pad":"`+strings.Repeat("p", 1000)+`"}`+"\n", 200))
	k.Take("two", p.Edits("f", "2"))
	k.Take("three", nil)
	as := transcript.Fork{ID: enginetest.ClaudeID(99), Time: time.UnixMilli(1_800_000_000_000)}
	names := []string{"turn:1", "turn:2", "turn:3", "@"}
	want := map[string][]byte{}
	for _, name := range names {
		want[name] = bytesOf(p, k, name, as)
	}
	all := p.Slurp(k.File)
	for what, change := range map[string]func() error{
		"rewritten": func() error {
			return os.WriteFile(k.File, bytes.Replace([]byte(all), []byte("one"), []byte("two"), 1), 0o600)
		},
		"cut":     func() error { return os.WriteFile(k.File, []byte(all[:100]), 0o600) },
		"deleted": func() error { return os.Remove(k.File) },
		"grown":   func() error { return os.WriteFile(k.File, []byte(all+"{\"type\":\"x\"}\n{\"unfin"), 0o600) },
	} {
		p.Must(change())
		for _, name := range names {
			if b := bytesOf(p, k, name, as); !bytes.Equal(b, want[name]) {
				t.Errorf("%s: %s is %d bytes, was %d", what, name, len(b), len(want[name]))
			}
		}
		p.Must(os.WriteFile(k.File, []byte(all), 0o600))
	}
}

func TestFork(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	before, info := p.Slurp(k.File), stat(t, k.File)
	code := enginetest.List(t, p.Root)

	dry := p.Fork("turn:1", restore.Options{DryRun: true})
	if _, err := os.Stat(dry.Path); !errors.Is(err, fs.ErrNotExist) || len(p.Files()) != 1 {
		t.Errorf("a dry run left %q", p.Files())
	}
	if all, _, err := p.E.History.SessionList(enginetest.Bg, true, 0); err != nil || len(all) != 1 {
		t.Errorf("a dry run made a session: %d, %v", len(all), err)
	}
	test := p.Fork("turn:1", restore.Options{SelfTest: true})
	if len(test.Checks) != 3 || len(p.Files()) != 1 {
		t.Errorf("self-test: %q, left %q", test.Checks, p.Files())
	}
	if all, _, err := p.E.History.SessionList(enginetest.Bg, true, 0); err != nil || len(all) != 1 {
		t.Errorf("a self-test made a session: %d, %v", len(all), err)
	}
	f := p.Fork("turn:1", restore.Options{})
	if f.Title != "[Fork @1] one" || !f.Listed || f.Problem != "" || f.Bytes != stat(t, f.Path).Size() ||
		f.From.Turn != 1 {
		t.Errorf("%+v", f)
	}
	if mode := stat(t, f.Path).Mode(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	g := p.Fork("@", restore.Options{Session: model.SessionChoice{Session: f.Session}})
	if g.Title != "[Fork @1] one" {
		t.Errorf("fork of a fork: %q", g.Title)
	}
	if h := p.Fork("@", restore.Options{Session: model.SessionChoice{Session: g.Session}, Title: "mine"}); h.Title != "[Fork @1] mine" {
		t.Errorf("with a title: %q", h.Title)
	}
	c, err := p.E.Restorer.Clone(enginetest.Bg,
		restore.Options{Session: model.SessionChoice{Session: k.Name()}, Env: p.Env()})
	if err != nil || !c.From.Clone || c.Title != "[Copy] one" {
		t.Fatalf("clone: %+v, %v", c, err)
	}
	p.WantTalk(c.Path, "done: two", "one", "two")
	if now := stat(t, k.File); p.Slurp(k.File) != before || !now.ModTime().Equal(info.ModTime()) ||
		now.Mode() != info.Mode() ||
		!os.SameFile(now, info) {
		t.Error("the session that was forked has changed")
	}
	p.WantTree(code)
	for _, name := range p.Files() {
		if strings.HasPrefix(name, ".") {
			t.Errorf("left %s", name)
		}
	}
	p.Verify()
}

// A fork of a session as it is begins at the code as it is, which becomes a step; a dry run makes none. A clone has the
// title that it is given.
func TestForkOfWhatIsUnsaved(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	w := model.SessionChoice{Session: k.Name()}
	p.Write("f", "unsaved")
	steps := len(p.Listed())
	p.Fork("@", restore.Options{Session: w, DryRun: true})
	p.Fork("turn:2", restore.Options{Session: w})
	if len(p.Listed()) != steps {
		t.Errorf("%d steps, there were %d", len(p.Listed()), steps)
	}
	c, err := p.E.Restorer.Clone(enginetest.Bg, restore.Options{Session: w, Title: "mine", Env: p.Env()})
	p.Must(err)
	f := p.Fork("@", restore.Options{Session: w})
	if c.Title != "mine" || len(p.Listed()) != steps+1 {
		t.Errorf("clone %q; %d steps, there were %d", c.Title, len(p.Listed()), steps)
	}
	for _, from := range []string{c.From.Checkpoint, f.From.Checkpoint} {
		cp, err := p.E.History.Resolve(from)
		p.Must(err)
		if p.Cat(cp, "f") != "unsaved" {
			t.Errorf("it begins at %s, where f is %.8q", from, p.Cat(cp, "f"))
		}
	}
	p.Verify()
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi
}

// A session in which nothing was said cannot be forked, and can be cloned.
func TestForkOfNothing(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Append(`{"type":"mode","mode":"normal","sessionId":"` + k.ID + `"}` + "\n")
	k.Send(hooks.Event{Kind: hooks.SessionStart, Source: "startup"}, capture.HandleOptions{})
	var none *model.NoConversationError
	for _, name := range []string{"@", "turn:0"} {
		if _, err := p.E.Restorer.Fork(enginetest.Bg, name,
			restore.Options{Session: model.SessionChoice{Session: k.Name()}, Env: p.Env()}); !errors.As(err, &none) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(p.Files()) != 1 {
		t.Errorf("left %q", p.Files())
	}
	if c, err := p.E.Restorer.Clone(enginetest.Bg,
		restore.Options{Session: model.SessionChoice{Session: k.Name()}, Env: p.Env()}); err != nil ||
		len(p.Files()) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, kind := range []string{"", "manual"} {
		p := enginetest.NewProject(t)
		p.Write("f", enginetest.Big("0"))
		p.Save("first")
		if _, err := p.E.Restorer.Fork(enginetest.Bg, "@",
			restore.Options{Session: model.SessionChoice{Session: kind}, Env: p.Env()}); !errors.As(err, &none) {
			t.Errorf("of %q: %v", kind, err)
		}
	}
}

// A folder that cannot be written leaves nothing behind, not in the log either.
func TestForkFails(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	loaded(p)
	pt, err := p.E.History.Moment(k.Name(), "turn:1")
	p.Must(err)
	plan, err := p.E.Restorer.PlanFork(pt, "", "fork", false)
	p.Must(err)
	ops, err := p.E.History.Operations(enginetest.Bg, 0, history.Every)
	p.Must(err)
	if err := conversation.WriteSession(register.Folders(p.Env()), plan.Path, false, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("no space")
	}); err == nil || !strings.Contains(err.Error(), plan.Path) {
		t.Errorf("%v", err)
	}
	enginetest.Equal(t, "files", p.Files(), []string{filepath.Base(k.File)})
	p.Must(os.WriteFile(plan.Path, []byte("somebody's"), 0o600))
	if err := conversation.WriteSession(register.Folders(p.Env()), plan.Path, false, plan.Write); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file is there already: %v", err)
	}
	if p.Slurp(plan.Path) != "somebody's" {
		t.Error("somebody's file was replaced")
	}
	enginetest.Equal(t, "files", p.Files(), []string{filepath.Base(k.File), filepath.Base(plan.Path)})
	if now, _ := p.E.History.Operations(enginetest.Bg, 0, history.Every); len(now) != len(ops) {
		t.Error("an operation was recorded")
	}
	// What an agent would trip over never has the name of a session.
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"done"}]}`
	other := p.Talker(2)
	other.Ask("two")
	other.Line("user", result)
	call := `{"type":"tool_use","id":"toolu_9","name":"Bash","input":{}}`
	other.Line("assistant", `{"id":"m","role":"assistant","content":[`+call+`]}`)
	other.Line("user", result)
	other.Say("done")
	other.Stop()
	o := restore.Options{Session: model.SessionChoice{Session: other.Name()}, Env: p.Env()}
	_, err = p.E.Restorer.Fork(enginetest.Bg, "turn:1", o)
	if err == nil || !strings.Contains(err.Error(), other.File+":3: ") || strings.Contains(err.Error(), plan.Path) {
		t.Errorf("a bad fork: %v", err)
	}
}

// A fork has its bytes in the store as one that a checkout makes has, and no checkout takes it for its own.
func TestForkIsStored(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	of := restore.Options{Session: model.SessionChoice{Session: k.Name()}}
	f := p.Fork("turn:1", of)
	s := p.Session(f.Session)
	if as, err := conversation.IsStored(p.E.Log.Objs, register.Folders(p.Env()), f.Path,
		s.Fork.Transcript); err != nil || !as ||
		s.Fork.Transcript.IsZero() {
		t.Errorf("%v, %v: %+v", as, err, s.Fork)
	}
	if r := p.Back("turn:1", of); r.Conversation.Mode != model.ConversationFork || r.Conversation.Path == f.Path {
		t.Errorf("%+v", r.Conversation)
	}
	p.Verify()
}

func TestForkAndGo(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	for _, name := range []string{"turn:1", "turn:2"} {
		f := p.Fork(name, restore.Options{Session: model.SessionChoice{Session: k.Name()}, Checkout: true, Title: "go"})
		if f.Title != "[Fork @"+name[5:]+"] go" || f.Restore == nil || f.Restored != refs.KindCheckout ||
			p.Read("f") != enginetest.Big(name[5:]) {
			t.Errorf("%s: %+v", name, f)
		}
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
}

// Who wants a fork that is there already gets it where it is of the same place and title, of a fork and no checkout,
// and nobody has used it or has it open; else a new one. A dry run tells which.
func TestForkThatIsThereServes(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Settle()
	again := func(name string, o restore.Options) *restore.Forked {
		t.Helper()
		o.Reuse = true
		dry := o
		dry.DryRun = true
		files := len(p.Files())
		told := p.Fork(name+"@"+k.Name(), dry)
		f := p.Fork(name+"@"+k.Name(), o)
		if told.Reused != f.Reused || f.Reused && told.Path != f.Path || f.Reused != (len(p.Files()) == files) {
			t.Errorf("%s: told %v %s, then %v %s; %d files, were %d", name, told.Reused, told.Path, f.Reused, f.Path,
				len(p.Files()), files)
		}
		return f
	}
	went := p.Back("turn:1@"+k.Name(), restore.Options{}).Conversation
	titled := p.Fork("turn:1@"+k.Name(), restore.Options{Title: "mine"})
	first := again("turn:1", restore.Options{})
	if first.Reused || first.Path == went.Path || first.Path == titled.Path {
		t.Errorf("there was none: %+v", first)
	}
	serves := again("turn:1", restore.Options{})
	if !serves.Reused || serves.Session != first.Session || serves.Title != first.Title || serves.Path != first.Path {
		t.Errorf("%+v, want %+v", serves, first)
	}
	if serves.From.Both != 1 || serves.Cut.Messages != first.Cut.Messages {
		t.Errorf("%+v, %+v", serves.From, serves.Cut)
	}
	if other := again("turn:2", restore.Options{}); other.Reused || other.From.Turn != 2 {
		t.Errorf("another place: %+v", other)
	}
	note := running(p, first.Session)
	open := again("turn:1", restore.Options{})
	p.Must(os.Remove(note))
	if open.Reused {
		t.Errorf("while it is open: %+v", open)
	}
	for _, f := range []*restore.Forked{first, open} {
		p.Opened(f.Fork).Used("more")
	}
	if used := again("turn:1", restore.Options{}); used.Reused {
		t.Errorf("of those that are used: %+v", used)
	}
	var none *model.NoConversationError
	byHand := p.Listed()[len(p.Listed())-1].ID.String()
	_, err := p.E.Restorer.Fork(enginetest.Bg, byHand, restore.Options{Env: p.Env(), Reuse: true})
	if !errors.As(err, &none) {
		t.Errorf("of nobody's: %v", err)
	}
	p.Verify()
}

// A session of an agent whose files are not understood cannot be forked, cut or cloned, which is said, and its code can
// be gone to.
func TestForkOfAnAgentThatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	tier, err := hooks.LoadTier("balanced")
	p.Must(err)
	send := func(ev hooks.Event) *capture.Handled {
		ev.Agent, ev.Session, ev.Cwd, ev.Transcript = "other", "x", p.Root, filepath.Join(p.User(), "x.jsonl")
		h, err := p.E.Worktree.Handle(enginetest.Bg, ev, capture.HandleOptions{Tier: tier})
		p.Must(err)
		return h
	}
	for _, text := range []string{"1", "2"} {
		send(hooks.Event{Kind: hooks.Prompt, Prompt: text})
		p.Write("f", text)
		send(hooks.Event{Kind: hooks.Stop})
	}
	of := restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: "other/x"}}
	cut, alone := of, of
	cut.InPlace, alone.ContextOnly = true, true
	for name, do := range map[string]func() error{
		"fork":  func() error { _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", of); return err },
		"clone": func() error { _, err := p.E.Restorer.Clone(enginetest.Bg, of); return err },
		"cut":   func() error { _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", cut); return err },
		"alone": func() error { _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", alone); return err },
	} {
		var none *model.NoConversationError
		if err := do(); !errors.As(err, &none) || !strings.Contains(none.Why, "other are not understood") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := p.Back("turn:1", of)
	c := r.Conversation
	if p.Read("f") != "1" || c.Mode != model.ConversationNone || strings.Contains(c.Why, "--context-only") {
		t.Errorf("f %q, %+v", p.Read("f"), c)
	}
}

// A prompt that never came into the conversation has a number, and the turns behind it have theirs: a fork tells them
// by those.
func TestForkTellsItsTurnsByTheirNumbers(t *testing.T) {
	t.Parallel()
	p, k := refusedSecond(t)
	of := restore.Options{Session: model.SessionChoice{Session: k.Name()}}
	for name, c := range map[string]struct {
		turn  int
		asked []string
		turns []int
	}{
		"turn:1": {1, []string{"one"}, nil},
		"turn:3": {3, []string{"one", "three"}, []int{1, 3}},
		"@":      {4, []string{"one", "three", "four"}, []int{1, 3, 4}},
	} {
		f := p.Fork(name, of)
		p.WantTalk(f.Path, "done: "+c.asked[len(c.asked)-1], c.asked...)
		if f.From.Turn != c.turn || f.From.Both != len(c.asked) {
			t.Errorf("%s: %+v, want turn %d", name, f.From, c.turn)
		}
		enginetest.Equal(t, name, f.From.Turns, c.turns)
		if s := p.Session(f.Session); s.Prompt != c.asked[len(c.asked)-1] {
			t.Errorf("%s: its last prompt is %q", name, s.Prompt)
		}
	}
	cut := of
	cut.InPlace = true
	if r := p.Back("turn:3", cut); r.Conversation.Turn != 3 || p.Session(k.Name()).Turn != 3 {
		t.Errorf("cut: %+v, turn %d", r.Conversation, p.Session(k.Name()).Turn)
	}
	p.Verify()
}
