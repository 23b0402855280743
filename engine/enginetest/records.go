package enginetest

import (
	"os"
	"path/filepath"
	"time"

	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
	"rewind/transcript"
	"rewind/tree"
)

// TestID is an id that only s has.
func TestID(s string) objstore.ID { return objstore.Sum(objstore.Blob, []byte(s)) }

// SampleJournal is a journal in which every field is set.
func SampleJournal() *model.Journal {
	ent := func(typ byte, perm uint16, size int64) *tree.Entry {
		return &tree.Entry{Name: "f", Type: typ, Perm: perm, ID: TestID("e"), Size: size}
	}
	return &model.Journal{
		Kind: refs.KindCheckout, Session: "claude/a",
		Restore: refs.Restore{
			Target: TestID("t"), Safety: TestID("s"),
			Scope: refs.Scope{Paths: []string{"a"}, Exact: true, ContextOnly: true}, Undoes: 3,
			Kept: 1, Beside: 1,
			Files: []refs.File{{Path: "/a", To: TestID("to")}, {Path: "/b", From: TestID("from"), To: TestID("to")}},
			Goes:  "claude/b", TakesBack: true,
			Managed: []value.Managed{{
				Session: "claude/a", Was: value.MainLine, Now: value.Archived, WasTitle: "x",
				Title: "y",
			}},
		},
		Before: TestID("b"), After: TestID("a"), Stage: "00112233445566aa",
		Steps: []tree.Change{
			{Path: "d/f", Old: ent(tree.TypeFile, 0o4755, 7), New: ent(tree.TypeSymlink, 0, 0)},
			{Path: "f", New: ent(tree.TypeDir, 0o700, 0)},
			{Path: "g/f", Old: ent(tree.TypeFile, 0, 0)},
		},
		Made: &model.Session{Name: "claude/b", Agent: "claude", ID: "b", Fork: &model.Lineage{
			Lineage: value.Lineage{Session: "claude/a", Turn: 12, Kind: "checkout"}, Both: 2, Transcript: TestID("x"),
			Turns: []int{1, 12},
		}},
		Moved:    &model.Session{Name: "claude/a", Agent: "claude", ID: "a", LaneOf: "claude/c", Left: true},
		ByItself: true,
	}
}

// SampleSession is a session in which every field is set.
func SampleSession() *model.Session {
	at := time.UnixMilli(1_800_000_000_000)
	return &model.Session{
		Name: "claude/a", Agent: "claude", ID: "a", Transcript: "/t", Cwd: "/c", Previous: "p", Began: 5, First: at,
		Last:  at.Add(time.Millisecond),
		Event: "stop", Turn: 3, Busy: true, Prompt: "x", Ended: true, Shown: at.Add(2 * time.Millisecond), Folded: 9,
		Calls:      []model.Call{{ID: "c", Tool: "Bash", Lane: "l", Class: hooks.Editor, Paths: []string{"a", ""}}, {}},
		Uncaptured: []string{"/etc/x"},
		Cursor: model.Cursor{
			TranscriptEnd: model.TranscriptEnd{
				Transcript: TestID("x"), Length: 70_000, Last: "u", Path: "/t",
				Generation: 1,
			}, Base: 2,
			Checked: 3, Lost: TestID("l"),
		},
		Fork: &model.Lineage{
			Lineage: value.Lineage{
				Session: "claude/b", Turn: 12, Message: "m", Checkpoint: "c", Time: at, Clone: true, Kind: "fork",
				How:    "rewind",
				Commit: "d", Branch: "e",
			},
			Both: 2, Turns: []int{1, 12}, Transcript: TestID("f"),
		},
		Title: "t", Imported: true, Problem: "q", LaneOf: "claude/c", Left: true, Purged: true, Root: 70_000,
		Standing: value.Archived,
	}
}

// Sample is a session file that a client of an agent wrote, by its name below transcript/testdata. Tests of rooms run
// two directories below the module's.
func (p *Project) Sample(agent transcript.Agent, file string) []byte {
	p.T.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "transcript", "testdata", string(agent), file))
	p.Must(err)
	return raw
}
