package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/refs"
)

// longLine appends a record of at least n bytes to a session's file.
func longLine(k *enginetest.Talker, n int) {
	k.Line("user", fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("long ", n/5+1)))
}

// What a hook leaves of a file is captured afterwards, once; of a session that is not known, or whose file is gone,
// nothing is.
func TestCaughtUp(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	before := p.Session(k.Name()).Cursor
	longLine(k, conversation.HookRead)
	k.Stop()
	if at := p.Session(k.Name()).Cursor; at != before {
		t.Fatalf("a hook has captured %d bytes", at.Length-before.Length)
	}
	catchUp := func(name string) { p.Must(p.E.Talks.CaughtUp(enginetest.Bg, name)) }
	catchUp("claude/none")
	purged := p.Session(k.Name())
	whole := purged
	purged.Purged = true
	p.E.Log.Remember(&purged)
	if catchUp(k.Name()); p.Session(k.Name()).Cursor != before {
		t.Error("what was purged is captured")
	}
	whole.Problem = "why"
	now := p.E.Log.Now()
	p.E.Log.Now = func() time.Time { return now }
	p.E.Log.Remember(&whole)
	catchUp(k.Name())
	head, err := p.E.Log.Head()
	p.Must(err)
	s, op := p.Session(k.Name()), newest(p)
	got := fmt.Sprint(op.Kind, op.Session, op.Turn, op.Transcript, op.Checkpoint, op.Cause.Event, op.Time, s.Problem)
	want := fmt.Sprint(refs.KindEvent, k.Name(), 2, s.Cursor.Transcript, head.Checkpoint, model.EventScan,
		now.UnixMilli(), "")
	if got != want {
		t.Errorf("it is told as %s, want %s", got, want)
	}
	if got := string(p.Talk(p.Session(k.Name()))); got != p.Slurp(k.File) {
		t.Errorf("%d bytes are captured of %d", len(got), len(p.Slurp(k.File)))
	}
	last := p.E.Log.DB.LastSeq()
	catchUp(k.Name())
	p.Must(os.Remove(k.File))
	catchUp(k.Name())
	if now := p.E.Log.DB.LastSeq(); now != last {
		t.Errorf("%d operations of nothing", now-last)
	}
}

// A session without a file, of an agent that is not understood, or of which something was purged, is not captured.
func TestTailOfNothing(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	longLine(k, 100)
	was := p.Session(k.Name())
	for name, c := range map[string]struct {
		change func(s *model.Session)
		want   error
	}{
		"no file":       {func(s *model.Session) { s.Transcript = "" }, nil},
		"another agent": {func(s *model.Session) { s.Agent = "other" }, nil},
		"a file that is gone": {func(s *model.Session) {
			s.Transcript = strings.Replace(k.File, k.ID, enginetest.ClaudeID(9), 1)
		}, nil},
		"purged":   {func(s *model.Session) { s.Purged = true }, conversation.ErrPurgedTalk},
		"too much": {func(*model.Session) {}, conversation.ErrLater},
	} {
		s := was
		c.change(&s)
		tx := p.E.Log.Objs.Begin()
		if err := p.E.Talks.Tail(tx, &s, 10); !errors.Is(err, c.want) || s.Cursor != was.Cursor {
			t.Errorf("%s: %v, %+v", name, err, s.Cursor)
		}
		tx.Discard()
	}
	s := was
	s.Transcript += "/.."
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	if err := p.E.Talks.Tail(tx, &s, 10); err == nil || s.Cursor != was.Cursor {
		t.Errorf("what is no session file: %+v", s.Cursor)
	}
}

