package conversation_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/transcript"
)

// TestSessionOpened: a session file is opened where the agent lays its files out, through links within its folder, and
// nowhere else.
func TestSessionOpened(t *testing.T) {
	t.Parallel()
	p, _ := chats(t)
	path := func(n int) string { return filepath.Join(p.Chats(), enginetest.ClaudeID(n)+".jsonl") }
	have(p, path(1), "{}\n")
	have(p, p.Path("out"), "{}\n")
	p.Must(os.Symlink(path(1), path(2)))
	p.Must(os.Symlink(p.Path("out"), path(3)))
	p.Must(os.Symlink(path(4), path(4)))
	p.Must(os.Mkdir(path(5), 0o700))
	for name, want := range map[string]string{
		path(1): "", path(2): "", path(3): "it leads out of ", path(4): "too many", path(5): "not a regular file",
		path(6): "no such file", p.Path("out"): "out",
	} {
		f, err := conversation.OpenSession(hooks.Claude, name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
		if err == nil {
			if f.Path != name || f.Document() || f.Compressed() {
				t.Errorf("%+v", f)
			}
			f.Close()
		}
	}
}

// TestSessionCopied: the bytes that are asked for are copied, and an end that comes too early is one of a file that is
// being written.
func TestSessionCopied(t *testing.T) {
	t.Parallel()
	p, _ := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	have(p, path, "0123456789")
	for _, old := range []bool{false, true} { // what may be written at this moment is read twice
		if old {
			at := time.Now().Add(-time.Hour)
			p.Must(os.Chtimes(path, at, at))
		}
		f, err := conversation.OpenSession(hooks.Claude, path)
		p.Must(err)
		var b bytes.Buffer
		if err := f.CopyTo(&b, 2, 10); err != nil || b.String() != "23456789" {
			t.Errorf("%q, %v", &b, err)
		}
		if err := f.CopyTo(io.Discard, 2, 11); !errors.Is(err, conversation.ErrMoving) {
			t.Errorf("beyond its end: %v", err)
		}
		no := errors.New("no")
		if err := f.CopyTo(failing{no}, 0, 10); !errors.Is(err, no) || errors.Is(err, conversation.ErrMoving) {
			t.Errorf("to what takes nothing: %v", err)
		}
		// it is written while it is read: a byte changes between both passes
		err = f.CopyTo(&changing{func() { have(p, path, "01234x6789") }}, 0, 10)
		if !errors.Is(err, conversation.ErrMoving) {
			t.Errorf("written meanwhile: %v", err)
		}
		f.Close()
		have(p, path, "0123456789")
	}
}

// TestDocumentCopied: of a file that is written anew as a whole only what was there at one time is copied, and the same
// bytes written again may be of another time.
func TestDocumentCopied(t *testing.T) {
	t.Parallel()
	p, _ := chats(t)
	file := p.Path("f")
	for path, document := range map[string]bool{"x.json": true, "x.jsonl": false} {
		for now, again := range map[string]bool{"": false, "{}\n": true, "{}\n\n": true} {
			have(p, file, "{}\n")
			f, err := conversation.OpenReal(hooks.Claude, path, file)
			p.Must(err)
			if f.Document() != document || f.Path != path {
				t.Errorf("%s: %+v", path, f)
			}
			err = f.CopyTo(&changing{func() {
				if again {
					have(p, file, now)
					longer := len(now) > 3 // then its time is as it was
					p.Must(chtimes(file, f.Info.ModTime().Add(map[bool]time.Duration{false: time.Second}[longer])))
				}
			}}, 0, 3)
			want := error(nil)
			if document && again {
				want = conversation.ErrMoving
			}
			if !errors.Is(err, want) {
				t.Errorf("%s, written again as %q: %v", path, now, err)
			}
			f.Close()
		}
	}
}

// failing takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// changing does something at the first write.
type changing struct{ do func() }

func (c *changing) Write(b []byte) (int, error) {
	if c.do != nil {
		c.do()
		c.do = nil
	}
	return len(b), nil
}

// TestUnpacked: a compressed file is read up to the end of its last line, and no more than may be.
func TestUnpacked(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	path := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20",
		"rollout-2026-11-20T10-00-00-"+enginetest.ClaudeID(1)+".jsonl.zst")
	p.Must(os.MkdirAll(filepath.Dir(path), 0o700))
	enc, err := zstd.NewWriter(nil)
	p.Must(err)
	packed := func(text string) string { return string(enc.EncodeAll([]byte(text), nil)) }
	long := strings.Repeat("a line of some words\n", 20_000)
	for _, c := range []struct {
		is   string
		most int64
		want string
		err  error
	}{
		{packed("one\ntwo\n"), 8, "one\ntwo\n", nil},
		{packed("\n"), 8, "\n", nil},
		{packed("\nhalf"), 8, "\n", nil},
		{packed("one\ntwo\n"), 7, "", conversation.ErrLater},
		{packed("one\ntwo"), 8, "one\n", nil},
		{packed("one"), 8, "", nil},
		{packed(""), 8, "", nil},
		{packed(long + "end"), 1 << 20, long, nil},
		{packed(long)[:60], 1 << 20, "", io.ErrUnexpectedEOF},
		{"no frame", 8, "", zstd.ErrMagicMismatch},
	} {
		have(p, path, c.is)
		f, err := conversation.OpenSession(hooks.Codex, path)
		p.Must(err)
		var b bytes.Buffer
		err = conversation.Unpacked(f, &b, c.most)
		f.Close()
		if !errors.Is(err, c.err) || err == nil && b.String() != c.want {
			t.Errorf("%.10q of at most %d: %d bytes, %v", c.is, c.most, b.Len(), err)
		}
	}
}

