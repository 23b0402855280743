package conversation_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/transcript"
)

// loss is what is told to be lost of a session.
func loss(p *enginetest.Project, s model.Session) (value.Loss, objstore.ID) {
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	return p.E.Talks.Loss(&s)
}

// A session's file that is not there, or of which the end is not, is a loss of what was captured. One that was written
// anew, or cannot be asked for, is none.
func TestLoss(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	s, all := p.Session(k.Name()), p.Slurp(k.File)
	first := all[:strings.IndexByte(all, '\n')+1]
	for name, c := range map[string]struct {
		is   string
		of   func(s *model.Session)
		want value.Loss
	}{
		"as it was":      {all, nil, value.NoLoss},
		"gone on":        {all + first, nil, value.NoLoss},
		"gone":           {"", nil, value.LossGone},
		"cut":            {first, nil, value.LossCut},
		"written anew":   {strings.ToUpper(first), nil, value.NoLoss},
		"of a lane":      {"", func(s *model.Session) { s.LaneOf = "claude/x" }, value.NoLoss},
		"purged":         {"", func(s *model.Session) { s.Purged = true }, value.NoLoss},
		"nothing said":   {"", func(s *model.Session) { s.Turn = 0 }, value.NoLoss},
		"not captured":   {"", func(s *model.Session) { s.Cursor = model.Cursor{} }, value.NoLoss},
		"not understood": {"", func(s *model.Session) { s.Agent = "other" }, value.NoLoss},
		"behind a base":  {first, func(s *model.Session) { s.Cursor.Base = 1 }, value.NoLoss},
		"lost, and gone": {"", func(s *model.Session) { s.Cursor.Lost = put(p, "lost\n") }, value.LossGone},
		"lost before":    {all, func(s *model.Session) { s.Cursor.Lost = put(p, "lost\n") }, value.LossCut},
		"back again":     {all, func(s *model.Session) { s.Cursor.Lost = put(p, first) }, value.NoLoss},
		"lost for good":  {all, func(s *model.Session) { s.Cursor.Lost = enginetest.TestID("none") }, value.NoLoss},
		"all of it lost": {all, func(s *model.Session) {
			s.Cursor.Transcript, s.Cursor.Lost = objstore.Zero, put(p, first)
		}, value.LossCut},
		"not there any more": {all, func(s *model.Session) {
			s.Cursor.Transcript, s.Cursor.Lost = enginetest.TestID("none"), put(p, first)
		}, value.LossCut},
		"in another file": {first, func(s *model.Session) { s.Cursor.Path += "x" }, value.NoLoss},
		"no session file": {first, func(s *model.Session) { s.Transcript += "/.." }, value.NoLoss},
	} {
		have(p, k.File, c.is)
		one := s
		if c.of != nil {
			c.of(&one)
		}
		got, said := loss(p, one)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		whole := one.Cursor.Transcript
		if got == value.LossCut && !one.Cursor.Lost.IsZero() || name == "lost, and gone" {
			whole = one.Cursor.Lost
		}
		if got != value.NoLoss && said != whole {
			t.Errorf("%s: the whole is %s, want %s", name, said.Short(), whole.Short())
		}
	}
}

