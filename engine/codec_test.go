package engine

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

func testID(s string) objstore.ID { return objstore.Sum(objstore.Blob, []byte(s)) }

func sampleCheckpoint() *model.Checkpoint {
	return &model.Checkpoint{
		Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: testID("t"), Note: testID("n"),
		Parents: []objstore.ID{testID("p"), testID("q")}, Cause: model.Cause{Event: model.EventSave, Message: "m\n\xff", Tool: "Bash", Call: "c", Turn: 3, Prompt: "p"},
		Base: testID("b"), By: []string{"claude/a", ""}, Owned: []model.Owned{{Paths: []string{"a"}}, {By: []string{"codex/b", "x"}, Paths: []string{"b", "c/d"}}}, Late: true, Minor: true,
		Git: model.GitHead{Commit: "abc", Branch: "main"}, Counts: model.Counts{Files: 1, Bytes: 2, Skipped: 3, Added: 4, Modified: 5, Deleted: 6},
		Conversation: model.TranscriptEnd{Transcript: testID("x"), Length: 70_000, Last: "u", Path: "/h/.claude/projects/-p/a.jsonl", Generation: 2},
	}
}

func sampleJournal() *model.Journal {
	ent := func(typ byte, perm uint16, size int64) *tree.Entry {
		return &tree.Entry{Name: "f", Type: typ, Perm: perm, ID: testID("e"), Size: size}
	}
	return &model.Journal{
		Kind: refs.KindCheckout, Session: "claude/a",
		Restore: refs.Restore{
			Target: testID("t"), Safety: testID("s"), Scope: refs.Scope{Paths: []string{"a"}, Exact: true, ContextOnly: true}, Undoes: 3, Kept: 1,
			Files: []refs.File{{Path: "/a", To: testID("to")}, {Path: "/b", From: testID("from"), To: testID("to")}}, Goes: "claude/b",
		},
		Before: testID("b"), After: testID("a"), Stage: "00112233445566aa",
		Steps: []tree.Step{
			{Path: "d/f", From: ent(tree.TypeFile, 0o4755, 7), To: ent(tree.TypeSymlink, 0, 0)},
			{Path: "f", To: ent(tree.TypeDir, 0o700, 0)},
			{Path: "g/f", From: ent(tree.TypeFile, 0, 0)},
		},
		Made: &model.Session{Name: "claude/b", Agent: "claude", ID: "b", Fork: &model.Lineage{
			Lineage: value.Lineage{Session: "claude/a", Turn: 12, Kind: "checkout"}, Both: 2, Transcript: testID("x"), Turns: []int{1, 12},
		}},
		Moved: &model.Session{Name: "claude/a", Agent: "claude", ID: "a", LaneOf: "claude/c", Left: true},
	}
}

// The bytes on disk, docs/format.md#journal: a restore that another version of the program has left half done is continued, or taken back, by this one.
func TestJournalGolden(t *testing.T) {
	id := func(s string) string {
		of := testID(s)
		return string(of[:])
	}
	want := "\x01\x01o" + "\x02\x20" + id("t") + "\x03\x20" + id("s") + "\x04\x02\x01a" + "\x05\x01\x01" + "\x06\x01\x03" + "\a\x20" + id("b") + "\b\x20" + id("a") +
		"\t\x1000112233445566aa" + "\n\x01\x01" +
		"\v\xb7\x01" + "Z\x01\x03d/f" + "\x02,\x01\x01f\x02\x02\xed\x13\x03\x20" + id("e") + "\x04\x01\a" + "\x03%\x01\x01l\x03\x20" + id("e") +
		".\x01\x01f" + "\x03)\x01\x01d\x02\x02\xc0\x03\x03\x20" + id("e") + ",\x01\x03g/f" + "\x02%\x01\x01f\x03\x20" + id("e") +
		"\f\bclaude/a" + "\r\x01\x01" + "\x0ep" + "&\x01\x02/a\x03\x20" + id("to") + "H\x01\x02/b\x02\x20" + id("from") + "\x03\x20" + id("to") +
		"\x0fY\x01\bclaude/b\x02M\x01\x06claude\x02\x01b" + "\x13@\x01\bclaude/a\x02\x01\x02\a\bcheckout\b\x20" + id("x") + "\t\x05\x011\x0212" +
		"\x10$\x01\bclaude/a\x02\x18\x01\x06claude\x02\x01a\x18\bclaude/c\x19\x01\x01" + "\x11\bclaude/b"
	if got := sampleJournal().Encode(); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if j, err := model.DecodeJournal([]byte(want)); err != nil || string(j.Encode()) != want {
		t.Errorf("decoded: %v", err)
	}
}

// The bytes on disk, docs/format.md#checkpoint.
func TestCheckpointGolden(t *testing.T) {
	tr, p := testID("t"), testID("p")
	c := &model.Checkpoint{Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: tr, Parents: []objstore.ID{p}, Cause: model.Cause{Event: "save"}, Counts: model.Counts{Files: 1}}
	want := "\x01\x02\xac\x02" + "\x02\x06\x80\xa0\xf1\xc2\xb1\x34" + "\x03\x06manual" + "\x04\x20" + string(tr[:]) + "\x06\x21\x20" + string(p[:]) + "\x07\x04save" + "\x0b\x01\x01"
	if got := c.Encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(sampleCheckpoint().Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := model.DecodeCheckpoint(objstore.ID{}, raw)
		if err != nil {
			if c != nil {
				t.Fatal("an error and a checkpoint")
			}
			return
		}
		if got := c.Encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}

func FuzzJournal(f *testing.F) {
	f.Add(sampleJournal().Encode())
	for _, change := range []func(*model.Journal){
		func(j *model.Journal) { j.Files[0].Path = "/home/dev/.zshenv" },
		func(j *model.Journal) { j.Files[0].Path = "/home/dev/.claude/projects/x/../../settings.json" },
		func(j *model.Journal) { j.Made.Transcript, j.Made.Fork = "/p/.codex/sessions/x", nil },
		func(j *model.Journal) { j.Stage = "../../x" },
		func(j *model.Journal) { j.Steps[0].Path = "../x" },
		func(j *model.Journal) { j.Paths = []string{"", "a/../.."} },
		func(j *model.Journal) { j.Session = "a/../b" },
	} {
		j := sampleJournal()
		change(j)
		f.Add(j.Encode())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		j, err := model.DecodeJournal(raw)
		if err != nil {
			return
		}
		if !bytes.Equal(j.Encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, j.Encode())
		}
		_ = restore.Conversation(j) // what is told of it
		if !model.IsStageName(j.Stage) {
			t.Errorf("stage %q", j.Stage)
		}
		for _, s := range j.Steps {
			if !fs.ValidPath(strings.ToValidUTF8(s.Path, "?")) {
				t.Errorf("step %q", s.Path)
			}
		}
	})
}

// The sample stands in docs/format.md#messages.
func TestMessagesGolden(t *testing.T) {
	if got := model.EncodeMessages([]string{"ok"}); string(got) != "\x01\x03\x02ok" {
		t.Errorf("%x", got)
	}
	list := []string{"a", "of two\nlines", "\xff"}
	if got, err := model.DecodeMessages(model.EncodeMessages(list)); err != nil || !slices.Equal(got, list) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := model.DecodeMessages([]byte("\x02\x01a")); err == nil {
		t.Error("an unknown field is read")
	}
}
