package capture_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rewind/engine/capture"
	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/transcript"
)

// Hooks take in a megabyte at most; what is more comes when nobody waits.
func TestFollowMuchAtOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Take("one", nil)
	before := p.Session(k.Name()).Cursor
	k.Append(strings.Repeat(`{"type":"x","pad":"`+strings.Repeat("p", 1000)+`"}`+"\n", 5<<10))
	k.Ask("two")
	if now := p.Session(k.Name()); now.Cursor != before || now.Problem != "" {
		t.Errorf("5 MB in a hook: %+v, %q", now.Cursor, now.Problem)
	}
	p.Settle()
	if got, want := p.Talk(p.Session(k.Name())), p.Slurp(k.File); string(got) != want {
		t.Errorf("%d bytes are stored, the file has %d", len(got), len(want))
	}
}

// Copies that name nothing are found as forks by the end of what their first prompt leaves to do, though a hook has no
// time to read them all.
func TestFollowFindsForksOfABusySession(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Ask("one")
	k.Say(strings.Repeat("what was found ", 24<<10))
	k.Stop()
	said := p.Slurp(k.File)
	for n := 2; n <= 4; n++ {
		c := p.Talker(n)
		p.Must(os.WriteFile(c.File, []byte(strings.ReplaceAll(said, k.ID, c.ID)), 0o600))
		c.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "go on"}, capture.HandleOptions{})
		p.Settle()
		if from := p.Session(c.Name()).Fork; from == nil || from.Session != k.Name() || from.Turn != 1 {
			t.Errorf("copy %d: made of %+v", n, from)
		}
	}
}

// The first prompt comes before there is a file; that is no problem.
func TestFollowNoFileYet(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Send(hooks.Event{Kind: hooks.Prompt, Prompt: "x"}, capture.HandleOptions{})
	if s := p.Session(k.Name()); s.Problem != "" || !s.Cursor.Transcript.IsZero() {
		t.Errorf("%+v", s)
	}
	p.Settle()
	if s := p.Session(k.Name()); s.Problem != "" {
		t.Errorf("problem: %s", s.Problem)
	}
}

// An event that could not be committed has captured nothing, and the next one captures it.
func TestPromise14FollowAfterAFailure(t *testing.T) {
	p := enginetest.NewProject(t)
	k := p.Talker(1)
	k.Take("one", nil)
	k.Say("more")
	p.Write("f", enginetest.Big("1"))
	done, cancel := context.WithCancel(enginetest.Bg)
	defer cancel()
	p.E.Log.Lock()
	p.Must(p.E.Worktree.LoadSeen())
	err := p.E.Worktree.HandleBatch(done, []*capture.Pending{{
		Worktree: p.E.Worktree, Event: hooks.Event{Agent: hooks.Claude, Session: k.ID, Kind: hooks.Stop, Transcript: k.File},
		Name: k.Name(), Act: hooks.Action{Capture: true, Record: true, Ends: true},
		// when all is ready to be committed
		Options: capture.HandleOptions{Tier: k.Tier, Late: func() bool { cancel(); return false }},
	}})
	p.E.Log.Unlock()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("committed although the context was done: %v", err)
	}
	k.Stop()
	if got, want := p.Talk(p.Session(k.Name())), p.Slurp(k.File); string(got) != want {
		t.Errorf("%d bytes are stored, the file has %d", len(got), len(want))
	}
}

