package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/objstore"
)

// TestT15SessionPaths: a path in a payload that is no session file of the agent is not read; the event counts all the same, and why the conversation is not captured
// can be seen.
func TestT15SessionPaths(t *testing.T) {
	p := newProject(t)
	secret := filepath.Join(p.user(), "secret")
	p.must(os.MkdirAll(p.chats(), 0o700))
	p.must(os.WriteFile(secret, []byte(`{"type":"secret"}`+"\n"), 0o600))
	in := func(n int) string { return filepath.Join(p.chats(), claudeID(n)+".jsonl") }
	p.must(os.Symlink(secret, in(1)))
	p.must(syscall.Mkfifo(in(2), 0o600))
	p.must(os.Mkdir(in(3), 0o700))
	p.must(os.Symlink("/dev/zero", in(4)))
	p.must(os.MkdirAll(filepath.Join(p.user(), "elsewhere"), 0o700))
	p.must(os.WriteFile(filepath.Join(p.user(), "elsewhere", claudeID(5)+".jsonl"), []byte(`{"type":"secret"}`+"\n"), 0o600))
	p.must(os.Symlink(filepath.Join(p.user(), "elsewhere"), filepath.Join(p.user(), ".claude", "projects", "-link")))
	p.must(os.Symlink(in(6), in(6)))
	for i, path := range []string{
		in(1), in(2), in(3), in(4), filepath.Join(p.user(), ".claude", "projects", "-link", claudeID(5)+".jsonl"), in(6),
		"/etc/passwd", secret, p.chats() + "/../" + filepath.Base(p.chats()) + "/" + claudeID(7) + ".jsonl", p.chats() + "/../../../secret", "relative.jsonl",
		"/nowhere/" + claudeID(8) + ".jsonl", "/dev/zero", p.chats() + "/" + claudeID(9) + ".jsonl\x00", "\x00", strings.Repeat("/a", 5000), "//" + in(1)[1:],
		filepath.Join(p.user(), ".claude", "projects", claudeID(1)+".jsonl"), in(1) + "/x",
	} {
		a := p.agent(claudeID(100 + i))
		p.write("f", big(fmt.Sprint(i)))
		begun := time.Now()
		h := a.send(hooks.Event{Kind: hooks.Prompt, Prompt: "x", Transcript: path}, capture.HandleOptions{})
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%.80q: took %v", path, took)
		}
		if !h.New {
			t.Errorf("%.80q: no checkpoint", path)
		}
		p.settle()
		s := p.session(a.name())
		if s.Problem == "" || !s.Cursor.Transcript.IsZero() || s.Cursor.Length != 0 || s.Turn != 1 {
			t.Errorf("%.80q: %d bytes, turn %d, problem %q", path, s.Cursor.Length, s.Turn, s.Problem)
		}
		var none *model.NoConversationError
		_, err := p.e.Restorer.Fork(bg, "turn:1", restore.ForkOptions{Session: model.SessionChoice{Session: a.name()}, Env: p.env()})
		if !errors.As(err, &none) {
			t.Errorf("%.80q: fork: %v", path, err)
		}
		a.send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	}
	n, err := p.e.Log.Objs.Has(objstore.Blob, objstore.Sum(objstore.Blob, []byte(`{"type":"secret"}`+"\n")))
	if n || err != nil {
		t.Errorf("the secret is in the store, %v", err)
	}
}

// A file that becomes a link after it was captured is not read either.
func TestT15SessionPathSwapped(t *testing.T) {
	p := newProject(t)
	k := p.talker(1)
	k.take("one", nil)
	before := p.session(k.name()).Cursor
	dir := p.user() + "/elsewhere"
	p.must(os.MkdirAll(dir, 0o700))
	p.must(os.WriteFile(filepath.Join(dir, filepath.Base(k.file)), []byte(p.slurp(k.file)+`{"type":"secret"}`+"\n"), 0o600))
	p.must(os.RemoveAll(p.chats()))
	p.must(os.Symlink(dir, p.chats()))
	k.stop()
	if s := p.session(k.name()); s.Cursor != before || s.Problem == "" {
		t.Errorf("a link that leads out: %+v, %q", s.Cursor, s.Problem)
	}
}

// What has taken the place of a session file is not waited for, not read and not replaced.
func TestT15SessionReplacedByAnythingElse(t *testing.T) {
	p, k := twoTurns(t)
	j := p.crashed("turn:1", restore.Options{Conversation: model.ConversationOptions{InPlace: true}}, true, 0)
	fifo := filepath.Join(p.user(), "fifo")
	p.must(syscall.Mkfifo(fifo, 0o600))
	for _, put := range []func() error{
		func() error { return os.Symlink(fifo, k.file) },
		func() error { return os.Link(fifo, k.file) },
		func() error { return os.Mkdir(k.file, 0o700) },
		func() error { return os.Symlink("/dev/zero", k.file) },
	} {
		p.must(os.RemoveAll(k.file))
		p.must(put())
		was, err := os.Lstat(k.file)
		p.must(err)
		if err := p.e.talks.SetSession(p.env().Folders(), j.Files[0]); !errors.Is(err, conversation.ErrSessionChanged) {
			t.Errorf("%v: %v", was.Mode(), err)
		}
		if now, err := os.Lstat(k.file); err != nil || now.Mode() != was.Mode() {
			t.Errorf("%v became %v, %v", was.Mode(), now, err)
		}
	}
}
