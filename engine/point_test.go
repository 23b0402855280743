package engine

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
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// The last reply of a turn comes after its stop: Settle completes the turn.
func TestPromise14LateReply(t *testing.T) {
	p := newProject(t)
	k := p.talker(1)
	k.ask("one")
	k.work(p.edits("f", "1"))
	h := k.stop()
	if asked := p.get(h).Conversation; asked.Length == 0 {
		t.Fatal("nothing of the conversation is in the checkpoint")
	}
	again, err := p.e.Worktree.FollowUp(bg)
	if err != nil || again <= 0 || again > 150*time.Millisecond {
		t.Fatalf("again in %v, %v", again, err)
	}
	time.Sleep(80 * time.Millisecond)
	k.say("a late reply")
	p.settle()
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "a late reply", "one")
	// The next prompt is in the file with the first event of its turn, and is no part of the turn before.
	k.line("user", `{"role":"user","content":"two"}`)
	k.send(hooks.Event{Kind: hooks.Prompt, Prompt: "two"}, capture.HandleOptions{})
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "a late reply", "one")
	// Without Settle it is there with the next prompt.
	k = p.talker(2)
	k.ask("one")
	k.stop()
	k.say("later still")
	k.ask("two")
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{Session: model.SessionChoice{Session: k.name()}}).Path, "later still", "one")
}

// A file that a session has left for another one, which is not written yet, is not its conversation any more, whatever comes into it.
func TestPromise14LeftFile(t *testing.T) {
	p := newProject(t)
	k := p.talker(1)
	k.take("one", nil)
	k.append(strings.Repeat(`{"type":"x"}`+"\n", conversation.TranscriptBlock/8))
	k.stop()
	p.settle()
	was, left := p.session(k.name()).Cursor, k.file
	k.file = filepath.Join(p.chats(), claudeID(2)+".jsonl")
	k.stop()
	p.must(os.WriteFile(left, []byte(`{"type":"another"}`+"\n"), 0o600))
	kept := *p.e.Log.Records[k.name()]
	kept.Cursor.Checked = 0 // it is time to look at all of it
	p.e.Log.Records[k.name()] = &kept
	p.settle()
	if now := p.session(k.name()).Cursor; now.TranscriptEnd != was.TranscriptEnd {
		t.Fatalf("the cursor went from %+v to %+v", was.TranscriptEnd, now.TranscriptEnd)
	}
}

// What an event had written since is not what the turn left.
func TestPointLateReplyKeepsTheTurnsCode(t *testing.T) {
	p := newProject(t)
	k := p.talker(1)
	h := k.take("one", p.edits("f", "1"))
	other := p.talker(2)
	other.take("else", p.edits("g", "2"))
	k.append(`{"type":"mode","mode":"normal"}` + "\n") // the client writes on behind the stop
	p.settle()
	for range 2 {
		got, err := p.e.History.Moment(k.name(), "turn:1")
		if err != nil || got.Checkpoint.ID != h.Checkpoint {
			t.Fatalf("turn:1 is %+v, %v; want %s", got.Checkpoint, err, h.Checkpoint.Short())
		}
		p.reopen()
	}
}

// turns gives the number, prompt and code of a session's turns as a person sees them.
func (p *fixture) turns(k *talker) (out []string) {
	p.t.Helper()
	l, err := p.e.History.Turns(bg, model.SessionChoice{Session: k.name()})
	p.must(err)
	for _, i := range l.Turns {
		f, gone := "", ""
		if i.Checkpoint != "" {
			cp, err := p.e.History.Resolve(i.Checkpoint)
			p.must(err)
			f = p.cat(cp, "f")[:1]
		}
		if i.Gone {
			gone = " gone"
		}
		out = append(out, fmt.Sprintf("%d %s %s%s", i.Number, i.Summary, f, gone))
	}
	return out
}

// at is the code of a point: the first byte of f.
func (p *fixture) at(k *talker, name string) string {
	p.t.Helper()
	pt, err := p.e.History.Moment(k.name(), name)
	p.must(err)
	if pt.Checkpoint == nil {
		return "none"
	}
	return p.cat(pt.Checkpoint, "f")[:1]
}

func (p *fixture) loaded() {
	p.t.Helper()
	_, err := p.e.Log.Sessions()
	p.must(err)
}

