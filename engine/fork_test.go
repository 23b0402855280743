package engine

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
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
	"rewind/transcript"
)

// bytesOf are what a fork of a moment would be written as.
func (p *fixture) bytesOf(k *talker, name string, as transcript.Fork) (b []byte, live bool) {
	p.t.Helper()
	pt, err := p.e.History.Moment(k.name(), name)
	p.must(err)
	plan, err := p.e.Restorer.PlanFork(pt, "", "fork", false)
	p.must(err)
	defer plan.Close()
	as.Cut, as.Title, as.From = plan.Fork.Cut, plan.Fork.Title, plan.Fork.From
	plan.Fork = as
	var out bytes.Buffer
	p.must(plan.Write(&out))
	return out.Bytes(), plan.Live != nil
}

// TestPromise14ForkFromStore: what is forked from the live file and what is forked from the store are the same bytes.
func TestPromise14ForkFromStore(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	k.append(strings.Repeat(`{"type":"x","pad":"`+strings.Repeat("p", 1000)+`"}`+"\n", 200))
	k.take("two", p.edits("f", "2"))
	k.take("three", nil)
	as := transcript.Fork{ID: claudeID(99), Time: time.UnixMilli(1_800_000_000_000)}
	names := []string{"turn:1", "turn:2", "turn:3", "@"}
	want := map[string][]byte{}
	for _, name := range names {
		b, live := p.bytesOf(k, name, as)
		if !live {
			t.Errorf("%s is not read from the file", name)
		}
		want[name] = b
	}
	all := p.slurp(k.file)
	for what, change := range map[string]func() error{
		"rewritten": func() error {
			return os.WriteFile(k.file, bytes.Replace([]byte(all), []byte("one"), []byte("two"), 1), 0o600)
		},
		"cut":     func() error { return os.WriteFile(k.file, []byte(all[:100]), 0o600) },
		"deleted": func() error { return os.Remove(k.file) },
		"grown":   func() error { return os.WriteFile(k.file, []byte(all+"{\"type\":\"x\"}\n{\"unfin"), 0o600) },
	} {
		p.must(change())
		for _, name := range names {
			b, live := p.bytesOf(k, name, as)
			if !bytes.Equal(b, want[name]) {
				t.Errorf("%s: %s is %d bytes, was %d", what, name, len(b), len(want[name]))
			}
			if live != (what == "grown") {
				t.Errorf("%s: %s read from the file: %v", what, name, live)
			}
		}
		p.must(os.WriteFile(k.file, []byte(all), 0o600))
	}
}