// TestTailLimits: what is appended is captured as long as it is no more than may be read, also of a file that is
// captured for the first time; the newest record with an id is known however long the lines behind it are.
func TestTailLimits(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was := p.Session(k.Name())
	tail := func(most int64) error {
		tx := p.E.Log.Objs.Begin()
		defer tx.Discard()
		s := was
		return p.E.Talks.Tail(tx, &s, most)
	}
	size := int64(len(p.Slurp(k.File)))
	longLine(k, 100)
	added := int64(len(p.Slurp(k.File))) - size
	if err := tail(added - 1); !errors.Is(err, conversation.ErrLater) {
		t.Errorf("of more than may be read: %v", err)
	}
	p.Must(tail(added))
	was.Cursor.Path = ""
	if err := tail(size + added - 1); !errors.Is(err, conversation.ErrLater) {
		t.Errorf("anew, of more than may be read: %v", err)
	}
	p.Must(tail(size + added))
	for n, pad := range []int{1, 64 << 10, 600 << 10, 6 << 20} {
		k := p.Talker(n + 2)
		k.Line("user", `{"role":"user","content":"hello"}`)
		k.Say("there")
		width := 980 * (1 + 9*(n%2)) // also longer than is read at once
		k.Append(strings.Repeat(`{"type":"x","pad":"`+strings.Repeat("x", width)+`"}`+"\n", pad/width+1))
		whole := p.Slurp(k.File)
		k.Append(`{"type":"x","pad":"` + strings.Repeat("x", 40<<10)) // not ended, and longer than a buffer
		_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		s := p.Session(k.Name())
		if s.Cursor.Last != k.Parent || s.Cursor.Length != int64(len(whole)) {
			t.Errorf("%d bytes behind it: the newest is %q, want %q; %d bytes of %d",
				pad, s.Cursor.Last, k.Parent, s.Cursor.Length, len(whole))
		}
	}
	none := p.Talker(9)
	none.Append(`{"type":"x"`)
	none.Stop()
	if at := p.Session(none.Name()).Cursor; at.Length != 0 || !at.Transcript.IsZero() {
		t.Errorf("of no whole line: %+v", at)
	}
}

// forked are sessions of Codex's, each a fork by reference of the one before, and so many of them deep.
func forked(t *testing.T, deep int) (*enginetest.Project, []*talk) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Save("first")
	f := &talks{
		families: &families{rnd: rand.New(rand.NewPCG(7, 7)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)},
		cast:     castOf(t, transcript.Codex, "0.169.0", p.Root), root: p.Root,
	}
	list := []*talk{f.begin("first", 2)}
	for len(list) <= deep {
		list = append(list, byReference(f, list[len(list)-1]))
	}
	return p, list
}