// Codex goes on in another file when the person goes back: the conversation is what both say.
func TestPromise14CodexSegment(t *testing.T) {
	p := enginetest.NewProject(t)
	dir := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20")
	p.Must(os.MkdirAll(dir, 0o700))
	const id = "01a1f867-63c3-7113-a272-12955c35fe69"
	first := filepath.Join(dir, "rollout-2026-11-20T10-01-27-"+id+".jsonl")
	p.Must(os.WriteFile(first, p.Sample(hooks.Codex, "0.169.0-backtrack.jsonl"), 0o600))
	send := func(kind hooks.Kind, path string) *capture.Handled {
		t.Helper()
		tier, err := hooks.LoadTier("balanced")
		p.Must(err)
		h, err := p.E.Worktree.Handle(enginetest.Bg,
			hooks.Event{Agent: hooks.Codex, Session: id, Cwd: p.Root, Kind: kind, Transcript: path}, capture.HandleOptions{Tier: tier})
		p.Must(err)
		return h
	}
	p.Write("f", enginetest.Big("1"))
	one := p.Get(send(hooks.Stop, first))
	got := enginetest.ReadAll(t, p.E.Log.Objs, one.Conversation.Transcript)
	if !bytes.Equal(got, p.Sample(hooks.Codex, "0.169.0-backtrack.jsonl")) {
		t.Fatalf("%d bytes of the first file", len(got))
	}
	second := filepath.Join(dir, "rollout-2026-11-20T10-01-55-"+id+"_01a1f867-d129-71a2-90bf-1093d529b6b0.jsonl")
	segment := p.Sample(hooks.Codex, "0.169.0-backtrack-segment.jsonl")
	p.Must(os.WriteFile(second, segment, 0o600))
	p.Write("f", enginetest.Big("2"))
	two := p.Get(send(hooks.Stop, second))
	s := p.Session("codex/" + id)
	if s.Problem != "" || s.Cursor.Base <= 0 || s.Cursor.Generation != 2 || two.Conversation != s.Cursor.TranscriptEnd {
		t.Fatalf("%+v, %q", s.Cursor, s.Problem)
	}
	want := append(bytes.Clone(p.Sample(hooks.Codex, "0.169.0-backtrack.jsonl")[:s.Cursor.Base]), segment...)
	if got := p.Talk(s); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes are stored, want %d", len(got), len(want))
	}
	// It grows, and the first file may go.
	p.Must(os.Remove(first))
	f, err := os.OpenFile(second, os.O_WRONLY|os.O_APPEND, 0o600)
	p.Must(err)
	more := `{"timestamp":"2026-11-20T10:02:00.000Z","ordinal":900,"type":"event_msg","payload":{"type":"token_count"}}` + "\n"
	_, err = f.WriteString(more)
	p.Must(err)
	p.Must(f.Close())
	send(hooks.Stop, second)
	if got := p.Talk(p.Session("codex/" + id)); !bytes.Equal(got, append(want, more...)) {
		t.Fatalf("%d bytes are stored after it grew", len(got))
	}
	for range 40 { // until the whole is compared
		send(hooks.Stop, second)
		p.Settle()
	}
	if s := p.Session("codex/" + id); s.Cursor.Generation != 2 || s.Problem != "" {
		t.Fatalf("%+v, %q", s.Cursor, s.Problem)
	}
	r, err := p.E.Restorer.Fork(enginetest.Bg, "@", restore.Options{Env: p.Env()})
	if err != nil || !strings.Contains(p.Slurp(r.Path), `"id":"`+r.Session[len("codex/"):]) ||
		strings.Contains(p.Slurp(r.Path), "history_base") {
		t.Fatalf("%+v, %v", r, err)
	}
	p.Verify()
}

// A fork of Codex by reference says why the conversation that it goes on from is not to be had: the file is gone, is
// compressed, or is another one than when it was made.
func TestCodexBaseDoesNotFit(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", enginetest.Big("1"))
	p.Save("first")
	id := "01a1f867-63c3-7113-a272-12955c35fe69"
	dir := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20")
	p.Must(os.MkdirAll(dir, 0o700))
	first := filepath.Join(dir, "rollout-2026-11-20T10-01-52-"+id+".jsonl")
	second := filepath.Join(dir, "rollout-2026-11-20T10-01-55-"+id+"_01a1f867-d129-71a2-90bf-1093d529b6b0.jsonl")
	p.Must(os.WriteFile(second, p.Sample(hooks.Codex, "0.169.0-backtrack-segment.jsonl"), 0o600))
	whole := p.Sample(hooks.Codex, "0.169.0-backtrack.jsonl")
	short := whole[:bytes.IndexByte(whole, '\n')+1]
	for _, c := range []struct {
		name, as string
		bytes    []byte // nil: there is none
		why      string
	}{
		{"gone", first, nil, "that it continues is not there"},
		{"cut", first, short, "is not as it was when this one was made: " + first + ": is not the base: it ends"},
		{"another", first, bytes.ToUpper(whole), "is not the base: another record ends there"},
		{"packed", first + ".zst", []byte("x"), "is compressed: sessions/2026/11/20/" + filepath.Base(first) + ".zst"},
	} {
		p.Must(os.RemoveAll(first))
		if c.bytes != nil {
			p.Must(os.WriteFile(c.as, c.bytes, 0o600))
		}
		_, err := p.E.Worktree.Handle(enginetest.Bg, hooks.Event{
			Agent: hooks.Codex, Session: id, Cwd: p.Root, Kind: hooks.Stop, Transcript: second,
		}, capture.HandleOptions{})
		p.Must(err)
		if why := p.Session("codex/" + id).Problem; !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", c.name, why, c.why)
		}
	}
}

// A compressed file of little more than nothing may hold one line without an end.
func TestT15PackedLineWithoutAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl.zst")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(out)
	if err != nil {
		t.Fatal(err)
	}
	first, chunk := "{}\n", bytes.Repeat([]byte("a"), 1<<20)
	_, err = enc.Write([]byte(first))
	for range 256 {
		_, more := enc.Write(chunk)
		err = errors.Join(err, more)
	}
	if err = errors.Join(err, enc.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := conversation.OpenReal(transcript.Codex, path, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got bytes.Buffer
	if err := conversation.Unpacked(f, &got, 1<<30); err != nil || got.String() != first {
		t.Fatalf("%d bytes, %v", got.Len(), err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d MiB allocated", n>>20)
	}
}
