package model_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/internal/osfile"
	"rewind/internal/record"
	"rewind/internal/record/recordtest"
	"rewind/objstore"
	"rewind/transcript"
)

func sampleCheckpoint() *model.Checkpoint {
	return &model.Checkpoint{
		Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: enginetest.TestID("t"),
		Note:    enginetest.TestID("n"),
		Parents: []objstore.ID{enginetest.TestID("p"), enginetest.TestID("q")}, Cause: model.Cause{
			Event:   model.EventSave,
			Message: "m\n\xff", Tool: "Bash", Call: "c", Turn: 3, Prompt: "p",
		},
		Base: enginetest.TestID("b"), By: []string{"claude/a", ""}, Owned: []model.Owned{
			{Paths: []string{"a"}},
			{By: []string{"codex/b", "x"}, Paths: []string{"b", "c/d"}},
		}, Late: true, Minor: true,
		Git: model.GitHead{Commit: "abc", Branch: "main"}, Counts: model.Counts{
			Files: 1, Bytes: 2, Skipped: 3, Added: 4, Modified: 5,
			Deleted: 6,
		},
		Conversation: model.TranscriptEnd{
			Transcript: enginetest.TestID("x"), Length: 70_000, Last: "u",
			Path: "/h/.claude/projects/-p/a.jsonl", Generation: 2,
		},
	}
}

func sampleSquash() *model.Squash {
	return &model.Squash{
		Parent: enginetest.TestID("p"), Base: enginetest.TestID("b"), By: []string{"a/b", "c/d"}, Merged: 300,
		Counts:   model.Counts{Added: 1, Modified: 2, Deleted: 3},
		Reverted: []string{"d/", "f"}, Aside: []string{"c/d"},
		Owned: []model.Owned{{Paths: []string{"a"}}, {By: []string{"a/b"}, Paths: []string{"x", "y"}}},
	}
}

// id is the bytes of an id that only s has.
func id(s string) string {
	of := enginetest.TestID(s)
	return string(of[:])
}

// golden fails unless a record with every field set has these bytes, they are read as that record, and a section of
// docs/format.md has its fields.
func golden[T any](
	t *testing.T, section string, sample *T, encode func(*T) []byte, decode func([]byte) (*T, error), want string,
) {
	t.Helper()
	if got := encode(sample); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, err := decode([]byte(want)); err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("decoded %+v, %v", got, err)
	}
	recordtest.Documented(t, []byte(want), section, 0)
}

// The bytes on disk, docs/format.md#checkpoint.
func TestCheckpointGoldenEveryField(t *testing.T) {
	golden(t, "Checkpoint", sampleCheckpoint(), (*model.Checkpoint).Encode,
		func(raw []byte) (*model.Checkpoint, error) { return model.DecodeCheckpoint(objstore.ID{}, raw) },
		"\x01\x02\xac\x02"+"\x02\x06\x80\xa0\xf1\xc2\xb14"+"\x03\x06manual"+"\x04 "+id("t")+"\x05 "+id("n")+"\x06B "+
			id("p")+" "+id("q")+
			"\a\x04save"+"\b\x03m\n\xff"+"\t\x03abc"+"\n\x04main"+"\v\x01\x01"+"\f\x01\x02"+"\r\x01\x03"+"\x0e\x01\x04"+
			"\x0f\x01\x05"+
			"\x10\x01\x06"+"\x11 "+id("b")+"\x12\x04Bash"+"\x13\x01c"+"\x14\x01\x03"+"\x15\x01p"+"\x16\n\bclaude/a\x00"+
			"\x17\x01\x01"+
			"\x18\x01\x01"+"\x19 "+id("x")+"\x1a\x03\xf0\xa2\x04"+"\x1b\x01u"+"\x1c\x1e/h/.claude/projects/-p/a.jsonl"+
			"\x1d\x01\x02"+
			"\x1e\x1a\x04\x02\x02\x01a\x14\x01\n\acodex/b\x01x\x02\x06\x01b\x03c/d")
}

