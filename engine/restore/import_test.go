package restore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
)

// Import takes in the sessions of this project, once, whatever is wrong with one.
func TestImport(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("0"))
	p.Save("first")
	for i := range 3 {
		k := p.Talker(i + 1)
		k.Line("user", `{"role":"user","content":"hello"}`)
		k.Say("there")
	}
	known := p.Talker(4)
	known.Take("one", nil)
	elsewhere := p.Talker(5)
	elsewhere.Append(fmt.Sprintf(
		`{"parentUuid":null,"type":"user","message":{"role":"user","content":"x"},"uuid":"%s","cwd":"/elsewhere","sessionId":%q}`+"\n",
		enginetest.ClaudeID(7), elsewhere.ID))
	broken := filepath.Join(p.Chats(), enginetest.ClaudeID(6)+".jsonl")
	p.Must(os.WriteFile(broken, fmt.Appendf(nil, `{"cwd":%q,"type":"user","uuid":"x","message":{}}`+"\n", p.Root), 0))
	if os.Getuid() == 0 { // reads it all the same
		p.Must(os.Remove(broken))
		p.Must(os.Symlink("/dev/zero", broken))
	}
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	slices.Sort(res.Sessions)
	enginetest.Equal(t, "imported", res.Sessions,
		[]string{"claude/" + enginetest.ClaudeID(1), "claude/" + enginetest.ClaudeID(2), "claude/" + enginetest.ClaudeID(3)})
	for _, err := range res.Failed {
		if !strings.Contains(err.Error(), broken) {
			t.Errorf("failed: %v", err)
		}
	}
	again, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	if err != nil || len(again.Sessions) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	s := p.Session("claude/" + enginetest.ClaudeID(1))
	if !s.Imported || s.Turn != 1 || string(p.Talk(s)) != p.Slurp(s.Transcript) {
		t.Errorf("%+v", s)
	}
	if at, err := p.E.Sessions.Position(); err != nil || at.Session != known.Name() {
		t.Errorf("the current session is %s, %v", at.Session, err)
	}
	w := model.SessionChoice{Session: enginetest.ClaudeID(1)}
	p.WantTalk(p.Fork("turn:1", restore.Options{Session: w}).Path, "there", "hello")
	p.WantTalk(p.Fork("@", restore.Options{Session: w}).Path, "there", "hello")
	if _, err := p.E.Restorer.Checkout(enginetest.Bg, "turn:1", restore.Options{Session: w, Env: p.Env()}); !errors.Is(err,
		model.ErrNotFound) {
		t.Errorf("checkout: %v", err)
	}
	// It wakes up.
	k := &enginetest.Talker{Agent: p.Agent(enginetest.ClaudeID(1)), File: s.Transcript, Parent: lastUUID(p.Slurp(s.Transcript)), N: 50}
	k.Take("two", p.Edits("f", "2"))
	if s := p.Session(k.Name()); s.Imported || s.Turn != 2 {
		t.Errorf("%+v", s)
	}
	p.WantTalk(p.Fork("turn:2", restore.Options{Session: w}).Path, "done: two", "hello", "two")
	p.WantTalk(p.Fork("turn:1", restore.Options{Session: w}).Path, "there", "hello")
	p.Verify()
}