func textOf(s *talk) (all string) {
	for _, r := range s.list {
		all += r.text
	}
	return all
}

// write makes a session's file, and returns its path.
func write(p *enginetest.Project, s *talk) string {
	path := filepath.Join(p.User(), filepath.FromSlash(s.name))
	p.Must(os.MkdirAll(filepath.Dir(path), 0o700))
	have(p, path, textOf(s))
	return path
}

// TestCodexBaseGone: what is continued over two files cannot be captured where the first of them is gone.
func TestCodexBaseGone(t *testing.T) {
	t.Parallel()
	p, list := forked(t, 2)
	for _, s := range list[1:] {
		write(p, s)
	}
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	if p.Must(err); len(res.Failed) != 2 || !strings.Contains(res.Failed[1].Error(), "is not there") {
		t.Errorf("%v", res.Failed)
	}
}

// TestCodexBases: a conversation that goes on in file after file is captured as a whole; why it cannot be, where a file
// that it continues is not there any more, or not as it was.
func TestCodexBases(t *testing.T) {
	t.Parallel()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		do   func(p *enginetest.Project, path, text string)
		want string
	}{
		"as it was": {func(*enginetest.Project, string, string) {}, ""},
		"gone on":   {func(p *enginetest.Project, path, text string) { have(p, path, text+"{}\n") }, ""},
		"gone":      {func(p *enginetest.Project, path, _ string) { have(p, path, "") }, "is not there"},
		"no file": {func(p *enginetest.Project, path, _ string) {
			have(p, path, "")
			p.Must(os.Mkdir(path, 0o700))
		}, "not a regular file"},
		"cut": {func(p *enginetest.Project, path, text string) {
			have(p, path, text[:len(text)/2])
		}, "is not as it was"},
		"compressed": {func(p *enginetest.Project, path, text string) {
			have(p, path, "")
			have(p, path+".zst", string(enc.EncodeAll([]byte(text), nil)))
		}, "is compressed"},
	} {
		p, list := forked(t, 1)
		first := textOf(list[0])
		path := write(p, list[0])
		write(p, list[1])
		c.do(p, path, first)
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
		said := fmt.Sprint(errors.Join(res.Failed...))
		if (len(res.Failed) == 0) != (c.want == "") || c.want != "" && !strings.Contains(said, c.want) {
			t.Errorf("%s: %s", what, said)
		}
		if c.want != "" {
			continue
		}
		s := p.Session("codex/" + list[1].id)
		if got := string(p.Talk(s)); got != first+textOf(list[1]) || s.Cursor.Base != int64(len(first)) {
			t.Errorf("%s: %d bytes behind %d are captured", what, len(got), s.Cursor.Base)
		}
		have(p, path, "")
		goneOn(p, s, first)
	}
	p, list := forked(t, conversation.MaxBases+1)
	whole := ""
	for n, s := range list {
		if write(p, s); n <= conversation.MaxBases {
			whole += textOf(s)
		}
	}
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	if len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Error(), "it goes back through more than 32 files") {
		t.Errorf("%v", res.Failed)
	}
	if got := string(p.Talk(p.Session("codex/" + list[conversation.MaxBases].id))); got != whole {
		t.Errorf("%d bytes are captured of %d", len(got), len(whole))
	}
}

// TestCodexBaseInSegment: what is forked off a thread that went back has all files of the thread in front; it cannot be
// captured where the first of them is not there.
func TestCodexBaseInSegment(t *testing.T) {
	t.Parallel()
	p, list := forked(t, 0)
	f := &talks{
		families: &families{rnd: rand.New(rand.NewPCG(8, 8)), now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)},
		cast:     castOf(t, transcript.Codex, "0.169.0", p.Root), root: p.Root,
	}
	of := list[0]
	f.more(of, 2)
	toSegment(f, of)
	fork := byReference(f, of)
	first := write(p, of.before)
	write(p, of)
	write(p, fork)
	text := p.Slurp(first)
	for _, gone := range []bool{true, false} {
		have(p, first, "")
		if gone {
			p.Must(os.Mkdir(first, 0o700))
		} else {
			have(p, first, text)
		}
		res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		if p.Must(err); gone != (len(res.Failed) > 0) || gone && len(res.Sessions) > 0 {
			t.Errorf("the first is gone %v: imported %q, failed %v", gone, res.Sessions, res.Failed)
		}
	}
	for s, want := range map[*talk]string{of: text + textOf(of), fork: text + textOf(of) + textOf(fork)} {
		if got := string(p.Talk(p.Session("codex/" + s.id))); got != want {
			t.Errorf("%s: %d bytes are captured, want %d", s.kind, len(got), len(want))
		}
	}
}