// What an agent changed before the last block is found when so much was added, and not before. A file that is as it was
// makes no operation.
func TestRecheck(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	longLine(k, conversation.TranscriptBlock)
	k.Stop()
	p.Settle()
	again := func() model.Cursor {
		t.Helper()
		p.Must(p.E.Talks.Recheck(enginetest.Bg, k.Name()))
		return p.Session(k.Name()).Cursor
	}
	p.Must(p.E.Talks.Recheck(enginetest.Bg, "claude/none"))
	if at := again(); at.Checked != at.Length {
		t.Fatalf("%d bytes are compared of %d", at.Checked, at.Length)
	}
	for what, c := range map[string]struct {
		change func(s *model.Session)
		due    bool
	}{
		"a block more":    {func(s *model.Session) { s.Cursor.Checked -= conversation.TranscriptBlock }, true},
		"almost a block":  {func(s *model.Session) { s.Cursor.Checked -= conversation.TranscriptBlock - 1 }, false},
		"in another file": {func(s *model.Session) { s.Cursor.Checked, s.Transcript = 0, k.File+".new" }, false},
		"purged":          {func(s *model.Session) { s.Cursor.Checked, s.Purged = 0, true }, false},
		"almost an eighth": {func(s *model.Session) {
			s.Cursor.Checked = 16 * conversation.TranscriptBlock
			s.Cursor.Length = 18*conversation.TranscriptBlock - 1
		}, false},
		"gone": {func(s *model.Session) {
			s.Cursor.Checked, s.Cursor.Path, s.Transcript = 0, k.File+"x", k.File+"x"
		}, false},
	} {
		is := p.Session(k.Name())
		s := is
		c.change(&s)
		p.E.Log.Remember(&s)
		if at := again(); (at.Checked == at.Length) != c.due || at.Generation != s.Cursor.Generation {
			t.Errorf("%s: %d bytes are compared of %d", what, at.Checked, at.Length)
		}
		p.E.Log.Remember(&is)
	}
	longLine(k, 2*conversation.TranscriptBlock)
	k.Stop()
	last, was := p.E.Log.DB.LastSeq(), p.Session(k.Name()).Cursor
	if at := again(); at.Checked != at.Length || at.Transcript != was.Transcript || p.E.Log.DB.LastSeq() != last {
		t.Errorf("%d bytes are compared of %d, %d operations", at.Checked, at.Length, p.E.Log.DB.LastSeq()-last)
	}
	p.Must(os.WriteFile(k.File, []byte(strings.Replace(p.Slurp(k.File), "one", "two", 1)), 0o600))
	longLine(k, 100)
	k.Stop()
	if at := again(); at.Checked == at.Length || at.Generation != was.Generation {
		t.Errorf("compared when %d bytes were added", at.Length-was.Length)
	}
	longLine(k, conversation.TranscriptBlock)
	k.Stop()
	if at := again(); at.Checked != at.Length || at.Generation != was.Generation+1 {
		t.Errorf("compared to %d of %d, generation %d", at.Checked, at.Length, at.Generation)
	}
	if got := string(p.Talk(p.Session(k.Name()))); got != p.Slurp(k.File) {
		t.Errorf("%d bytes are captured, of %d", len(got), len(p.Slurp(k.File)))
	}
}

// TestRecheckDue: a long file is compared as a whole when it has grown by an eighth, and not before.
func TestRecheckDue(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	const part = conversation.TranscriptBlock + 100
	have(p, k.File, longer(p.Slurp(k.File), 9*part))
	k.Stop()
	p.Settle()
	for checked, due := range map[int64]bool{8 * part: true, 8*part + 8: false} {
		s := p.Session(k.Name())
		s.Cursor.Checked = checked
		p.E.Log.Remember(&s)
		p.Must(p.E.Talks.Recheck(enginetest.Bg, k.Name()))
		if at := p.Session(k.Name()).Cursor; at.Length != 9*part || (at.Checked == at.Length) != due {
			t.Errorf("of %d bytes, %d compared: compared to %d", at.Length, checked, at.Checked)
		}
	}
}

// A file that goes on from another one is read as the conversation that it is.
func TestContinuation(t *testing.T) {
	p := enginetest.NewProject(t)
	of, err := conversation.OpenTranscript(p.E.Log.Objs, put(p, "first\nand more\n"))
	p.Must(err)
	whole := "first\nown\n"
	c := conversation.Continuation{F: strings.NewReader("own\n"), Base: 6, Of: of}
	for from := range len(whole) {
		for to := from + 1; to <= len(whole); to++ {
			b := make([]byte, to-from)
			n, err := c.ReadAt(b, int64(from))
			if err != nil && !errors.Is(err, io.EOF) || string(b[:n]) != whole[from:to] {
				t.Errorf("%d to %d: %q, %v", from, to, b[:n], err)
			}
		}
	}
	if n, err := c.ReadAt(make([]byte, 8), 4); n != 6 || !errors.Is(err, io.EOF) {
		t.Errorf("beyond its end: %d, %v", n, err)
	}
}