func TestPointTurns(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	k.take("two", nil) // only talk
	k.take("three", p.edits("f", "3"))
	for n, want := range map[int]string{0: "0", 1: "1", 2: "1", 3: "3"} {
		if got := p.at(k, fmt.Sprint("turn:", n)); got != want {
			t.Errorf("turn:%d has the code %s, want %s", n, got, want)
		}
	}
	asked := []string{"one", "two", "three"}
	for n := 1; n <= 3; n++ {
		f := p.fork(fmt.Sprint("turn:", n), restore.ForkOptions{})
		p.wantTalk(f.Path, "done: "+asked[n-1], asked[:n]...)
		if f.From.Session != k.name() || f.From.Turn != n || f.From.Kind != "fork" {
			t.Errorf("turn:%d: lineage %+v", n, f.From)
		}
	}
	var none *model.NoConversationError
	if _, err := p.e.Restorer.Fork(bg, "turn:0", restore.ForkOptions{Env: p.env()}); !errors.As(err, &none) {
		t.Errorf("fork turn:0: %v", err)
	}
	if _, err := p.e.Restorer.Fork(bg, "turn:4", restore.ForkOptions{Env: p.env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("fork turn:4: %v", err)
	}
	equal(t, "turns", p.turns(k), []string{"1 one 1", "2 two 1", "3 three 3"})
	p.wantTalk(p.fork("@", restore.ForkOptions{}).Path, "done: three", asked...)
	p.verify()
}

// A session that has only talked stands where another one left the code; its conversation is its own.
func TestPointChatOnlySession(t *testing.T) {
	p, k := begun(t)
	k.take("one", nil)
	p.wantTalk(p.fork("@", restore.ForkOptions{}).Path, "done: one", "one")
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "done: one", "one")
	other := p.talker(2)
	other.take("else", p.edits("f", "2"))
	k2 := p.talker(3)
	k2.take("mine", nil)
	p.wantTalk(p.fork("@", restore.ForkOptions{Session: model.SessionChoice{Session: k2.name()}}).Path, "done: mine", "mine")
	equal(t, "turns", p.turns(k2), []string{"1 mine 2"})
}

// A session that is older than rewind: its first turns have no code.
func TestPointSeededTurns(t *testing.T) {
	p, k := begun(t)
	for _, s := range []string{"one", "two"} {
		k.line("user", fmt.Sprintf(`{"role":"user","content":%q}`, s))
		k.say("done: " + s)
	}
	k.take("three", p.edits("f", "3"))
	if s := p.session(k.name()); s.Turn != 3 {
		t.Errorf("turn %d", s.Turn)
	}
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "done: one", "one")
	p.wantTalk(p.fork("turn:2", restore.ForkOptions{}).Path, "done: two", "one", "two")
	p.wantTalk(p.fork("turn:3", restore.ForkOptions{}).Path, "done: three", "one", "two", "three")
	equal(t, "turns", p.turns(k), []string{"1 one ", "2 two ", "3 three 3"})
	if _, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Env: p.env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("checkout of a turn without code: %v", err)
	}
	r := p.back("turn:1", restore.Options{Conversation: model.ConversationOptions{ContextOnly: true}})
	p.wantTalk(r.Conversation.Path, "done: one", "one")
	if p.read("f") != big("3") {
		t.Error("--context-only changed the code")
	}
}

// A fork's turns up to where it was made are the other session's.
func TestPointForks(t *testing.T) {
	p, k := twoTurns(t)
	f := p.fork("turn:1", restore.ForkOptions{})
	g := p.opened(f.Fork)
	g.start()
	g.take("another two", p.edits("f", "4"))
	k.take("three", p.edits("f", "3"))
	for name, want := range map[string]string{"turn:0": "0", "turn:1": "1", "turn:2": "4"} {
		if got := p.at(g, name); got != want {
			t.Errorf("%s of the fork has the code %s, want %s", name, got, want)
		}
	}
	w := model.SessionChoice{Session: g.name()}
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{Session: w}).Path, "done: one", "one")
	again := p.fork("turn:2", restore.ForkOptions{Session: w})
	p.wantTalk(again.Path, "done: another two", "one", "another two")
	equal(t, "turns", p.turns(g), []string{"1 one 1", "2 another two 4"})
	if _, err := p.e.Restorer.Fork(bg, "turn:3", restore.ForkOptions{Session: w, Env: p.env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("turn:3 of the fork: %v", err)
	}
	// A fork of a fork, that nobody has opened.
	h := p.opened(again.Fork)
	if got := p.at(h, "turn:1"); got != "1" {
		t.Errorf("turn:1 of the fork's fork has the code %s", got)
	}
	equal(t, "turns", p.turns(h), []string{"1 one 1", "2 another two 4"})
	p.must(p.lineage(h, g, k))
	p.verify()
}