// goneOn has a conversation that was captured go on behind its base, whose file is gone: it is captured further,
// compared as a whole, and known when its agent has compressed it.
func goneOn(p *enginetest.Project, was model.Session, base string) {
	p.T.Helper()
	now := func(what, text string, generation uint64) {
		p.T.Helper()
		p.Must(p.E.Talks.CaughtUp(enginetest.Bg, was.Name))
		s := p.Session(was.Name)
		at := s.Cursor
		if string(p.Talk(s)) != base+text || at.Base != was.Cursor.Base || at.Generation != generation {
			p.T.Fatalf("%s: wants %d bytes behind %d: %+v", what, len(base+text), was.Cursor.Base, at)
		}
	}
	first := was.Cursor.Generation
	res, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	if p.Must(err); len(res.Failed)+len(res.Sessions) > 0 {
		p.T.Fatalf("imported again: %v, %v", res.Sessions, res.Failed)
	}
	text := p.Slurp(was.Transcript)
	for what, size := range map[string]int{"a line": 10, "many lines": conversation.TranscriptBlock} {
		text += fmt.Sprintf(`{"timestamp":"2026-11-20T10:00:00.000Z","type":"x","payload":{"pad":%q}}`+"\n",
			strings.Repeat("x", size))
		have(p, was.Transcript, text)
		now(what, text, first)
	}
	p.Must(p.E.Talks.Recheck(enginetest.Bg, was.Name))
	if at := p.Session(was.Name).Cursor; at.Checked != at.Length || at.Generation != first {
		p.T.Fatalf("compared: %d of %d bytes, generation %d", at.Checked, at.Length, at.Generation)
	}
	enc, err := zstd.NewWriter(nil)
	p.Must(err)
	have(p, was.Transcript, "")
	have(p, was.Transcript+".zst", string(enc.EncodeAll([]byte(text), nil)))
	now("compressed", text, first)
	text += "{}\n"
	have(p, was.Transcript+".zst", string(enc.EncodeAll([]byte(text), nil)))
	now("compressed, and longer", text, first+1)
}

// TestSessionFound: a session's file is found where its agent says, and one of Codex's beside it, compressed. That
// there is none is no error.
func TestSessionFound(t *testing.T) {
	t.Parallel()
	p, _ := chats(t)
	dir := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20")
	p.Must(os.MkdirAll(dir, 0o700))
	claude := func(n int) string { return filepath.Join(p.Chats(), enginetest.ClaudeID(n)+".jsonl") }
	codex := func(n int) string {
		return filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+enginetest.ClaudeID(n)+".jsonl")
	}
	for _, path := range []string{
		claude(1), claude(2) + ".zst", codex(1), codex(2) + ".zst", codex(3), codex(3) + ".zst",
	} {
		have(p, path, "{}\n")
	}
	p.Must(os.Symlink(claude(4), claude(4)))
	for _, c := range []struct {
		agent       hooks.Agent
		path, found string
		ok          bool
	}{
		{hooks.Claude, claude(1), claude(1), true},
		{hooks.Claude, claude(2), "", true},
		{hooks.Claude, claude(3), "", true},
		{hooks.Claude, claude(4), "", false},
		{hooks.Claude, p.Path("f"), "", false},
		{hooks.Codex, codex(1), codex(1), true},
		{hooks.Codex, codex(2), codex(2) + ".zst", true},
		{hooks.Codex, codex(3), codex(3), true},
		{hooks.Codex, codex(4), "", true},
	} {
		found, fi, err := conversation.FindFile(c.agent, c.path)
		if found != c.found || (fi != nil) != (found != "") || (err == nil) != c.ok {
			t.Errorf("%s: %q, %v, %v", c.path, found, fi, err)
		}
	}
}

// chtimes sets when a file was written last.
func chtimes(path string, at time.Time) error { return os.Chtimes(path, at, at) }