// A conversation begins with all of a session's file, or the file has something else.
func TestBegins(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	s, all := p.Session(k.Name()), p.Slurp(k.File)
	first := all[:strings.IndexByte(all, '\n')+1]
	for _, c := range []struct {
		what, is string
		of       objstore.ID
		want     bool
	}{
		{"all of it", all, s.Cursor.Transcript, true},
		{"its beginning", first, s.Cursor.Transcript, true},
		{"more", all + "{}\n", s.Cursor.Transcript, false},
		{"something else", strings.ToUpper(first), s.Cursor.Transcript, false},
		{"no file", "", s.Cursor.Transcript, false},
		{"of what is not there", all, enginetest.TestID("none"), false},
	} {
		have(p, k.File, c.is)
		if got := p.E.Talks.Begins(&s, c.of); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// What a file lost is remembered when the file is captured anew: the longest, until the file has it again.
func TestLostIsRemembered(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	all, whole := p.Slurp(k.File), p.Session(k.Name()).Cursor.Transcript
	first := all[:strings.IndexByte(all, '\n')+1]
	capture := func(text string) model.Cursor {
		t.Helper()
		have(p, k.File, text)
		p.E.Talks.Files = nil
		k.Stop()
		p.Settle()
		return p.Session(k.Name()).Cursor
	}
	if at := capture(first); at.Lost != whole || at.Length != int64(len(first)) {
		t.Errorf("cut: lost is %s, want %s; %d bytes", at.Lost.Short(), whole.Short(), at.Length)
	}
	if at := capture(strings.ToUpper(first[:20]) + "\n"); at.Lost != whole {
		t.Errorf("cut again: lost is %s, want %s", at.Lost.Short(), whole.Short())
	}
	if at := capture(all); !at.Lost.IsZero() || at.Transcript != whole {
		t.Errorf("back again: lost is %s", at.Lost.Short())
	}
	if at := capture(strings.Replace(first, "one", "eno", 1)); at.Lost != whole {
		t.Errorf("changed and cut: lost is %s, want %s", at.Lost.Short(), whole.Short())
	}
	capture(all)
	last := all[strings.LastIndexByte(all[:len(all)-1], '\n')+1:]
	if at := capture(last); !at.Lost.IsZero() {
		t.Errorf("made shorter by the agent: lost is %s", at.Lost.Short())
	}
	capture(all)
	if at := capture(strings.ReplaceAll(all, "-1111-", "-2222-")); !at.Lost.IsZero() {
		t.Errorf("as long as before: lost is %s", at.Lost.Short())
	}
	capture(all)
	k.File = strings.Replace(k.File, k.ID, enginetest.ClaudeID(3), 1)
	if at := capture(first); !at.Lost.IsZero() || at.Length != int64(len(first)) {
		t.Errorf("in another file: lost is %s; %d bytes", at.Lost.Short(), at.Length)
	}
	k = p.Talker(4) // its records have no ids
	const a, b = `{"type":"x","n":1}` + "\n", `{"type":"x","n":2}` + "\n"
	whole = capture(a + b).Transcript
	if at := capture(a); at.Lost != whole {
		t.Errorf("cut, without ids: lost is %s, want %s", at.Lost.Short(), whole.Short())
	}
	capture(a + b)
	if at := capture(b); !at.Lost.IsZero() {
		t.Errorf("changed, without ids: lost is %s", at.Lost.Short())
	}
}

// TestDocumentLoss: a document is written anew as a whole: a shorter one has lost nothing.
func TestDocumentLoss(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	s := p.Scribe(hooks.Gemini, enginetest.Unique())
	path := strings.TrimSuffix(s.File, "l")
	const text = `{"sessionId":"x","messages":[{"id":"a","type":"user","content":"go"}]}`
	one := model.Session{
		Name: "gemini/x", Agent: hooks.Gemini, Transcript: path, Turn: 1,
		Cursor: model.Cursor{TranscriptEnd: end(put(p, text), len(text), path)},
	}
	for is, want := range map[string]value.Loss{
		text: value.NoLoss, text[:30]: value.NoLoss, "": value.LossGone,
	} {
		have(p, path, is)
		if got, _ := loss(p, one); got != want {
			t.Errorf("%q: %q, want %q", is, got, want)
		}
		if is == "" {
			continue
		}
		now := one
		tx := p.E.Log.Objs.Begin()
		p.Must(p.E.Talks.Tail(tx, &now, conversation.HookRead))
		tx.Discard()
		if at := now.Cursor; at.Length != int64(len(is)) || !at.Lost.IsZero() {
			t.Errorf("%q: captured to %+v", is, at)
		}
	}
	have(p, path, text[:30])
	if got := p.E.Talks.FileOf(&one, strings.Replace(path, "10-11", "10-12", 1)); got != path {
		t.Errorf("of a file that is not there: %s", got)
	}
	broken := strings.Replace(path, "10-11", "10-12", 1)
	have(p, broken, text[:30])
	if got := p.E.Talks.FileOf(&one, broken); got != broken {
		t.Errorf("of a file that cannot be read: %s", got)
	}
}

// A file of Gemini's in which nothing was said is not the session's, and goes with the session's.
func TestStubs(t *testing.T) {
	p := enginetest.NewProject(t)
	s := p.Scribe(hooks.Gemini, enginetest.Unique())
	header := p.Slurp(s.File)
	s.Tell(hooks.Prompt, map[string]any{"prompt": "go"})
	s.Asked("go")
	s.Says("gone")
	s.Tell(hooks.Stop, nil)
	p.Settle()
	short := s.ID[:8]
	stub := strings.Replace(s.File, "10-11", "10-12", 1)
	other := strings.Replace(s.File, "10-11", "10-13", 1)
	said := strings.Replace(s.File, "10-11", "10-14", 1)
	large := strings.Replace(s.File, "10-11", "10-15", 1)
	have(p, stub, header)
	have(p, other, strings.ReplaceAll(header, s.ID, short+s.ID[9:]+"0"))
	have(p, said, p.Slurp(s.File))
	have(p, large, padded(header, 64<<10+1))
	atMost := strings.Replace(s.File, "10-11", "10-17", 1)
	have(p, atMost, padded(header, 64<<10))
	have(p, filepath.Join(filepath.Dir(s.File), "session-2026-11-20T10-12-00000000.jsonl"), header)
	one := p.Session(s.Name())
	if got := p.E.Talks.Stubs(&one); !slices.Equal(got, []string{stub, atMost}) {
		t.Errorf("stubs: %q", got)
	}
	for path, want := range map[string]string{
		s.File: s.File, stub: s.File, atMost: s.File, said: said, large: large, stub + "x": stub + "x",
		strings.Replace(s.File, "10-11", "10-16", 1): s.File,
	} {
		if got := p.E.Talks.FileOf(&one, path); got != want {
			t.Errorf("%s is %s", filepath.Base(path), filepath.Base(got))
		}
	}
	none := one
	none.Cursor = model.Cursor{}
	if got := p.E.Talks.FileOf(&none, stub); got != stub {
		t.Errorf("of what was not captured: %s", got)
	}
	none = one
	none.Transcript = ""
	if got := p.E.Talks.FileOf(&none, stub); got != stub {
		t.Errorf("of one that has no file: %s", got)
	}
	for id, want := range map[string][]string{short: {stub, atMost}, short[1:]: nil} {
		for _, path := range []string{stub, atMost} {
			have(p, path, strings.ReplaceAll(header, s.ID, id))
		}
		of := model.Session{Agent: hooks.Gemini, ID: id, Transcript: s.File}
		if got := p.E.Talks.Stubs(&of); !slices.Equal(got, want) {
			t.Errorf("of the id %s: %q, want %q", id, got, want)
		}
	}
	have(p, stub, header)
	none = one
	none.Transcript = stub
	if got := p.E.Talks.Stubs(&none); slices.Contains(got, stub) {
		t.Errorf("its own file is another one: %q", got)
	}
	one.Agent = hooks.Claude
	if got := p.E.Talks.Stubs(&one); got != nil {
		t.Errorf("of Claude: %q", got)
	}
	if got := p.E.Talks.FileOf(&one, stub); got != stub {
		t.Errorf("of Claude: %s", got)
	}
}

// padded is a text of one line with spaces behind it, as many bytes long as n.
func padded(text string, n int) string {
	return text + strings.Repeat(" ", n-len(text)-1) + "\n"
}

// A copy of a session of Claude's gets the agent's backups of it, and they go with it. Nothing is done for others.
func TestLinkHistory(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	own := register.Folders(p.Env())
	history := func(id string) string { return filepath.Join(p.User(), ".claude", "file-history", id) }
	p.Must(os.MkdirAll(history(k.ID), 0o700))
	p.Must(os.WriteFile(filepath.Join(history(k.ID), "0123456789abcdef@v1"), []byte("1"), 0o600))
	id := enginetest.ClaudeID(2)
	path := filepath.Join(p.Chats(), id+".jsonl")
	have(p, path, strings.ReplaceAll(p.Slurp(k.File), k.ID, id))
	copied := func() bool {
		_, err := os.Stat(filepath.Join(history(id), "0123456789abcdef@v1"))
		return err == nil
	}
	made := &model.Session{
		Name: "claude/" + id, Agent: transcript.Claude, ID: id, Transcript: path,
		Fork: &model.Lineage{Lineage: value.Lineage{Session: k.Name()}},
	}
	p.E.Log.Lock()
	defer p.E.Log.Unlock()
	p.E.Log.Remember(made)
	none := func(name string, change func(s *model.Session)) {
		was := *made
		change(made)
		p.E.Talks.LinkHistory(own, path, false)
		if *made = was; copied() {
			t.Errorf("%s: linked", name)
		}
	}
	none("no copy", func(s *model.Session) { s.Fork = nil })
	none("of another agent", func(s *model.Session) { s.Agent = transcript.Codex })
	none("of one that is not known", func(s *model.Session) {
		s.Fork = &model.Lineage{Lineage: value.Lineage{Session: "claude/x"}}
	})
	none("of another file", func(s *model.Session) { s.Transcript += "x" })
	if p.E.Talks.LinkHistory(own, path, false); !copied() {
		t.Error("the copy has no backups")
	}
	if p.E.Talks.LinkHistory(own, path, true); copied() {
		t.Error("they are there when the copy is gone")
	}
	if len(p.E.Log.Project.Notices) > 0 {
		t.Errorf("%q", p.E.Log.Project.Notices)
	}
	have(p, history(id), "no folder") // so that nothing can be linked
	p.E.Talks.LinkHistory(own, path, false)
	if n := p.E.Log.Project.Notices; len(n) != 1 || !strings.Contains(n[0], made.Name) {
		t.Errorf("of what cannot be linked: %q", n)
	}
}

// What a person refused is read in the session's own file; a file that is not there, or another agent's, says nothing.
func TestRefusedCalls(t *testing.T) {
	p := enginetest.NewProject(t)
	s := p.Scribe(hooks.Claude, enginetest.Unique())
	s.Tell(hooks.Prompt, map[string]any{"prompt": "go"})
	s.Asked("go")
	s.Interrupted("call_1", "Bash")
	one := model.Session{Agent: transcript.Claude, Transcript: s.File}
	if r := conversation.Refused(&one); !r.Over {
		t.Errorf("%+v", r)
	}
	for name, other := range map[string]model.Session{
		"another agent": {Agent: transcript.Codex, Transcript: s.File},
		"no file":       {Agent: transcript.Claude},
		"a file that is not there": {
			Agent: transcript.Claude, Transcript: filepath.Join(p.Chats(), enginetest.ClaudeID(9)+".jsonl"),
		},
	} {
		if r := conversation.Refused(&other); len(r.Calls) > 0 || r.Over {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What passes by itself is no problem of a capture.
func TestProblem(t *testing.T) {
	for _, err := range []error{nil, conversation.ErrLater, fmt.Errorf("x: %w", conversation.ErrMoving)} {
		if text := conversation.Problem(err); text != "" {
			t.Errorf("%v: %q", err, text)
		}
	}
	if text := conversation.Problem(errors.New("why")); text != "why" {
		t.Errorf("%q", text)
	}
}
