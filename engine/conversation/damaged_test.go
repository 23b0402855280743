package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// none is an object that no store has.
var none = enginetest.TestID("none")

// node stores the record of a transcript, whatever it says.
func node(p *enginetest.Project, length int64, parent, tail objstore.ID) objstore.ID {
	p.T.Helper()
	tx := p.E.Log.Objs.Begin()
	n := conversation.Node{Length: length, Parent: parent, Tail: tail}
	id, err := tx.Put(objstore.Transcript, n.Encode(), objstore.Zero)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Written))
	return id
}

// mustBe holds that an error is the one that is meant: what is missing is not told to be damaged.
func mustBe(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || errors.Is(want, objstore.ErrNotFound) && errors.Is(err, kv.ErrCorrupt) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// TestTailOfWhatIsLost: where the store lacks what was captured of a session, or has it damaged, nothing more is
// captured of it, and the reason is told.
func TestTailOfWhatIsLost(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	was := p.Session(k.Name())
	longLine(k, 2*conversation.TranscriptBlock)
	length := was.Cursor.Length
	noBlock := node(p, length, objstore.Zero, none)
	longer := node(p, conversation.TranscriptBlock, objstore.Zero, none)
	longer = node(p, 5*conversation.TranscriptBlock, longer, none)
	tail := func(s *model.Session) error {
		tx := p.E.Log.Objs.Begin()
		defer tx.Discard()
		return p.E.Talks.Tail(tx, s, conversation.HookRead)
	}
	for what, c := range map[string]struct {
		change func(at *model.Cursor)
		want   error
	}{
		"all":                  {func(at *model.Cursor) { at.Transcript = none }, objstore.ErrNotFound},
		"the last block":       {func(at *model.Cursor) { at.Transcript = noBlock }, objstore.ErrNotFound},
		"all, of another file": {func(at *model.Cursor) { at.Transcript, at.Path = none, "" }, objstore.ErrNotFound},
		"a block of another length": {func(at *model.Cursor) {
			at.Transcript = node(p, length, objstore.Zero, enginetest.TestID("other"))
			tx := p.E.Log.Objs.Begin()
			_, err := tx.Put(objstore.Blob, []byte("other"), objstore.Zero)
			p.Must(err)
			p.Must(tx.Commit(enginetest.Bg, kv.Written))
		}, kv.ErrCorrupt},
		"a record between": {func(at *model.Cursor) {
			at.Transcript, at.Length = longer, 5*conversation.TranscriptBlock
		}, kv.ErrCorrupt},
	} {
		s := was
		c.change(&s.Cursor)
		before := s.Cursor
		mustBe(t, what, tail(&s), c.want)
		if s.Cursor != before {
			t.Errorf("%s: captured to %+v", what, s.Cursor)
		}
	}
	s := was
	s.Cursor.Transcript = none
	p.E.Log.Remember(&s)
	mustBe(t, "caught up", p.E.Talks.CaughtUp(enginetest.Bg, s.Name), objstore.ErrNotFound)
	s.Cursor.Length, s.Cursor.Checked = 4*conversation.TranscriptBlock, 0
	p.E.Log.Remember(&s)
	mustBe(t, "compared as a whole", p.E.Talks.Recheck(enginetest.Bg, s.Name), objstore.ErrNotFound)
	based := was
	based.Cursor.Transcript = node(p, 2*conversation.TranscriptBlock,
		node(p, conversation.TranscriptBlock, objstore.Zero, none), none)
	based.Cursor.Length, based.Cursor.Base = 2*conversation.TranscriptBlock, 10
	p.E.Log.Remember(&based)
	mustBe(t, "compared behind a base", p.E.Talks.Recheck(enginetest.Bg, s.Name), objstore.ErrNotFound)
	cut := was
	cut.Cursor.Transcript, cut.Cursor.Length = node(p, length, objstore.Zero, none), length
	have(p, k.File, p.Slurp(k.File)[:strings.IndexByte(p.Slurp(k.File), '\n')+1])
	mustBe(t, "cut", tail(&cut), objstore.ErrNotFound)
	p.Must(os.Remove(k.File))
	p.Must(p.E.Talks.Recheck(enginetest.Bg, s.Name)) // there is nothing to compare with
}

// TestPackedOfWhatIsLost: a compressed file is captured where the store has what it goes on from, under the name that
// its agent gives it; and a file that cannot be unpacked is not.
func TestPackedOfWhatIsLost(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	path := filepath.Join(p.User(), ".codex", "sessions", "2026", "11", "20",
		"rollout-2026-11-20T10-00-00-"+enginetest.ClaudeID(1)+".jsonl")
	p.Must(os.MkdirAll(filepath.Dir(path), 0o700))
	enc, err := zstd.NewWriter(nil)
	p.Must(err)
	const text = `{"type":"x"}` + "\n"
	packed := string(enc.EncodeAll([]byte(text), nil))
	id := put(p, text)
	noBlock := node(p, 10, objstore.Zero, none)
	for what, c := range map[string]struct {
		is   string
		at   model.Cursor
		want error
	}{
		"new":               {packed, model.Cursor{}, nil},
		"captured":          {packed, model.Cursor{TranscriptEnd: end(id, len(text), path)}, nil},
		"captured as other": {packed, model.Cursor{TranscriptEnd: end(id, len(text), path+"x")}, nil},
		"lost":              {packed, model.Cursor{TranscriptEnd: end(none, 10, path)}, objstore.ErrNotFound},
		"its base is lost": {packed, model.Cursor{
			TranscriptEnd: end(noBlock, 10, path), Base: 5,
		}, objstore.ErrNotFound},
		"no frame": {"no frame", model.Cursor{}, zstd.ErrMagicMismatch},
		"cut":      {packed[:len(packed)-3], model.Cursor{}, io.ErrUnexpectedEOF},
	} {
		have(p, path+".zst", c.is)
		s := model.Session{Name: "codex/x", Agent: hooks.Codex, Transcript: path, Cursor: c.at}
		tx := p.E.Log.Objs.Begin()
		p.E.Talks.Files = nil
		err := p.E.Talks.Tail(tx, &s, conversation.HookRead)
		tx.Discard()
		if !errors.Is(err, c.want) || err != nil && s.Cursor != c.at {
			t.Errorf("%s: %v, want %v; %+v", what, err, c.want, s.Cursor)
		}
		whole := s.Cursor.Transcript == id && s.Cursor.Length == int64(len(text))
		if itsFile := s.Cursor.Path == path; err == nil && !(whole && itsFile) {
			t.Errorf("%s: %+v", what, s.Cursor)
		}
	}
}

func end(id objstore.ID, length int, path string) model.TranscriptEnd {
	return model.TranscriptEnd{Transcript: id, Length: int64(length), Path: path}
}

// TestLedOut: what a path leads to that is no session file of the agent's is not captured.
func TestLedOut(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	p.Settle()
	out := filepath.Join(p.User(), "out")
	have(p, out, p.Slurp(k.File)+"{}\n")
	have(p, k.File, "")
	p.Must(os.Symlink(out, k.File))
	p.E.Talks.Files = nil
	s := p.Session(k.Name())
	was := s.Cursor
	tx := p.E.Log.Objs.Begin()
	defer tx.Discard()
	for what, err := range map[string]error{
		"in a hook": p.E.Talks.Tail(tx, &s, conversation.HookRead),
		"later":     p.E.Talks.CaughtUp(enginetest.Bg, s.Name),
	} {
		if err == nil || !strings.Contains(err.Error(), "it leads out of ") || p.Session(k.Name()).Cursor != was {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s.Cursor != was {
		t.Errorf("captured to %+v", s.Cursor)
	}
}

// TestStepsOfWhatIsLost: a step whose bytes the store lacks changes no file, and says what is missing and not that the
// file was changed.
func TestStepsOfWhatIsLost(t *testing.T) {
	t.Parallel()
	p, own := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	old := put(p, "old\n")
	for what, step := range map[string]refs.File{
		"what it was":      {Path: path, From: none, To: put(p, "new\n")},
		"what it is to be": {Path: path, From: old, To: none},
		"a block of that":  {Path: path, From: old, To: node(p, 10, objstore.Zero, none)},
	} {
		have(p, path, "old\n")
		err := conversation.SetSession(p.E.Log.Objs, own, step)
		mustBe(t, what, err, objstore.ErrNotFound)
		if errors.Is(err, conversation.ErrSessionChanged) || has(p, path) != "old\n" || len(p.Files()) != 1 {
			t.Errorf("%s: %v, and the file is %q beside %q", what, err, has(p, path), p.Files())
		}
	}
	folder := p.Chats()
	p.Must(os.RemoveAll(folder))
	have(p, folder, "no folder")
	if err := conversation.CheckWritable(own, path); err == nil {
		t.Error("a file may be written where no folder is")
	}
}

// A storeOf is a copy of a project that does something at the next read of a key, once.
type storeOf struct {
	*enginetest.Project
	do atomic.Pointer[func() error]
}

func copied(p *enginetest.Project) *storeOf {
	s := &storeOf{}
	s.Project = p.Copied(p.FS.Clone(100, 1), func() error {
		if do := s.do.Swap(nil); do != nil {
			return (*do)()
		}
		return nil
	})
	p.Must(s.E.Log.LoadSessions())
	return s
}

// meanwhile has a session's record become another one at the next read.
func (s *storeOf) meanwhile(one model.Session, change func(s *model.Session)) {
	do := func() error {
		change(&one)
		s.E.Log.Remember(&one)
		return nil
	}
	s.do.Store(&do)
}

// TestChangedMeanwhile: what is read of a session's file without the lock is not recorded where the session is another
// one when it was read.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	p, k := enginetest.TwoTurns(t)
	longLine(k, 2*conversation.TranscriptBlock)
	k.Stop()
	p.Settle()
	p.Must(p.E.Talks.Recheck(enginetest.Bg, k.Name()))
	is := p.Session(k.Name())
	have(p, k.File, strings.Replace(p.Slurp(k.File), "one", "two", 1))
	longLine(k, 100)
	for what, c := range map[string]struct {
		change func(s *model.Session)
		moves  [2]bool // caught up, and compared as a whole
	}{
		"nothing":       {func(*model.Session) {}, [2]bool{true, true}},
		"purged":        {func(s *model.Session) { s.Purged = true }, [2]bool{true, false}},
		"gone on with":  {func(s *model.Session) { s.Cursor.Generation += 7 }, [2]bool{}},
		"in other file": {func(s *model.Session) { s.Transcript += "x" }, [2]bool{false, true}},
	} {
		for n, read := range []func(q *storeOf) error{
			func(q *storeOf) error { return q.E.Talks.CaughtUp(enginetest.Bg, k.Name()) },
			func(q *storeOf) error { return q.E.Talks.Recheck(enginetest.Bg, k.Name()) },
		} {
			q := copied(p)
			one := is
			one.Cursor.Checked = 0
			q.E.Log.Remember(&one)
			last := q.E.Log.DB.LastSeq()
			q.meanwhile(one, c.change)
			p.Must(read(q))
			if q.do.Load() != nil {
				t.Fatal("nothing is read")
			}
			if moved := q.E.Log.DB.LastSeq() != last; moved != c.moves[n] {
				t.Errorf("%s, %d: recorded %v", what, n, moved)
			}
			q.Close()
		}
	}
	q := copied(p)
	defer q.Close()
	q.E.Log.Silence(k.Name())
	last := q.E.Log.DB.LastSeq()
	p.Must(q.E.Talks.CaughtUp(enginetest.Bg, k.Name()))
	if q.E.Log.DB.LastSeq() != last {
		t.Error("what was purged since is captured")
	}
}

// TestOriginMeanwhile: what is found of a session's origin without the lock is not recorded where it was purged, or
// rewind has told its origin, since.
func TestOriginMeanwhile(t *testing.T) {
	t.Parallel()
	p, k, c := importedCopy(t)
	is := p.Session(c.Name())
	if got, want := origin(is), k.Name()+" at 2 by content"; got != want {
		t.Fatalf("the copy is of %s, want %s", got, want)
	}
	is.Fork = nil
	made := &model.Lineage{}
	made.Session, made.Kind = "claude/x", value.ForkMade
	for what, c := range map[string]struct {
		change func(s *model.Session)
		want   string
	}{
		"nothing": {func(*model.Session) {}, k.Name()},
		"purged":  {func(s *model.Session) { s.Purged = true }, ""},
		"told":    {func(s *model.Session) { s.Fork = made }, "claude/x"},
	} {
		q := copied(p)
		one := is
		q.E.Log.Remember(&one)
		q.E.Talks.ResolveOriginsUnlocked(enginetest.Bg, nil) // what is stored of them is read
		q.E.Talks.ForgetOrigins([]string{one.Name})
		q.meanwhile(one, c.change)
		q.E.Talks.ResolveOriginsUnlocked(enginetest.Bg, []string{one.Name})
		if got := q.E.Log.Session(one.Name).From(); got != c.want || q.do.Load() != nil {
			t.Errorf("%s: of %q, want %q", what, got, c.want)
		}
		q.Close()
	}
}

// TestOriginStays: an origin that was told stays told, whatever could not be read when it was looked for again.
func TestOriginStays(t *testing.T) {
	t.Parallel()
	p, _, c := importedCopy(t)
	want := origin(p.Session(c.Name()))
	if !strings.HasSuffix(want, " by content") {
		t.Fatalf("the copy is of %s", want)
	}
	for left := int64(0); ; left++ {
		var reads, fails atomic.Int64
		fails.Store(1 << 60)
		q := p.Copied(p.FS.Clone(100, 1), func() error {
			if reads.Add(1) > fails.Load() {
				return fmt.Errorf("read: %w", syscall.EIO)
			}
			return nil
		})
		p.Must(q.E.Log.LoadSessions())
		q.E.Talks.ResolveOriginsUnlocked(enginetest.Bg, nil)
		q.E.Talks.ForgetOrigins([]string{c.Name()})
		reads.Store(0)
		fails.Store(left)
		q.E.Talks.ResolveOriginsUnlocked(enginetest.Bg, []string{c.Name()})
		n := reads.Load()
		fails.Store(1 << 60)
		if got := origin(q.Session(c.Name())); got != want {
			t.Errorf("%d of %d reads do not fail: of %s, want %s", left, n, got, want)
		}
		q.Close()
		if n <= left {
			break
		}
	}
}

// TestImportStopped: of an import that is stopped anywhere, each session that it says it has is stored.
func TestImportStopped(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Save("first")
	for n := range 2 {
		s := p.Scribe(hooks.Claude, enginetest.ClaudeID(n+1))
		s.Asked("hello")
	}
	for asked := 0; ; asked++ {
		q := p.Copied(p.FS.Clone(100, 1), nil)
		res, err := q.E.Talks.Import(&endsAfter{enginetest.Bg, asked}, q.Env(), nil)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, name := range res.Sessions {
			if s, err := q.E.Log.StoredSession(name); err != nil || s == nil {
				t.Errorf("asked %d times: %s is told and not stored (%v)", asked, name, err)
			}
		}
		all, _ := q.E.Log.Sessions()
		if done := err == nil && len(res.Failed) == 0; done != (len(all) == 2) || len(all) != len(res.Sessions) {
			t.Errorf("asked %d times: %v, %v; %d are known", asked, res, err, len(all))
		}
		q.Close()
		if len(res.Sessions) == 2 {
			break
		}
	}
}

// TestContinuationOfWhatIsLost: a file that goes on from what is lost is not read as if it began there; a file that is
// not there is told not to be there.
func TestContinuationOfWhatIsLost(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	of, err := conversation.OpenTranscript(p.E.Log.Objs, node(p, 10, objstore.Zero, none))
	p.Must(err)
	c := conversation.Continuation{F: strings.NewReader("own\n"), Base: 6, Of: of}
	for _, size := range []int{2, 6, 8} {
		n, err := c.ReadAt(make([]byte, size), 0)
		if mustBe(t, "below its base", err, objstore.ErrNotFound); n != 0 {
			t.Errorf("%d bytes of what is lost", n)
		}
	}
	if _, err := conversation.OpenReal(hooks.Claude, "x.jsonl", p.Path("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
