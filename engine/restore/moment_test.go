package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
)

// The last reply of a turn comes after its stop: Settle completes the turn.
func TestPromise14LateReply(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Ask("one")
	k.Work(p.Edits("f", "1"))
	h := k.Stop()
	if asked := p.Get(h).Conversation; asked.Length == 0 {
		t.Fatal("nothing of the conversation is in the checkpoint")
	}
	again, err := p.E.Worktree.FollowUp(enginetest.Bg)
	if err != nil || again <= 0 || again > 150*time.Millisecond {
		t.Fatalf("again in %v, %v", again, err)
	}
	time.Sleep(80 * time.Millisecond)
	k.Say("a late reply")
	p.Settle()
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "a late reply", "one")
	// The next prompt is in the file with the first event of its turn, and is no part of the turn before.
	k.Line("user", `{"role":"user","content":"two"}`)
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "two"}, capture.HandleOptions{})
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "a late reply", "one")
	// Without Settle it is there with the next prompt.
	k = p.Talker(2)
	k.Ask("one")
	k.Stop()
	k.Say("later still")
	k.Ask("two")
	p.WantTalk(p.Fork("turn:1", restore.Options{Session: model.SessionChoice{Session: k.Name()}}).Path,
		"later still", "one")
}

// A file that a session has left for another one, which is not written yet, is not its conversation any more, whatever
// comes into it.
func TestPromise14LeftFile(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Take("one", nil)
	k.Append(strings.Repeat(`{"type":"x"}`+"\n", conversation.TranscriptBlock/8))
	k.Stop()
	p.Settle()
	was, left := p.Session(k.Name()).Cursor, k.File
	k.File = filepath.Join(p.Chats(), enginetest.ClaudeID(2)+".jsonl")
	k.Stop()
	p.Must(os.WriteFile(left, []byte(`{"type":"another"}`+"\n"), 0o600))
	kept := *p.E.Log.Session(k.Name())
	kept.Cursor.Checked = 0 // it is time to look at all of it
	p.E.Log.Remember(&kept)
	p.Settle()
	if now := p.Session(k.Name()).Cursor; now.TranscriptEnd != was.TranscriptEnd {
		t.Fatalf("the cursor went from %+v to %+v", was.TranscriptEnd, now.TranscriptEnd)
	}
}

// What an event had written since is not what the turn left.
func TestPointLateReplyKeepsTheTurnsCode(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	h := k.Take("one", p.Edits("f", "1"))
	other := p.Talker(2)
	other.Take("else", p.Edits("g", "2"))
	k.Append(`{"type":"mode","mode":"normal"}` + "\n") // the client writes on behind the stop
	p.Settle()
	for range 2 {
		got, err := p.E.History.Moment(k.Name(), "turn:1")
		if err != nil || got.Checkpoint.ID != h.Checkpoint {
			t.Fatalf("turn:1 is %+v, %v; want %s", got.Checkpoint, err, h.Checkpoint.Short())
		}
		p.Reopen()
	}
}

// turns gives the number, prompt and code of a session's turns as a person sees them.
func turns(p *enginetest.Project, k *enginetest.Talker) (out []string) {
	p.T.Helper()
	l, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: k.Name()}, 0)
	p.Must(err)
	for _, i := range l.Turns {
		f, gone := "", ""
		if i.Checkpoint != "" {
			cp, err := p.E.History.Resolve(i.Checkpoint)
			p.Must(err)
			f = p.Cat(cp, "f")[:1]
		}
		if i.Gone {
			gone = " gone"
		}
		out = append(out, fmt.Sprintf("%d %s %s%s", i.Number, i.Summary, f, gone))
	}
	return out
}

func loaded(p *enginetest.Project) {
	p.T.Helper()
	_, err := p.E.Log.Sessions()
	p.Must(err)
}

