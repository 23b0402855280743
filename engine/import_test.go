package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/model"
	"rewind/engine/restore"
)

// Import takes in the sessions of this project, once, whatever is wrong with one.
func TestImport(t *testing.T) {
	p := newProject(t)
	p.write("f", big("0"))
	p.save("first")
	for i := range 3 {
		k := p.talker(i + 1)
		k.line("user", `{"role":"user","content":"hello"}`)
		k.say("there")
	}
	known := p.talker(4)
	known.take("one", nil)
	elsewhere := p.talker(5)
	elsewhere.append(fmt.Sprintf(`{"parentUuid":null,"type":"user","message":{"role":"user","content":"x"},"uuid":"%s","cwd":"/elsewhere","sessionId":%q}`+"\n", claudeID(7), elsewhere.id))
	broken := filepath.Join(p.chats(), claudeID(6)+".jsonl")
	p.must(os.WriteFile(broken, fmt.Appendf(nil, `{"cwd":%q,"type":"user","uuid":"x","message":{}}`+"\n", p.root), 0))
	if os.Getuid() == 0 { // reads it all the same
		p.must(os.Remove(broken))
		p.must(os.Symlink("/dev/zero", broken))
	}
	res, err := p.e.Restorer.Import(bg, p.env(), nil)
	p.must(err)
	slices.Sort(res.Sessions)
	equal(t, "imported", res.Sessions, []string{"claude/" + claudeID(1), "claude/" + claudeID(2), "claude/" + claudeID(3)})
	for _, err := range res.Failed {
		if !strings.Contains(err.Error(), broken) {
			t.Errorf("failed: %v", err)
		}
	}
	again, err := p.e.Restorer.Import(bg, p.env(), nil)
	if err != nil || len(again.Sessions) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	s := p.session("claude/" + claudeID(1))
	if !s.Imported || s.Turn != 1 || string(p.talk(s)) != p.slurp(s.Transcript) {
		t.Errorf("%+v", s)
	}
	if at, err := p.e.Sessions.Position(); err != nil || at.Session != known.name() {
		t.Errorf("the current session is %s, %v", at.Session, err)
	}
	w := model.SessionChoice{Session: claudeID(1)}
	p.wantTalk(p.fork("turn:1", restore.Options{Session: w}).Path, "there", "hello")
	p.wantTalk(p.fork("@", restore.Options{Session: w}).Path, "there", "hello")
	if _, err := p.e.Restorer.Checkout(bg, "turn:1", restore.Options{Session: w, Env: p.env()}); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("checkout: %v", err)
	}
	// It wakes up.
	k := &talker{agent: p.agent(claudeID(1)), file: s.Transcript, parent: lastUUID(p.slurp(s.Transcript)), n: 50}
	k.take("two", p.edits("f", "2"))
	if s := p.session(k.name()); s.Imported || s.Turn != 2 {
		t.Errorf("%+v", s)
	}
	p.wantTalk(p.fork("turn:2", restore.Options{Session: w}).Path, "done: two", "hello", "two")
	p.wantTalk(p.fork("turn:1", restore.Options{Session: w}).Path, "there", "hello")
	p.verify()
}
