package engine

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

func testID(s string) objstore.ID { return objstore.Sum(objstore.Blob, []byte(s)) }

func sampleCheckpoint() *Checkpoint {
	return &Checkpoint{
		Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: testID("t"), Note: testID("n"),
		Parents: []objstore.ID{testID("p"), testID("q")}, Cause: Cause{Event: EventSave, Message: "m\n\xff", Tool: "Bash", Call: "c", Turn: 3, Prompt: "p"},
		Base: testID("b"), By: []string{"claude/a", ""}, Owned: []Owned{{Paths: []string{"a"}}, {By: []string{"codex/b", "x"}, Paths: []string{"b", "c/d"}}}, Late: true, Minor: true,
		Git: GitHead{Commit: "abc", Branch: "main"}, Counts: Counts{1, 2, 3, 4, 5, 6},
		Mark: Mark{Transcript: testID("x"), Length: 70_000, Last: "u", Path: "/h/.claude/projects/-p/a.jsonl", Generation: 2},
	}
}

func sampleJournal() *journal {
	ent := func(typ byte, perm uint16, size int64) *tree.Entry {
		return &tree.Entry{Name: "f", Type: typ, Perm: perm, ID: testID("e"), Size: size}
	}
	return &journal{
		Kind: refs.KindCheckout, Session: "claude/a", Target: testID("t"), Safety: testID("s"), Paths: []string{"a"}, Exact: true, Undoes: 3,
		Before: testID("b"), After: testID("a"), Stage: "00112233445566aa", Kept: 1,
		Steps: []tree.Step{
			{Path: "d/f", From: ent(tree.TypeFile, 0o4755, 7), To: ent(tree.TypeSymlink, 0, 0)},
			{Path: "f", To: ent(tree.TypeDir, 0o700, 0)},
			{Path: "g/f", From: ent(tree.TypeFile, 0, 0)},
		},
		ContextOnly: true, Files: []refs.File{{Path: "/a", To: testID("to")}, {Path: "/b", From: testID("from"), To: testID("to")}},
		Made:  &Session{Name: "claude/b", Agent: "claude", ID: "b", Fork: &Lineage{Session: "claude/a", Turn: 2, Kind: "checkout", Transcript: testID("x"), Turns: []int{1, 12}}},
		Moved: &Session{Name: "claude/a", Agent: "claude", ID: "a", LaneOf: "claude/c", Left: true},
		Goes:  "claude/b",
	}
}

// The bytes on disk, docs/format.md#checkpoint.
func TestCheckpointGolden(t *testing.T) {
	tr, p := testID("t"), testID("p")
	c := &Checkpoint{Seq: 300, Time: time.UnixMilli(1_800_000_000_000), Session: "manual", Tree: tr, Parents: []objstore.ID{p}, Cause: Cause{Event: "save"}, Counts: Counts{Files: 1}}
	want := "\x01\x02\xac\x02" + "\x02\x06\x80\xa0\xf1\xc2\xb1\x34" + "\x03\x06manual" + "\x04\x20" + string(tr[:]) + "\x06\x21\x20" + string(p[:]) + "\x07\x04save" + "\x0b\x01\x01"
	if got := c.encode(); string(got) != want {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(sampleCheckpoint().encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := decodeCheckpoint(objstore.ID{}, raw)
		if err != nil {
			if c != nil {
				t.Fatal("an error and a checkpoint")
			}
			return
		}
		if got := c.encode(); !bytes.Equal(got, raw) {
			t.Errorf("decoded %x, encoded %x", raw, got)
		}
	})
}

func FuzzJournal(f *testing.F) {
	f.Add(sampleJournal().encode())
	for _, change := range []func(*journal){
		func(j *journal) { j.Files[0].Path = "/home/dev/.zshenv" },
		func(j *journal) { j.Files[0].Path = "/home/dev/.claude/projects/x/../../settings.json" },
		func(j *journal) { j.Made.Transcript, j.Made.Fork = "/p/.codex/sessions/x", nil },
		func(j *journal) { j.Stage = "../../x" },
		func(j *journal) { j.Steps[0].Path = "../x" },
		func(j *journal) { j.Paths = []string{"", "a/../.."} },
		func(j *journal) { j.Session = "a/../b" },
	} {
		j := sampleJournal()
		change(j)
		f.Add(j.encode())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		j, err := decodeJournal(raw)
		if err != nil {
			return
		}
		if !bytes.Equal(j.encode(), raw) {
			t.Errorf("decoded %x, encoded %x", raw, j.encode())
		}
		_ = j.conversation() // what is told of it
		if !isStageName(j.Stage) {
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
	if got := encodeMessages([]string{"ok"}); string(got) != "\x01\x03\x02ok" {
		t.Errorf("%x", got)
	}
	list := []string{"a", "of two\nlines", "\xff"}
	if got, err := decodeMessages(encodeMessages(list)); err != nil || !slices.Equal(got, list) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := decodeMessages([]byte("\x02\x01a")); err == nil {
		t.Error("an unknown field is read")
	}
}