// The bytes on disk, docs/format.md#session-record.
func TestSessionGolden(t *testing.T) {
	golden(t, "Session record", enginetest.SampleSession(), (*model.Session).Encode,
		func(raw []byte) (*model.Session, error) { return model.DecodeSession("claude/a", raw) },
		"\x01\x06claude"+"\x02\x01a"+"\x03\x02/t"+"\x04\x02/c"+"\x05\x01p"+"\x06\x06\x80\xa0\xf1\xc2\xb14"+
			"\a\x06\x81\xa0\xf1\xc2\xb14"+
			"\b\x04stop"+"\t\x01\x03"+"\n\x01\x01"+"\v\x01x"+"\f\x01\x01"+"\r\x06\x82\xa0\xf1\xc2\xb14"+
			"\x0e\x16\x14\x01\x01c\x02\x04Bash\x03\x01l\x04\x01\x01\x05\x03\x01a\x00\x00"+"\x0f\x01\t"+"\x10\x01\x05"+
			"\x11\a\x06/etc/x"+
			"\x12Y\x01 "+id("x")+"\x02\x03\xf0\xa2\x04\x03\x01u\x04\x02/t\x05\x01\x01\x06\x01\x02\a\x01\x03\b "+id("l")+
			"\x13[\x01\bclaude/b\x02\x01\x02\x03\x01m\x04\x01c\x05\x06\x80\xa0\xf1\xc2\xb14\x06\x01\x01\a\x04fork\b "+
			id("f")+
			"\t\x05\x011\x0212"+"\n\x06rewind"+"\v\x01d"+"\f\x01e"+
			"\x14\x01t"+"\x15\x01\x01"+"\x16\x01q"+"\x17\x01\x01"+"\x18\bclaude/c"+"\x19\x01\x01"+
			"\x1a\x03\xf0\xa2\x04"+"\x1b\x01\x02")
}

// The bytes on disk, docs/format.md#known-session.
func TestKnownGolden(t *testing.T) {
	golden(t, "Known session", sampleKnown(), (*model.Known).Encode, model.DecodeKnown,
		"\x01\x01\x03"+"\x02\x01\x02"+"\x03\x01\x03"+"\x04\x01\x04"+"\x05\x01\x05"+"\x06\x01\x06"+"\x07 "+id("x")+
			"\b\x02/t"+
			"\t\x01\x07"+"\n\x01\b"+"\v\x01\t"+"\f\x01t"+"\r\x01p"+"\x0e\x01m"+"\x0f\x06\x80\xa0\xf1\xc2\xb14"+
			"\x10&%"+"\x01\x01\x01"+"\x02\x04\x012\x013"+"\x03\x01\x01"+"\x04\x01\x02"+"\x05\x06\x80\xa0\xf1\xc2\xb14"+
			"\x06\x01m"+"\a\x01s"+"\b\x06\x80\xa0\xf1\xc2\xb14")
}

func sampleKnown() *model.Known {
	return &model.Known{
		Read: model.KnownRead, Stamp: osfile.Stamp{Size: 2, Modified: 3, Changed: 4, Device: 5, Inode: 6},
		Transcript: enginetest.TestID("x"), Path: "/t", Turns: 7, Messages: 8, Bytes: 9, Title: "t",
		Parent: transcript.Parent{Session: "p", Message: "m"},
		First:  time.UnixMilli(1_800_000_000_000),
		Branches: []transcript.Branch{{
			After: 1, Turns: []int{2, 3}, Within: 1, How: transcript.BackByRecord,
			Left: time.UnixMilli(1_800_000_000_000), Message: "m",
			Summary: "s", At: time.UnixMilli(1_800_000_000_000),
		}},
	}
}

// The bytes on disk, docs/format.md#squash-record.
func TestSquashGolden(t *testing.T) {
	golden(t, "Squash record", sampleSquash(), (*model.Squash).Encode, model.DecodeSquash,
		"\x01 "+id("p")+"\x02 "+id("b")+"\x03\b\x03a/b\x03c/d"+"\x04\x02\xac\x02"+"\x05\x01\x01"+"\x06\x01\x02"+
			"\a\x01\x03"+
			"\b\x05\x02d/\x01f"+"\t\x04\x03c/d"+"\n\x12\x04\x02\x02\x01a\f\x01\x04\x03a/b\x02\x04\x01x\x01y")
}