// Import captures what is not known yet, also of a file that its agent has compressed, and tells how far it is.
func TestImportTells(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	k := p.Talker(1)
	k.Line("user", `{"role":"user","content":"hello"}`)
	k.Say("there")
	s := p.Scribe(hooks.Codex, enginetest.Unique())
	s.Asked("hello")
	s.Says("there")
	text := p.Slurp(s.File)
	enc, err := zstd.NewWriter(nil)
	p.Must(err)
	have(p, s.File+".zst", string(enc.EncodeAll([]byte(text), nil)))
	have(p, s.File, "")
	sizes := []int64{int64(len(p.Slurp(k.File))), int64(len(p.Slurp(k.File)) + len(text))}
	stopped, cancel := context.WithCancel(enginetest.Bg)
	cancel()
	if res, err := p.E.Talks.Import(stopped, p.Env(), nil); !errors.Is(err, context.Canceled) || len(res.Sessions) > 0 {
		t.Errorf("stopped: %v, %v", res, err)
	}
	var told []int64
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), func(n int, size int64) {
		if told = append(told, size); n != len(told) {
			t.Errorf("%d sessions at the call %d", n, len(told))
		}
	})
	p.Must(err)
	if !slices.Equal(res.Sessions, []string{k.Name(), s.Name()}) || !slices.Equal(told, sizes) || len(res.Failed) > 0 {
		t.Errorf("%v of %v bytes, want %v; %v", res.Sessions, told, sizes, res.Failed)
	}
	one := p.Session(s.Name())
	if got := string(p.Talk(one)); got != text || one.Turn != 1 || one.Cwd != p.Root {
		t.Errorf("%d bytes of %d, %+v", len(got), len(text), one)
	}
	if !one.Ended || !one.Imported {
		t.Errorf("%+v", one)
	}
	last := p.E.Log.DB.LastSeq()
	again, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	if len(again.Sessions) > 0 || p.E.Log.DB.LastSeq() != last {
		t.Errorf("again: %v", again.Sessions)
	}
	p.Must(p.E.Talks.Tail(p.E.Log.Objs.Begin(), &one, conversation.HookRead))
	if one.Cursor != p.Session(s.Name()).Cursor {
		t.Errorf("captured again: %+v", one.Cursor)
	}
}