func TestPointTurns(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	k.Take("two", nil) // only talk
	k.Take("three", p.Edits("f", "3"))
	for n, want := range map[int]string{0: "0", 1: "1", 2: "1", 3: "3"} {
		if got := p.At(k, fmt.Sprint("turn:", n)); got != want {
			t.Errorf("turn:%d has the code %s, want %s", n, got, want)
		}
	}
	asked := []string{"one", "two", "three"}
	for n := 1; n <= 3; n++ {
		f := p.Fork(fmt.Sprint("turn:", n), restore.Options{})
		p.WantTalk(f.Path, "done: "+asked[n-1], asked[:n]...)
		if f.From.Session != k.Name() || f.From.Turn != n || f.From.Kind != "fork" {
			t.Errorf("turn:%d: lineage %+v", n, f.From)
		}
	}
	var none *model.NoConversationError
	if _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:0", restore.Options{Env: p.Env()}); !errors.As(err, &none) {
		t.Errorf("fork turn:0: %v", err)
	}
	if _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:4", restore.Options{Env: p.Env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("fork turn:4: %v", err)
	}
	enginetest.Equal(t, "turns", turns(p, k), []string{"1 one 1", "2 two 1", "3 three 3"})
	p.WantTalk(p.Fork("@", restore.Options{}).Path, "done: three", asked...)
	p.Verify()
}

// A session that has only talked stands where another one left the code; its conversation is its own.
func TestPointChatOnlySession(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", nil)
	p.WantTalk(p.Fork("@", restore.Options{}).Path, "done: one", "one")
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "done: one", "one")
	other := p.Talker(2)
	other.Take("else", p.Edits("f", "2"))
	k2 := p.Talker(3)
	k2.Take("mine", nil)
	p.WantTalk(p.Fork("@", restore.Options{Session: model.SessionChoice{Session: k2.Name()}}).Path,
		"done: mine", "mine")
	enginetest.Equal(t, "turns", turns(p, k2), []string{"1 mine 2"})
}

// A session that is older than rewind: its first turns have no code.
func TestPointSeededTurns(t *testing.T) {
	p, k := enginetest.Begun(t)
	for _, s := range []string{"one", "two"} {
		k.Line("user", fmt.Sprintf(`{"role":"user","content":%q}`, s))
		k.Say("done: " + s)
	}
	k.Take("three", p.Edits("f", "3"))
	if s := p.Session(k.Name()); s.Turn != 3 {
		t.Errorf("turn %d", s.Turn)
	}
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "done: one", "one")
	p.WantTalk(p.Fork("turn:2", restore.Options{}).Path, "done: two", "one", "two")
	p.WantTalk(p.Fork("turn:3", restore.Options{}).Path, "done: three", "one", "two", "three")
	enginetest.Equal(t, "turns", turns(p, k), []string{"1 one ", "2 two ", "3 three 3"})
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Env: p.Env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("checkout of a turn without code: %v", err)
	}
	r := p.Back("turn:1", restore.Options{Scope: refs.Scope{ContextOnly: true}})
	p.WantTalk(r.Conversation.Path, "done: one", "one")
	if p.Read("f") != enginetest.Big("3") {
		t.Error("--context-only changed the code")
	}
}

// A fork's turns up to where it was made are the other session's.
func TestPointForks(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	f := p.Fork("turn:1", restore.Options{})
	g := p.Opened(f.Fork)
	g.Start()
	g.Take("another two", p.Edits("f", "4"))
	k.Take("three", p.Edits("f", "3"))
	for name, want := range map[string]string{"turn:0": "0", "turn:1": "1", "turn:2": "4"} {
		if got := p.At(g, name); got != want {
			t.Errorf("%s of the fork has the code %s, want %s", name, got, want)
		}
	}
	w := model.SessionChoice{Session: g.Name()}
	p.WantTalk(p.Fork("turn:1", restore.Options{Session: w}).Path, "done: one", "one")
	again := p.Fork("turn:2", restore.Options{Session: w})
	p.WantTalk(again.Path, "done: another two", "one", "another two")
	enginetest.Equal(t, "turns", turns(p, g), []string{"1 one 1", "2 another two 4"})
	if _, err := p.E.Restorer.Fork(enginetest.Bg, "turn:3", restore.Options{Session: w, Env: p.Env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("turn:3 of the fork: %v", err)
	}
	// A fork of a fork, that nobody has opened.
	h := p.Opened(again.Fork)
	if got := p.At(h, "turn:1"); got != "1" {
		t.Errorf("turn:1 of the fork's fork has the code %s", got)
	}
	enginetest.Equal(t, "turns", turns(p, h), []string{"1 one 1", "2 another two 4"})
	p.Must(lineage(p, h, g, k))
	p.Verify()
}

// lineage holds that a session comes from others, the nearest first.
func lineage(p *enginetest.Project, k *enginetest.Talker, of ...*enginetest.Talker) error {
	all, err := p.E.History.Forks(enginetest.Bg, p.Env(), k.Name())
	if err != nil || len(all) != 1 {
		return fmt.Errorf("%d forks, %w", len(all), err)
	}
	var got, want []string
	for _, l := range all[0].Lineage {
		got = append(got, l.Session)
	}
	for _, k := range of {
		want = append(want, k.Name())
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("comes from %q, want %q", got, want)
	}
	return nil
}

// Two sessions that each say to come from the other.
func TestT15LineageInACircle(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	for i := range 2 {
		k := p.Talker(i + 1)
		k.N = i * 10
		k.Line("user", `{"role":"user","content":"x"}`)
		k.Say("y")
		b := strings.ReplaceAll(p.Slurp(k.File), `"version"`,
			fmt.Sprintf(`"forkedFrom":{"sessionId":%q,"messageUuid":"00000001-1111-4111-8111-000000000000"},"version"`,
				enginetest.ClaudeID(2-i)))
		p.Must(os.WriteFile(k.File, []byte(b), 0o600))
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	for _, name := range []string{"turn:0", "turn:1", "turn:2"} {
		_, _ = p.E.History.Moment("claude/"+enginetest.ClaudeID(1), name)
	}
	if _, err := p.E.History.Forks(enginetest.Bg, p.Env(), ""); err != nil {
		t.Error(err)
	}
	if _, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: enginetest.ClaudeID(1)}, 0); err != nil {
		t.Error(err)
	}
}

