package enginetest

import (
	"rewind/engine/model"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
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
			Target: TestID("t"), Safety: TestID("s"), Scope: refs.Scope{Paths: []string{"a"}, Exact: true, ContextOnly: true}, Undoes: 3, Kept: 1,
			Files: []refs.File{{Path: "/a", To: TestID("to")}, {Path: "/b", From: TestID("from"), To: TestID("to")}}, Goes: "claude/b",
		},
		Before: TestID("b"), After: TestID("a"), Stage: "00112233445566aa",
		Steps: []tree.Step{
			{Path: "d/f", From: ent(tree.TypeFile, 0o4755, 7), To: ent(tree.TypeSymlink, 0, 0)},
			{Path: "f", To: ent(tree.TypeDir, 0o700, 0)},
			{Path: "g/f", From: ent(tree.TypeFile, 0, 0)},
		},
		Made: &model.Session{Name: "claude/b", Agent: "claude", ID: "b", Fork: &model.Lineage{
			Lineage: value.Lineage{Session: "claude/a", Turn: 12, Kind: "checkout"}, Both: 2, Transcript: TestID("x"), Turns: []int{1, 12},
		}},
		Moved: &model.Session{Name: "claude/a", Agent: "claude", ID: "a", LaneOf: "claude/c", Left: true},
	}
}