// knownTalks is what is known of conversations, and all that was said, as text.
func knownTalks(q *enginetest.Project) (string, error) {
	all, err := q.E.Log.Sessions()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintln(&b, s.Name, s.Turn, s.Cursor.Length, s.Cursor.Generation, s.Cursor.Last, s.Cursor.Lost.IsZero())
		if s.Fork != nil {
			fmt.Fprintln(&b, "of", s.Fork.Session, s.Fork.Turn, s.Fork.How)
		}
		st, err := conversation.OpenTranscript(q.E.Log.Objs, s.Cursor.Transcript)
		if err == nil {
			_, err = io.Copy(&b, io.NewSectionReader(st, 0, st.Size))
		}
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// TestTalksWhileReadsFail: what is captured while a read of the store fails is what was said, or is captured by the
// next attempt; an origin that was not found for that is looked for again.
func TestTalksWhileReadsFail(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	text := p.Slurp(k.File)
	copied := p.Talker(2)
	have(p, copied.File, text[:strings.LastIndexByte(text[:len(text)-1], '\n')+1])
	copied.Line("user", `{"role":"user","content":"another way"}`)
	copied.Say("gone")
	p.ReadFails("import", every, func(q *enginetest.Project) (string, error) {
		for range 2 {
			res, err := q.E.Talks.Import(enginetest.Bg, q.Env(), nil)
			if err == nil {
				err = errors.Join(res.Failed...)
			}
			if err != nil {
				return "", err
			}
		}
		return knownTalks(q)
	})
	longLine(k, 3*conversation.TranscriptBlock)
	p.ReadFails("what was left", every, func(q *enginetest.Project) (string, error) {
		if err := q.E.Log.LoadSessions(); err != nil {
			return "", err
		}
		if err := q.E.Talks.CaughtUp(enginetest.Bg, k.Name()); err != nil {
			return "", err
		}
		return knownTalks(q)
	})
	k.Stop()
	have(p, k.File, strings.Replace(p.Slurp(k.File), "one", "two", 1))
	longLine(k, conversation.TranscriptBlock)
	k.Stop()
	p.ReadFails("what was changed", every, func(q *enginetest.Project) (string, error) {
		if err := q.E.Log.LoadSessions(); err != nil {
			return "", err
		}
		if err := q.E.Talks.Recheck(enginetest.Bg, k.Name()); err != nil {
			return "", err
		}
		return knownTalks(q)
	})
}

// TestFilesWhileReadsFail: whether a session file is as it was stored is told rightly, or not at all.
func TestFilesWhileReadsFail(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	longLine(k, 2*conversation.TranscriptBlock)
	k.Stop()
	p.Settle()
	id := p.Session(k.Name()).Cursor.Transcript
	p.ReadFails("a file", every, func(q *enginetest.Project) (string, error) {
		as, err := conversation.IsStored(q.E.Log.Objs, register.Folders(q.Env()), k.File, id)
		return fmt.Sprint(as), err
	})
}

// A last line that nobody ended is captured of a session that nobody writes, if it is a whole record; else only what is
// before it.
func TestUnendedLine(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Save("first")
	for i, c := range []struct {
		line  string
		whole bool
	}{{`{"type":"x","n":1}`, true}, {`{"type":"x","n":`, false}, {`12`, false}, {"", true}} {
		k := p.Talker(i + 1)
		k.Line("user", `{"role":"user","content":"hello"}`)
		k.Say("there")
		want := p.Slurp(k.File)
		k.Append(c.line)
		if c.whole {
			want += c.line
		}
		_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		if got := string(p.Talk(p.Session(k.Name()))); got != want {
			t.Errorf("%q: %d bytes are captured, want %d", c.line, len(got), len(want))
		}
	}
}

// The conversation that another one was made of is read as it was captured; if it was not, in the file beside. There
// may be neither.
func TestParentSource(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	parent, all := p.Session(k.Name()), p.Slurp(k.File)
	have(p, k.File, all[:len(all)/2])
	s := &model.Session{
		Name: "claude/" + enginetest.ClaudeID(2), Agent: hooks.Claude, ID: enginetest.ClaudeID(2),
		Transcript: strings.Replace(k.File, k.ID, enginetest.ClaudeID(2), 1),
	}
	elsewhere := *s
	elsewhere.Transcript = k.File
	for name, c := range map[string]struct {
		s, parent *model.Session
		id        string
		want      int
	}{
		"captured":            {s, &parent, k.ID, len(all)},
		"not known":           {s, nil, k.ID, len(all) / 2},
		"not captured":        {s, &model.Session{}, k.ID, len(all) / 2},
		"not there":           {s, nil, enginetest.ClaudeID(3), 0},
		"no id":               {s, nil, "../" + k.ID, 0},
		"no id, and a way":    {s, nil, "../" + filepath.Base(p.Chats()) + "/" + k.ID, 0},
		"of an unlike file":   {&elsewhere, nil, k.ID, 0},
		"of one that is lost": {s, &model.Session{Cursor: lostCursor()}, k.ID, -1},
	} {
		src, closed, err := conversation.ParentSource(p.E.Log.Objs, c.s, c.parent, c.id)
		if (err != nil) != (c.want < 0) || (src.ReaderAt != nil) != (c.want > 0) || src.Size != int64(max(c.want, 0)) {
			t.Errorf("%s: %d bytes, %v", name, src.Size, err)
		}
		if src.ReaderAt != nil {
			closed()
		}
	}
}

// lostCursor is that of a session whose conversation is not in the store.
func lostCursor() model.Cursor {
	return model.Cursor{TranscriptEnd: model.TranscriptEnd{Transcript: enginetest.TestID("none")}}
}