// After a cut in place the numbers come again: the newest turn of a number is meant.
func TestPointInPlace(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	k.Take("three", p.Edits("f", "3"))
	p.Back("turn:1", restore.Options{InPlace: true})
	p.WantTalk(k.File, "done: one", "one")
	k.Parent = ""
	for line := range strings.Lines(p.Slurp(k.File)) {
		if i := strings.Index(line, `"uuid":"`); i > 0 {
			k.Parent = line[i+8 : i+8+36]
		}
	}
	k.Start() // every agent says so when it opens the session again
	k.Take("another two", p.Edits("f", "4"))
	for name, want := range map[string]string{"turn:1": "1", "turn:2": "4"} {
		if got := p.At(k, name); got != want {
			t.Errorf("%s has the code %s, want %s", name, got, want)
		}
	}
	p.WantTalk(p.Fork("turn:2", restore.Options{}).Path, "done: another two", "one", "another two")
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "done: one", "one")
	// What was cut off can still be forked.
	p.WantTalk(p.Fork("turn:3", restore.Options{}).Path, "done: three", "one", "two", "three")
	enginetest.Equal(t, "turns", turns(p, k), []string{
		"1 one 1", "2 two 2 gone", "2 another two 4", "3 three 3 gone",
	})
}

// Esc-Esc: what comes after goes on from an older line of the same file.
func TestPointWentBack(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	at := k.Parent
	k.Take("two", p.Edits("f", "2"))
	k.Parent = at
	k.Take("another two", p.Edits("f", "3"))
	p.WantTalk(p.Fork("turn:3", restore.Options{}).Path, "done: another two", "one", "another two")
	p.WantTalk(p.Fork("turn:2", restore.Options{}).Path, "done: two", "one", "two")
	p.WantTalk(p.Fork("turn:1", restore.Options{}).Path, "done: one", "one")
	enginetest.Equal(t, "turns", turns(p, k), []string{"1 one 1", "2 two 2 gone", "3 another two 3"})
	r := p.Back("turn:2", restore.Options{})
	if r.Conversation.Mode != model.ConversationFork || p.Read("f") != enginetest.Big("2") {
		t.Errorf("%+v", r.Conversation)
	}
	p.WantTalk(r.Conversation.Path, "done: two", "one", "two")
}

// A turn that only talked has the number of one that was cut off: the code of that one goes with its own conversation.
func TestPointInPlaceNumbersAgain(t *testing.T) {
	p, k := enginetest.Begun(t)
	k.Take("one", p.Edits("f", "1"))
	two := k.Take("two", p.Edits("f", "2"))
	p.Back("turn:1", restore.Options{InPlace: true})
	k.Parent = lastUUID(p.Slurp(k.File))
	k.Take("another two", nil)
	r := p.Back(two.Checkpoint.String(), restore.Options{})
	if p.Read("f") != enginetest.Big("2") {
		t.Errorf("f is %.3q", p.Read("f"))
	}
	p.WantTalk(r.Conversation.Path, "done: two", "one", "two") // the turn that it was taken in, to its end
}