// lineage holds that a session comes from others, the nearest first.
func (p *fixture) lineage(k *talker, of ...*talker) error {
	all, err := p.e.History.Forks(bg, p.env(), k.name())
	if err != nil || len(all) != 1 {
		return fmt.Errorf("%d forks, %w", len(all), err)
	}
	var got, want []string
	for _, l := range all[0].Lineage {
		got = append(got, l.Session)
	}
	for _, k := range of {
		want = append(want, k.name())
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("comes from %q, want %q", got, want)
	}
	return nil
}

// Two sessions that each say to come from the other.
func TestT15LineageInACircle(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	p.save("first")
	for i := range 2 {
		k := p.talker(i + 1)
		k.n = i * 10
		k.line("user", `{"role":"user","content":"x"}`)
		k.say("y")
		b := strings.ReplaceAll(p.slurp(k.file), `"version"`, fmt.Sprintf(`"forkedFrom":{"sessionId":%q,"messageUuid":"00000001-1111-4111-8111-000000000000"},"version"`, claudeID(2-i)))
		p.must(os.WriteFile(k.file, []byte(b), 0o600))
	}
	_, err := p.e.Restorer.Import(bg, p.env(), nil)
	p.must(err)
	for _, name := range []string{"turn:0", "turn:1", "turn:2"} {
		_, _ = p.e.History.Moment("claude/"+claudeID(1), name)
	}
	if _, err := p.e.History.Forks(bg, p.env(), ""); err != nil {
		t.Error(err)
	}
	if _, err := p.e.History.Turns(bg, model.SessionChoice{Session: claudeID(1)}); err != nil {
		t.Error(err)
	}
}

// After a cut in place the numbers come again: the newest turn of a number is meant.
func TestPointInPlace(t *testing.T) {
	p, k := twoTurns(t)
	k.take("three", p.edits("f", "3"))
	p.back("turn:1", restore.Options{Conversation: model.ConversationOptions{InPlace: true}})
	p.wantTalk(k.file, "done: one", "one")
	k.parent = ""
	for line := range strings.Lines(p.slurp(k.file)) {
		if i := strings.Index(line, `"uuid":"`); i > 0 {
			k.parent = line[i+8 : i+8+36]
		}
	}
	k.start() // every agent says so when it opens the session again
	k.take("another two", p.edits("f", "4"))
	for name, want := range map[string]string{"turn:1": "1", "turn:2": "4"} {
		if got := p.at(k, name); got != want {
			t.Errorf("%s has the code %s, want %s", name, got, want)
		}
	}
	p.wantTalk(p.fork("turn:2", restore.ForkOptions{}).Path, "done: another two", "one", "another two")
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "done: one", "one")
	// What was cut off can still be forked.
	p.wantTalk(p.fork("turn:3", restore.ForkOptions{}).Path, "done: three", "one", "two", "three")
	equal(t, "turns", p.turns(k), []string{"1 one 1", "2 another two 4", "3 three 3 gone"})
}

// Esc-Esc: what comes after goes on from an older line of the same file.
func TestPointWentBack(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	at := k.parent
	k.take("two", p.edits("f", "2"))
	k.parent = at
	k.take("another two", p.edits("f", "3"))
	p.wantTalk(p.fork("turn:3", restore.ForkOptions{}).Path, "done: another two", "one", "another two")
	p.wantTalk(p.fork("turn:2", restore.ForkOptions{}).Path, "done: two", "one", "two")
	p.wantTalk(p.fork("turn:1", restore.ForkOptions{}).Path, "done: one", "one")
	equal(t, "turns", p.turns(k), []string{"1 one 1", "2 two 2 gone", "3 another two 3"})
	r := p.back("turn:2", restore.Options{})
	if r.Conversation.Mode != model.ConversationFork || p.read("f") != big("2") {
		t.Errorf("%+v", r.Conversation)
	}
	p.wantTalk(r.Conversation.Path, "done: two", "one", "two")
}

// A turn that only talked has the number of one that was cut off: the code of that one goes with its own conversation.
func TestPointInPlaceNumbersAgain(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	two := k.take("two", p.edits("f", "2"))
	p.back("turn:1", restore.Options{Conversation: model.ConversationOptions{InPlace: true}})
	k.parent = lastUUID(p.slurp(k.file))
	k.take("another two", nil)
	r := p.back(two.Checkpoint.String(), restore.Options{})
	if p.read("f") != big("2") {
		t.Errorf("f is %.3q", p.read("f"))
	}
	p.wantTalk(r.Conversation.Path, "done: one", "one", "two") // as far as it had come with that code
}
