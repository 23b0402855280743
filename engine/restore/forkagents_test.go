package restore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/capture"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/refs"
	"rewind/transcript"
)

// Every agent's sessions are captured, forked, cut in place and brought back; the files are those that the released clients wrote.
func TestForkEveryAgent(t *testing.T) {
	for _, tt := range []struct {
		agent transcript.Agent
		file  string
		dir   string
		name  string // ID, ID8: the session's id, and its beginning
		side  string
	}{
		{transcript.Claude, "2.1.328-2turns-resumed.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
		{transcript.Claude, "2.0.60-2turns.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
		{transcript.Claude, "2.1.328-compact.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
		{transcript.Codex, "0.169.0-2turns.jsonl", ".codex/sessions/2026/11/20", "rollout-2026-11-20T10-00-00-ID.jsonl", ""},
		{transcript.Codex, "0.125.0-1turn.jsonl", ".codex/sessions/2026/11/20", "rollout-2026-11-20T10-00-00-ID.jsonl", ""},
		{transcript.Gemini, "0.61.0-2turns-resumed.jsonl", ".gemini/tmp/proj/chats", "session-2026-11-20T10-09-ID8.jsonl", ""},
		{
			transcript.Gemini, "0.26.0-3turns.json", ".gemini/tmp/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/chats",
			"session-2026-11-20T10-09-ID8.json", "",
		},
		{transcript.Droid, "0.225.2-2turns.jsonl", ".factory/sessions/-home-dev-proj", "ID.jsonl", "ID.settings.json"},
	} {
		t.Run(string(tt.agent)+" "+tt.file, func(t *testing.T) {
			p := enginetest.NewProject(t)
			raw := p.Sample(tt.agent, tt.file)
			c, err := transcript.Scan(tt.agent, transcript.Source{ReaderAt: bytes.NewReader(raw), Size: int64(len(raw)), Name: tt.file})
			p.Must(err)
			named := func(name string) string {
				return filepath.Join(p.User(), tt.dir, strings.NewReplacer("ID8", c.ID[:8], "ID", c.ID).Replace(name))
			}
			file := named(tt.name)
			p.Must(os.MkdirAll(filepath.Dir(file), 0o700))
			p.Must(os.WriteFile(file, raw, 0o600))
			if tt.side != "" {
				p.Must(os.WriteFile(named(tt.side), []byte(`{"autonomy":"high"}`), 0o600))
			}
			tier, err := hooks.LoadTier("balanced")
			p.Must(err)
			p.Write("f", enginetest.Big("1"))
			h, err := p.E.Worktree.Handle(enginetest.Bg, hooks.Event{
				Agent: tt.agent, Session: c.ID, Cwd: p.Root, Kind: hooks.Stop,
				Transcript: file,
			}, capture.HandleOptions{Tier: tier})
			p.Must(err)
			s := p.Session(string(tt.agent) + "/" + c.ID)
			if got := p.Talk(s); s.Problem != "" || !bytes.Equal(got, raw) || p.Get(h).Conversation != s.Cursor.TranscriptEnd ||
				int(s.Turn) != len(c.Turns) {
				t.Fatalf("%d of %d bytes, turn %d of %d, problem %q", len(got), len(raw), s.Turn, len(c.Turns), s.Problem)
			}
			entries := func() []string {
				list, err := filepath.Glob(filepath.Join(p.User(), strings.Split(tt.dir, "/")[0], "*", "*", "*", "*"))
				p.Must(err)
				more, err := filepath.Glob(filepath.Join(p.User(), strings.Split(tt.dir, "/")[0], "*", "*", "*", "*", "*"))
				p.Must(err)
				return append(list, more...)
			}
			// From the file, and from the store.
			for _, change := range []func() error{func() error { return nil }, func() error { return os.Remove(file) }} {
				p.Must(change())
				for _, name := range []string{"turn:1", "@"} {
					f := p.Fork(name, restore.Options{})
					b := []byte(p.Slurp(f.Path))
					_, id := model.SplitSession(f.Session)
					src := transcript.Source{ReaderAt: bytes.NewReader(b), Size: int64(len(b)), Name: f.Path}
					p.Must(transcript.Check(tt.agent, src, id))
					of, err := transcript.Scan(tt.agent, src)
					p.Must(err)
					want := map[string]int{"turn:1": 1, "@": len(c.Turns)}[name]
					if len(of.Turns) != want || len(c.ID) != len(id) || stat(t, f.Path).Mode() != 0o600 {
						t.Errorf("%s: %d turns, want %d", name, len(of.Turns), want)
					}
					if tt.side != "" && p.Slurp(strings.TrimSuffix(f.Path, ".jsonl")+".settings.json") != `{"autonomy":"high"}` {
						t.Errorf("%s: no settings", name)
					}
				}
			}
			p.Must(os.WriteFile(file, raw, 0o600))
			was := entries()
			w := model.SessionChoice{Session: s.Name}
			r := p.Back("turn:1", restore.Options{Session: w, Scope: refs.Scope{ContextOnly: true}})
			if len(c.Turns) == 1 {
				if r.Conversation.Mode != model.ConversationOriginal {
					t.Errorf("%+v", r.Conversation)
				}
				return
			}
			if r.Conversation.Mode != model.ConversationFork || r.Conversation.Turn != 1 {
				t.Fatalf("%+v", r.Conversation)
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			enginetest.Equal(t, "files after undo-restore", entries(), was)
			r = p.Back("turn:1", restore.Options{Session: w, Scope: refs.Scope{ContextOnly: true}, InPlace: true})
			cut := p.Slurp(file)
			of, err := transcript.Scan(tt.agent, transcript.Source{ReaderAt: strings.NewReader(cut), Size: int64(len(cut)), Name: file})
			if err != nil || len(of.Turns) != 1 || of.ID != c.ID || r.Conversation.Mode != model.ConversationInPlace {
				t.Errorf("in place: %d turns, %v, %+v", len(of.Turns), err, r.Conversation)
			}
			p.Settle()
			if got := p.Talk(p.Session(s.Name)); string(got) != cut {
				t.Errorf("%d bytes are stored of the cut session, it has %d", len(got), len(cut))
			}
			_, err = p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			if p.Slurp(file) != string(raw) {
				t.Error("the session is not as it was")
			}
			enginetest.Equal(t, "files at the end", entries(), was)
			p.Verify()
		})
	}
}