// The bytes on disk, docs/format.md#journal: a restore that another version of the program has left half done is
// continued, or taken back, by this one.
func TestJournalGolden(t *testing.T) {
	want := "\x01\x01o" + "\x02\x20" + id("t") + "\x03\x20" + id("s") + "\x04\x02\x01a" + "\x05\x01\x01" +
		"\x06\x01\x03" + "\a\x20" +
		id("b") + "\b\x20" + id("a") +
		"\t\x1000112233445566aa" + "\n\x01\x01" +
		"\v\xb7\x01" + "Z\x01\x03d/f" + "\x02,\x01\x01f\x02\x02\xed\x13\x03\x20" + id("e") + "\x04\x01\a" +
		"\x03%\x01\x01l\x03\x20" +
		id("e") +
		".\x01\x01f" + "\x03)\x01\x01d\x02\x02\xc0\x03\x03\x20" + id("e") + ",\x01\x03g/f" + "\x02%\x01\x01f\x03\x20" +
		id("e") +
		"\f\bclaude/a" + "\r\x01\x01" + "\x0ep" + "&\x01\x02/a\x03\x20" + id("to") + "H\x01\x02/b\x02\x20" +
		id("from") + "\x03\x20" +
		id("to") +
		"\x0fY\x01\bclaude/b\x02M\x01\x06claude\x02\x01b" + "\x13@\x01\bclaude/a\x02\x01\x02\a\bcheckout\b\x20" +
		id("x") +
		"\t\x05\x011\x0212" +
		"\x10$\x01\bclaude/a\x02\x18\x01\x06claude\x02\x01a\x18\bclaude/c\x19\x01\x01" + "\x11\bclaude/b" +
		"\x12\x17\x16\x01\bclaude/a\x02\x01\x01\x03\x01\x02\x04\x01x\x05\x01y" + "\x13\x01\x01" + "\x14\x01\x01" +
		"\x15\x01\x01"
	if got := enginetest.SampleJournal().Encode(); string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if j, err := model.DecodeJournal([]byte(want)); err != nil || string(j.Encode()) != want {
		t.Errorf("decoded: %v", err)
	}
	recordtest.Documented(t, []byte(want), "Journal", 0)
}

// The bytes on disk, docs/format.md#checkpoint.
func TestCheckpointGolden(t *testing.T) {
	tr, p := enginetest.TestID("t"), enginetest.TestID("p")
	c := &model.Checkpoint{
		Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: tr, Parents: []objstore.ID{p},
		Cause: model.Cause{Event: "save"}, Counts: model.Counts{Files: 1},
	}
	want := "\x01\x02\xac\x02" + "\x02\x06\x80\xa0\xf1\xc2\xb1\x34" + "\x03\x06manual" + "\x04\x20" + string(tr[:]) +
		"\x06\x21\x20" +
		string(p[:]) + "\x07\x04save" + "\x0b\x01\x01"
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

func FuzzKnown(f *testing.F) {
	f.Add(sampleKnown().Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := model.DecodeKnown(raw)
		if err != nil {
			return
		}
		if got := k.Encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}

func FuzzSession(f *testing.F) {
	f.Add(enginetest.SampleSession().Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := model.DecodeSession("claude/a", raw)
		if err != nil {
			return
		}
		if got := s.Encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}

// What a session's record holds of its conversation is a record of its own, docs/format.md#session-record.
func FuzzCursorAndLineage(f *testing.F) {
	s := enginetest.SampleSession()
	for _, s := range []*model.Session{{Cursor: s.Cursor}, {Fork: s.Fork}} {
		f.Add(s.Encode()[2:]) // its only field, which is short
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		for _, tag := range []byte{18, 19} {
			raw := append(binary.AppendUvarint([]byte{tag}, uint64(len(part))), part...)
			s, err := model.DecodeSession("claude/a", raw)
			if err == nil && !bytes.Equal(s.Encode(), raw) {
				t.Errorf("field %d: decoded %x, encoded %x", tag, raw, s.Encode())
			} else if err != nil && (!errors.Is(err, record.ErrFormat) || !errors.Is(err, kv.ErrCorrupt)) {
				t.Errorf("field %d: %v", tag, err)
			}
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
