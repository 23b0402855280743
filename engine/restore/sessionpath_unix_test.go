package restore_test

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
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/objstore"
)

// TestT15SessionPaths: a path in a payload that is no session file of the agent is not read; the event counts all the
// same, and why the conversation is not captured can be seen.
func TestT15SessionPaths(t *testing.T) {
	p := enginetest.NewProject(t)
	secret := filepath.Join(p.User(), "secret")
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	p.Must(os.WriteFile(secret, []byte(`{"type":"secret"}`+"\n"), 0o600))
	in := func(n int) string { return filepath.Join(p.Chats(), enginetest.ClaudeID(n)+".jsonl") }
	p.Must(os.Symlink(secret, in(1)))
	p.Must(syscall.Mkfifo(in(2), 0o600))
	p.Must(os.Mkdir(in(3), 0o700))
	p.Must(os.Symlink("/dev/zero", in(4)))
	p.Must(os.MkdirAll(filepath.Join(p.User(), "elsewhere"), 0o700))
	p.Must(os.WriteFile(filepath.Join(p.User(), "elsewhere", enginetest.ClaudeID(5)+".jsonl"), []byte(`{"type":"secret"}`+"\n"), 0o600))
	p.Must(os.Symlink(filepath.Join(p.User(), "elsewhere"), filepath.Join(p.User(), ".claude", "projects", "-link")))
	p.Must(os.Symlink(in(6), in(6)))
	for i, path := range []string{
		in(1), in(2), in(3), in(4), filepath.Join(p.User(), ".claude", "projects", "-link", enginetest.ClaudeID(5)+".jsonl"), in(6),
		"/etc/passwd", secret, p.Chats() + "/../" + filepath.Base(p.Chats()) + "/" + enginetest.ClaudeID(7) + ".jsonl",
		p.Chats() + "/../../../secret", "relative.jsonl",
		"/nowhere/" + enginetest.ClaudeID(8) + ".jsonl", "/dev/zero", p.Chats() + "/" + enginetest.ClaudeID(9) + ".jsonl\x00", "\x00",
		strings.Repeat("/a", 5000), "//" + in(1)[1:],
		filepath.Join(p.User(), ".claude", "projects", enginetest.ClaudeID(1)+".jsonl"), in(1) + "/x",
	} {
		a := p.Agent(enginetest.ClaudeID(100 + i))
		p.Write("f", enginetest.Big(fmt.Sprint(i)))
		begun := time.Now()
		h := a.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "x", Transcript: path}, capture.HandleOptions{})
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%.80q: took %v", path, took)
		}
		if !h.New {
			t.Errorf("%.80q: no checkpoint", path)
		}
		p.Settle()
		s := p.Session(a.Name())
		if s.Problem == "" || !s.Cursor.Transcript.IsZero() || s.Cursor.Length != 0 || s.Turn != 1 {
			t.Errorf("%.80q: %d bytes, turn %d, problem %q", path, s.Cursor.Length, s.Turn, s.Problem)
		}
		var none *model.NoConversationError
		_, err := p.E.Restorer.Fork(enginetest.Bg, "turn:1", restore.Options{Session: model.SessionChoice{Session: a.Name()}, Env: p.Env()})
		if !errors.As(err, &none) {
			t.Errorf("%.80q: fork: %v", path, err)
		}
		a.Send(hooks.Event{Kind: hooks.SessionEnd}, capture.HandleOptions{})
	}
	n, err := p.E.Log.Objs.Has(objstore.Blob, objstore.Sum(objstore.Blob, []byte(`{"type":"secret"}`+"\n")))
	if n || err != nil {
		t.Errorf("the secret is in the store, %v", err)
	}
}

// A file that becomes a link after it was captured is not read either.
func TestT15SessionPathSwapped(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Take("one", nil)
	before := p.Session(k.Name()).Cursor
	dir := p.User() + "/elsewhere"
	p.Must(os.MkdirAll(dir, 0o700))
	p.Must(os.WriteFile(filepath.Join(dir, filepath.Base(k.File)), []byte(p.Slurp(k.File)+`{"type":"secret"}`+"\n"), 0o600))
	p.Must(os.RemoveAll(p.Chats()))
	p.Must(os.Symlink(dir, p.Chats()))
	k.Stop()
	if s := p.Session(k.Name()); s.Cursor != before || s.Problem == "" {
		t.Errorf("a link that leads out: %+v, %q", s.Cursor, s.Problem)
	}
}

// What has taken the place of a session file is not waited for, not read and not replaced.
func TestT15SessionReplacedByAnythingElse(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	j := p.Crashed("turn:1", restore.Options{InPlace: true}, true, 0)
	fifo := filepath.Join(p.User(), "fifo")
	p.Must(syscall.Mkfifo(fifo, 0o600))
	for _, put := range []func() error{
		func() error { return os.Symlink(fifo, k.File) },
		func() error { return os.Link(fifo, k.File) },
		func() error { return os.Mkdir(k.File, 0o700) },
		func() error { return os.Symlink("/dev/zero", k.File) },
	} {
		p.Must(os.RemoveAll(k.File))
		p.Must(put())
		was, err := os.Lstat(k.File)
		p.Must(err)
		if err := conversation.SetSession(p.E.Log.Objs, register.Folders(p.Env()), j.Files[0]); !errors.Is(err,
			conversation.ErrSessionChanged) {
			t.Errorf("%v: %v", was.Mode(), err)
		}
		if now, err := os.Lstat(k.File); err != nil || now.Mode() != was.Mode() {
			t.Errorf("%v became %v, %v", was.Mode(), now, err)
		}
	}
}
