package conversation_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
)

// put stores a text as a transcript; "" is none.
func put(p *enginetest.Project, text string) objstore.ID {
	p.T.Helper()
	if text == "" {
		return objstore.Zero
	}
	tx := p.E.Log.Objs.Begin()
	id, n, err := conversation.PutBytes(tx, objstore.ID{}, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Written))
	if n != int64(len(text)) {
		p.T.Fatalf("%d bytes are stored of %d", n, len(text))
	}
	return id
}

// chats is a project with the folder of its Claude sessions, and who may write there.
func chats(t *testing.T) (*enginetest.Project, agentfiles.Folders) {
	t.Helper()
	p := enginetest.NewProject(t)
	p.Must(os.MkdirAll(p.Chats(), 0o700))
	return p, register.Folders(p.Env())
}

// have makes a file have a text; "": there is none.
func have(p *enginetest.Project, path, text string) {
	p.T.Helper()
	if text == "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.T.Fatalf("%v", err)
		}
		return
	}
	p.Must(os.WriteFile(path, []byte(text), 0o600))
}

// has is the text of a file; "": there is none.
func has(p *enginetest.Project, path string) string {
	p.T.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	p.Must(err)
	return string(b)
}

// A step makes a session file what it says if the file is as it was planned, leaves one that is so already, and touches
// nothing else.
func TestSetSession(t *testing.T) {
	p, own := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	long := strings.Repeat("a line\n", conversation.TranscriptBlock/4)
	for name, c := range map[string]struct {
		is, from, to string
		changed      bool
	}{
		"made":                     {"", "", "new\n", false},
		"made already":             {"new\n", "", "new\n", false},
		"made, but there is one":   {"mine\n", "", "new\n", true},
		"replaced":                 {"old\n", "old\n", "new, and longer\n", false},
		"replaced already":         {"new\n", "old\n", "new\n", false},
		"replaced, but gone":       {"", "old\n", "new\n", true},
		"replaced, but changed":    {"odd\n", "old\n", "new\n", true},
		"replaced, but gone on":    {"old\nmore\n", "old\n", "new\n", true},
		"replaced, but shorter":    {"old\n", "old\nmore\n", "new\n", true},
		"removed":                  {"old\n", "old\n", "", false},
		"removed already":          {"", "old\n", "", false},
		"removed, but changed":     {"odd\n", "old\n", "", true},
		"of many blocks":           {long + "old\n", long + "old\n", long + "new\n", false},
		"changed in a later block": {long + "odd\n", long + "old\n", long + "new\n", true},
	} {
		have(p, path, c.is)
		err := conversation.SetSession(p.E.Log.Objs, own, refs.File{Path: path, From: put(p, c.from), To: put(p, c.to)})
		want := c.to
		if c.changed {
			want = c.is
		}
		if errors.Is(err, conversation.ErrSessionChanged) != c.changed || !c.changed && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := has(p, path); got != want {
			t.Errorf("%s: the file has %d bytes, want %d", name, len(got), len(want))
		}
	}
}

// A link in the place of a session file is not what was planned, whatever it leads to; a file that is no agent's is
// refused, also to be looked at.
func TestSetSessionOfOthers(t *testing.T) {
	p, own := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	other := p.Path("other")
	have(p, other, "old\n")
	p.Must(os.Symlink(other, path))
	step := refs.File{Path: path, From: put(p, "old\n"), To: put(p, "new\n")}
	err := conversation.SetSession(p.E.Log.Objs, own, step)
	if !errors.Is(err, conversation.ErrSessionChanged) || !errors.Is(err, agentfiles.ErrNotPlain) {
		t.Errorf("a link: %v", err)
	}
	if as, err := conversation.IsStored(p.E.Log.Objs, own, path, step.From); as || err != nil {
		t.Errorf("a link is stored: %v, %v", as, err)
	}
	step.Path = other
	var foreign *model.ForeignFileError
	if err := conversation.SetSession(p.E.Log.Objs, own, step); !errors.As(err, &foreign) {
		t.Errorf("a file of the project: %v", err)
	}
	if err := conversation.RemoveSession(own, other); !errors.As(err, &foreign) {
		t.Errorf("removed: %v", err)
	}
	if err := conversation.CheckWritable(own, other); !errors.As(err, &foreign) {
		t.Errorf("writable: %v", err)
	}
	nothing := func(io.Writer) error { return nil }
	if err := conversation.WriteSession(own, other, true, nothing); !errors.As(err, &foreign) {
		t.Errorf("written: %v", err)
	}
	if got := has(p, other); got != "old\n" {
		t.Errorf("it has %q", got)
	}
}

// What cannot be written leaves the file that was there, and nothing beside it.
func TestWriteSessionFails(t *testing.T) {
	p, own := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	p.Must(conversation.CheckWritable(own, path))
	have(p, path, "old\n")
	no := errors.New("no")
	other := filepath.Join(p.Chats(), enginetest.ClaudeID(2)+".jsonl")
	for at, replace := range map[string]bool{path: true, other: false} {
		err := conversation.WriteSession(own, at, replace, func(w io.Writer) error {
			_, err := io.WriteString(w, "new\n")
			return errors.Join(err, no)
		})
		if !errors.Is(err, no) {
			t.Errorf("replace %v: %v", replace, err)
		}
	}
	fill := func(w io.Writer) error { _, err := io.WriteString(w, "new\n"); return err }
	if err := conversation.WriteSession(own, path, false, fill); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over one that is there: %v", err)
	}
	if got := has(p, path); got != "old\n" || len(p.Files()) != 1 {
		t.Errorf("it has %q, beside it are %q", got, p.Files())
	}
	p.Must(conversation.WriteSession(own, path, true, fill))
	if got := has(p, path); got != "new\n" {
		t.Errorf("replaced by %q", got)
	}
	p.Must(conversation.RemoveSession(own, path))
	if err := conversation.RemoveSession(own, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
}

