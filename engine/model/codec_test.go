package model_test

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/objstore"
)

func sampleCheckpoint() *model.Checkpoint {
	return &model.Checkpoint{
		Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: enginetest.TestID("t"), Note: enginetest.TestID("n"),
		Parents: []objstore.ID{enginetest.TestID("p"), enginetest.TestID("q")}, Cause: model.Cause{Event: model.EventSave, Message: "m\n\xff", Tool: "Bash", Call: "c", Turn: 3, Prompt: "p"},
		Base: enginetest.TestID("b"), By: []string{"claude/a", ""}, Owned: []model.Owned{{Paths: []string{"a"}}, {By: []string{"codex/b", "x"}, Paths: []string{"b", "c/d"}}}, Late: true, Minor: true,
		Git: model.GitHead{Commit: "abc", Branch: "main"}, Counts: model.Counts{Files: 1, Bytes: 2, Skipped: 3, Added: 4, Modified: 5, Deleted: 6},
		Conversation: model.TranscriptEnd{Transcript: enginetest.TestID("x"), Length: 70_000, Last: "u", Path: "/h/.claude/projects/-p/a.jsonl", Generation: 2},
	}
}

// The bytes on disk, docs/format.md#journal: a restore that another version of the program has left half done is continued, or taken back,
// by this one.
func TestJournalGolden(t *testing.T) {
	id := func(s string) string {
		of := enginetest.TestID(s)
		return string(of[:])
	}
	want := "\x01\x01o" + "\x02\x20" + id("t") + "\x03\x20" + id("s") + "\x04\x02\x01a" + "\x05\x01\x01" + "\x06\x01\x03" + "\a\x20" + id("b") + "\b\x20" + id("a") +
		"\t\x1000112233445566aa" + "\n\x01\x01" +
		"\v\xb7\x01" + "Z\x01\x03d/f" + "\x02,\x01\x01f\x02\x02\xed\x13\x03\x20" + id("e") + "\x04\x01\a" + "\x03%\x01\x01l\x03\x20" + id("e") +
		".\x01\x01f" + "\x03)\x01\x01d\x02\x02\xc0\x03\x03\x20" + id("e") + ",\x01\x03g/f" + "\x02%\x01\x01f\x03\x20" + id("e") +
		"\f\bclaude/a" + "\r\x01\x01" + "\x0ep" + "&\x01\x02/a\x03\x20" + id("to") + "H\x01\x02/b\x02\x20" + id("from") + "\x03\x20" + id("to") +
		"\x0fY\x01\bclaude/b\x02M\x01\x06claude\x02\x01b" + "\x13@\x01\bclaude/a\x02\x01\x02\a\bcheckout\b\x20" + id("x") + "\t\x05\x011\x0212" +
		"\x10$\x01\bclaude/a\x02\x18\x01\x06claude\x02\x01a\x18\bclaude/c\x19\x01\x01" + "\x11\bclaude/b"
	if got := enginetest.SampleJournal().Encode(); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if j, err := model.DecodeJournal([]byte(want)); err != nil || string(j.Encode()) != want {
		t.Errorf("decoded: %v", err)
	}
}

// The bytes on disk, docs/format.md#checkpoint.
func TestCheckpointGolden(t *testing.T) {
	tr, p := enginetest.TestID("t"), enginetest.TestID("p")
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
	f.Add(enginetest.SampleJournal().Encode())
	for _, change := range []func(*model.Journal){
		func(j *model.Journal) { j.Files[0].Path = "/home/dev/.zshenv" },
		func(j *model.Journal) { j.Files[0].Path = "/home/dev/.claude/projects/x/../../settings.json" },
		func(j *model.Journal) { j.Made.Transcript, j.Made.Fork = "/p/.codex/sessions/x", nil },
		func(j *model.Journal) { j.Stage = "../../x" },
		func(j *model.Journal) { j.Steps[0].Path = "../x" },
		func(j *model.Journal) { j.Paths = []string{"", "a/../.."} },
		func(j *model.Journal) { j.Session = "a/../b" },
	} {
		j := enginetest.SampleJournal()
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
