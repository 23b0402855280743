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

// agentSamples are session files that the released clients wrote, one of each way that an agent writes them.
var agentSamples = []struct {
	agent transcript.Agent
	file  string
	dir   string
	name  string // ID, ID8: the session's id, and its beginning
	side  string
}{
	{transcript.Claude, "2.1.328-2turns-resumed.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
	{transcript.Claude, "2.0.60-2turns.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
	{transcript.Claude, "2.1.328-compact.jsonl", ".claude/projects/-home-dev-proj", "ID.jsonl", ""},
	{
		transcript.Codex, "0.169.0-2turns.jsonl", ".codex/sessions/2026/11/20",
		"rollout-2026-11-20T10-00-00-ID.jsonl", "",
	},
	{transcript.Codex, "0.125.0-1turn.jsonl", ".codex/sessions/2026/11/20", "rollout-2026-11-20T10-00-00-ID.jsonl", ""},
	{
		transcript.Gemini, "0.61.0-2turns-resumed.jsonl", ".gemini/tmp/proj/chats",
		"session-2026-11-20T10-09-ID8.jsonl", "",
	},
	{
		transcript.Gemini, "0.26.0-3turns.json",
		".gemini/tmp/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/chats",
		"session-2026-11-20T10-09-ID8.json", "",
	},
	{transcript.Droid, "0.225.2-2turns.jsonl", ".factory/sessions/-home-dev-proj", "ID.jsonl", "ID.settings.json"},
}

// sampled is a project with a session of an agentSample, which an event has told of.
type sampled struct {
	*enginetest.Project
	agent transcript.Agent
	raw   []byte
	c     *transcript.Conversation
	named func(name string) string // a path of its folder
	file  string
	tier  hooks.Tier
	name  string // of the session
}

func newSampled(t *testing.T, n int) *sampled {
	t.Helper()
	tt, p := agentSamples[n], enginetest.NewProject(t)
	k := &sampled{Project: p, agent: tt.agent, raw: p.Sample(tt.agent, tt.file)}
	k.c = k.scan(tt.file, k.raw)
	k.named = func(name string) string {
		return filepath.Join(p.User(), tt.dir, strings.NewReplacer("ID8", k.c.ID[:8], "ID", k.c.ID).Replace(name))
	}
	k.file, k.name = k.named(tt.name), string(tt.agent)+"/"+k.c.ID
	p.Must(os.MkdirAll(filepath.Dir(k.file), 0o700))
	p.Must(os.WriteFile(k.file, k.raw, 0o600))
	if tt.side != "" {
		p.Must(os.WriteFile(k.named(tt.side), []byte(`{"autonomy":"high"}`), 0o600))
	}
	var err error
	k.tier, err = hooks.LoadTier("balanced")
	p.Must(err)
	return k
}

func (k *sampled) scan(name string, raw []byte) *transcript.Conversation {
	k.T.Helper()
	c, err := transcript.Scan(k.agent,
		transcript.Source{ReaderAt: bytes.NewReader(raw), Size: int64(len(raw)), Name: name})
	k.Must(err)
	return c
}

// stop is the end of a turn, end that of the session.
func (k *sampled) stop() *capture.Handled { return k.send(hooks.Stop) }

func (k *sampled) end() { k.send(hooks.SessionEnd) }

func (k *sampled) send(kind hooks.Kind) *capture.Handled {
	k.T.Helper()
	h, err := k.E.Worktree.Handle(enginetest.Bg, hooks.Event{
		Agent: k.agent, Session: k.c.ID, Cwd: k.Root, Kind: kind, Transcript: k.file,
	}, capture.HandleOptions{Tier: k.tier})
	k.Must(err)
	return h
}

// Every agent's sessions are captured, forked, cut in place and brought back; the files are those that the released
// clients wrote.
func TestForkEveryAgent(t *testing.T) {
	for n, tt := range agentSamples {
		t.Run(string(tt.agent)+" "+tt.file, func(t *testing.T) {
			p := newSampled(t, n)
			raw, c, file := p.raw, p.c, p.file
			p.Write("f", enginetest.Big("1"))
			h := p.stop()
			s := p.Session(p.name)
			if got := p.Talk(s); s.Problem != "" || !bytes.Equal(got, raw) ||
				p.Get(h).Conversation != s.Cursor.TranscriptEnd ||
				int(s.Turn) != len(c.Turns) {
				t.Fatalf("%d of %d bytes, turn %d of %d, problem %q", len(got), len(raw), s.Turn, len(c.Turns),
					s.Problem)
			}
			entries := func() []string {
				list, err := filepath.Glob(filepath.Join(p.User(), strings.Split(tt.dir, "/")[0], "*", "*", "*", "*"))
				p.Must(err)
				more, err := filepath.Glob(filepath.Join(p.User(), strings.Split(tt.dir, "/")[0], "*", "*", "*",
					"*", "*"))
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
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			enginetest.Equal(t, "files after undo-restore", entries(), was)
			r = p.Back("turn:1", restore.Options{Session: w, Scope: refs.Scope{ContextOnly: true}, InPlace: true})
			cut := p.Slurp(file)
			of, err := transcript.Scan(tt.agent,
				transcript.Source{ReaderAt: strings.NewReader(cut), Size: int64(len(cut)), Name: file})
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

// What an agent keeps beside a session goes with its fork, and where there is nothing of that the fork has nothing.
func TestForkWithoutWhatLiesBeside(t *testing.T) {
	t.Parallel()
	for n, tt := range agentSamples {
		if tt.side == "" {
			continue
		}
		p := newSampled(t, n)
		p.stop()
		side := func(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".settings.json" }
		for _, there := range []bool{true, false} {
			if !there {
				p.Must(os.Remove(p.named(tt.side)))
			}
			f := p.Fork("turn:1", restore.Options{})
			if _, err := os.Stat(side(f.Path)); (err == nil) != there {
				t.Errorf("beside the session something is there %v, beside the fork: %v", there, err)
			}
			r := p.Back("turn:1", restore.Options{
				Session: model.SessionChoice{Session: p.name}, Scope: refs.Scope{ContextOnly: true},
			})
			if _, err := os.Stat(side(r.Conversation.Path)); (err == nil) != there {
				t.Errorf("beside the session something is there %v, beside that of a restore: %v", there, err)
			}
			_, err := p.E.Restorer.UndoRestore(enginetest.Bg, 0, restore.Options{Env: p.Env()})
			p.Must(err)
			for _, path := range []string{r.Conversation.Path, side(r.Conversation.Path)} {
				if _, err := os.Stat(path); err == nil {
					t.Errorf("taken back, %s is there", filepath.Base(path))
				}
			}
		}
		p.Verify()
	}
}

// A fork tells whether its original was compacted behind the place where it parts, and so does none of a session that
// was cut to before that since.
func TestForkBeforeACompaction(t *testing.T) {
	t.Parallel()
	n := 0
	for !strings.Contains(agentSamples[n].file, "compact") {
		n++
	}
	p := newSampled(t, n)
	p.stop()
	w := model.SessionChoice{Session: p.name}
	wantLater := func(what string, want bool) {
		t.Helper()
		for _, name := range []string{"turn:1", "turn:2"} {
			if f := p.Fork(name, restore.Options{Session: w, DryRun: true}); f.Cut.LaterCompaction != want {
				t.Errorf("%s, %s: compacted later %v", what, name, !want)
			}
		}
	}
	wantLater("as it is", true)
	p.Back("turn:1", restore.Options{Session: w, InPlace: true, Scope: refs.Scope{ContextOnly: true}})
	wantLater("once it was cut", false)
}