// Of several steps, one that was to remove a file that was used since is passed over; any other that does not fit ends
// them. When they are taken back, each that does not fit is passed over.
func TestSetSessions(t *testing.T) {
	p, own := chats(t)
	at := func(n int) string { return filepath.Join(p.Chats(), enginetest.ClaudeID(n)+".jsonl") }
	old, now := put(p, "old\n"), put(p, "new\n")
	steps := []refs.File{
		{Path: at(1), From: old}, {Path: at(2), From: old, To: now}, {Path: at(3), From: old, To: now},
	}
	for _, c := range []struct {
		back bool
		kept []string
		last string
	}{
		{false, []string{at(1)}, "old\n"},
		{true, []string{at(1), at(2)}, "new\n"},
	} {
		have(p, at(1), "used\n")
		have(p, at(2), "used\n")
		have(p, at(3), "old\n")
		kept, err := conversation.SetSessions(p.E.Log.Objs, own, steps, c.back)
		if errors.Is(err, conversation.ErrSessionChanged) == c.back || !slices.Equal(kept, c.kept) {
			t.Errorf("back %v: kept %q, %v", c.back, kept, err)
		}
		if got := has(p, at(3)); got != c.last {
			t.Errorf("back %v: the last has %q", c.back, got)
		}
	}
	back := conversation.ReverseFiles(steps)
	want := []refs.File{
		{Path: at(3), From: now, To: old}, {Path: at(2), From: now, To: old}, {Path: at(1), To: old},
	}
	if !slices.Equal(back, want) {
		t.Errorf("taken back by %v", back)
	}
}

// A restore of the code alone names the session files that are as they were to become, and no others.
func TestLeftAlone(t *testing.T) {
	p, own := chats(t)
	at := func(n int) string { return filepath.Join(p.Chats(), enginetest.ClaudeID(n)+".jsonl") }
	old, now := put(p, "old\n"), put(p, "new\n")
	have(p, at(1), "old\n")
	have(p, at(2), "new\n")
	have(p, p.Path("f"), "new\n")
	j := &model.Journal{Folders: own}
	for _, path := range []string{at(1), at(2), p.Path("f")} {
		j.Files = append(j.Files, refs.File{Path: path, From: old, To: now})
	}
	if got := conversation.LeftAlone(p.E.Log.Objs, j); len(got) != 1 || got[0].Path != at(2) || len(j.Files) != 3 {
		t.Errorf("left alone are %v", got)
	}
}

// Changes of refs become updates that expect what there was; no two new ids are the same.
func TestUpdates(t *testing.T) {
	c := refs.Change{Name: "x", Old: enginetest.TestID("old"), New: enginetest.TestID("new")}
	if got := conversation.UpdatesOf([]refs.Change{c, c}); len(got) != 2 || refs.Change(got[1]) != c {
		t.Errorf("%+v", got)
	}
	if a, b := conversation.Random(), conversation.Random(); a == b {
		t.Errorf("%x twice", a)
	}
}

// A file beside a session file may be missing only where it need not be there.
func TestReadSide(t *testing.T) {
	p, own := chats(t)
	path := filepath.Join(p.Chats(), enginetest.ClaudeID(1)+".jsonl")
	if raw, err := conversation.ReadSide(own, transcript.Side{From: path, Optional: true}); raw != nil || err != nil {
		t.Errorf("one that need not be there: %q, %v", raw, err)
	}
	if _, err := conversation.ReadSide(own, transcript.Side{From: path}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that has to be there: %v", err)
	}
	have(p, path, "text")
	if raw, err := conversation.ReadSide(own, transcript.Side{From: path}); string(raw) != "text" || err != nil {
		t.Errorf("%q, %v", raw, err)
	}
	p.Must(os.Truncate(path, 16<<20))
	if raw, err := conversation.ReadSide(own, transcript.Side{From: path}); len(raw) != 16<<20 || err != nil {
		t.Errorf("%d bytes are read of as many as may be, %v", len(raw), err)
	}
	p.Must(os.Truncate(path, 16<<20+1))
	if raw, err := conversation.ReadSide(own, transcript.Side{From: path, Optional: true}); err == nil {
		t.Errorf("%d bytes are read", len(raw))
	}
	if _, err := conversation.ReadSide(own, transcript.Side{From: p.Path("f"), Optional: true}); err == nil {
		t.Error("a file of the project is read")
	}
}

// An error about the file that a copy is made of names that file.
func TestSessionError(t *testing.T) {
	of := &transcript.Error{Name: "/of", Cause: io.ErrUnexpectedEOF}
	err := conversation.SessionError("/copy", of)
	if strings.Contains(err.Error(), "/copy") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
	if err := conversation.SessionError("/of", of); !strings.Contains(err.Error(), "session file") {
		t.Errorf("%v", err)
	}
}