func TestFork(t *testing.T) {
	p, k := twoTurns(t)
	before, info := p.slurp(k.file), stat(t, k.file)
	code := list(t, p.root)

	dry := p.fork("turn:1", restore.Options{DryRun: true})
	if _, err := os.Stat(dry.Path); !errors.Is(err, fs.ErrNotExist) || len(p.files()) != 1 {
		t.Errorf("a dry run left %q", p.files())
	}
	if all, err := p.e.History.SessionList(bg, p.env()); err != nil || len(all) != 1 {
		t.Errorf("a dry run made a session: %d, %v", len(all), err)
	}
	test := p.fork("turn:1", restore.Options{SelfTest: true})
	if len(test.Checks) != 3 || len(p.files()) != 1 {
		t.Errorf("self-test: %q, left %q", test.Checks, p.files())
	}
	if all, err := p.e.History.SessionList(bg, p.env()); err != nil || len(all) != 1 {
		t.Errorf("a self-test made a session: %d, %v", len(all), err)
	}
	f := p.fork("turn:1", restore.Options{})
	if f.Title != "[Fork] one" || !f.Listed || f.Problem != "" || f.Bytes != stat(t, f.Path).Size() || f.From.Turn != 1 {
		t.Errorf("%+v", f)
	}
	if mode := stat(t, f.Path).Mode(); mode != 0o600 {
		t.Errorf("mode %v", mode)
	}
	g := p.fork("@", restore.Options{Session: model.SessionChoice{Session: f.Session}})
	if g.Title != "[Fork] one" {
		t.Errorf("fork of a fork: %q", g.Title)
	}
	if h := p.fork("@", restore.Options{Session: model.SessionChoice{Session: g.Session}, Title: "mine"}); h.Title != "[Fork] mine" {
		t.Errorf("with a title: %q", h.Title)
	}
	c, err := p.e.Restorer.Clone(bg, restore.Options{Session: model.SessionChoice{Session: k.name()}, Env: p.env()})
	if err != nil || !c.From.Clone || c.Title != "one" {
		t.Fatalf("clone: %+v, %v", c, err)
	}
	p.wantTalk(c.Path, "done: two", "one", "two")
	if now := stat(t, k.file); p.slurp(k.file) != before || !now.ModTime().Equal(info.ModTime()) || now.Mode() != info.Mode() || !os.SameFile(now, info) {
		t.Error("the session that was forked has changed")
	}
	p.wantTree(code)
	for _, name := range p.files() {
		if strings.HasPrefix(name, ".") {
			t.Errorf("left %s", name)
		}
	}
	p.verify()
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
	p, k := begun(t)
	k.append(`{"type":"mode","mode":"normal","sessionId":"` + k.id + `"}` + "\n")
	k.send(hooks.Event{Kind: hooks.SessionStart, Source: "startup"}, capture.HandleOptions{})
	var none *model.NoConversationError
	for _, name := range []string{"@", "turn:0"} {
		if _, err := p.e.Restorer.Fork(bg, name, restore.Options{Session: model.SessionChoice{Session: k.name()}, Env: p.env()}); !errors.As(err, &none) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(p.files()) != 1 {
		t.Errorf("left %q", p.files())
	}
	if c, err := p.e.Restorer.Clone(bg, restore.Options{Session: model.SessionChoice{Session: k.name()}, Env: p.env()}); err != nil || len(p.files()) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, kind := range []string{"", "manual"} {
		p := newProject(t)
		p.write("f", big("0"))
		p.save("first")
		if _, err := p.e.Restorer.Fork(bg, "@", restore.Options{Session: model.SessionChoice{Session: kind}, Env: p.env()}); !errors.As(err, &none) {
			t.Errorf("of %q: %v", kind, err)
		}
	}
}

// A folder that cannot be written leaves nothing behind, not in the log either.
func TestForkFails(t *testing.T) {
	p, k := begun(t)
	k.take("one", p.edits("f", "1"))
	p.loaded()
	pt, err := p.e.History.Moment(k.name(), "turn:1")
	p.must(err)
	plan, err := p.e.Restorer.PlanFork(pt, "", "fork", false)
	p.must(err)
	defer plan.Close()
	ops, err := p.e.History.Operations(bg, 0, true)
	p.must(err)
	if err := conversation.WriteSession(register.Folders(p.env()), plan.Path, false, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("no space")
	}); err == nil || !strings.Contains(err.Error(), plan.Path) {
		t.Errorf("%v", err)
	}
	// What an agent would trip over never has the name of a session.
	bad := strings.ReplaceAll(p.slurp(k.file), k.id, "another")
	if err := plan.Check(strings.NewReader(bad), int64(len(bad))); err == nil || !strings.Contains(err.Error(), k.file+":1: ") || strings.Contains(err.Error(), plan.Path) { // which is not there
		t.Errorf("a bad fork: %v", err)
	}
	equal(t, "files", p.files(), []string{filepath.Base(k.file)})
	p.must(os.WriteFile(plan.Path, []byte("somebody's"), 0o600))
	if err := conversation.WriteSession(register.Folders(p.env()), plan.Path, false, plan.Write); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file is there already: %v", err)
	}
	if p.slurp(plan.Path) != "somebody's" {
		t.Error("somebody's file was replaced")
	}
	equal(t, "files", p.files(), []string{filepath.Base(k.file), filepath.Base(plan.Path)})
	if now, _ := p.e.History.Operations(bg, 0, true); len(now) != len(ops) {
		t.Error("an operation was recorded")
	}
}

// A fork has its bytes in the store as one that a checkout makes has, and no checkout takes it for its own.
func TestForkIsStored(t *testing.T) {
	p, k := twoTurns(t)
	of := restore.Options{Session: model.SessionChoice{Session: k.name()}}
	f := p.fork("turn:1", of)
	s := p.session(f.Session)
	if as, err := conversation.IsStored(p.e.Log.Objs, register.Folders(p.env()), f.Path, s.Fork.Transcript); err != nil || !as || s.Fork.Transcript.IsZero() {
		t.Errorf("%v, %v: %+v", as, err, s.Fork)
	}
	if r := p.back("turn:1", of); r.Conversation.Mode != model.ConversationFork || r.Conversation.Path == f.Path {
		t.Errorf("%+v", r.Conversation)
	}
	p.verify()
}

func TestForkAndGo(t *testing.T) {
	p, k := twoTurns(t)
	for _, name := range []string{"turn:1", "turn:2"} {
		f := p.fork(name, restore.Options{Session: model.SessionChoice{Session: k.name()}, Checkout: true, Title: "go"})
		if f.Title != "[Fork] go" || f.Restore == nil || f.Restored != refs.KindCheckout || p.read("f") != big(name[5:]) {
			t.Errorf("%s: %+v", name, f)
		}
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
}
