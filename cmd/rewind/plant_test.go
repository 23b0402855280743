package main

import (
	"context"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"rewind/engine/conversation"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// cmdPlant: plant GLOB {journal | operation} {from | to} PATH TEXT makes the store of a project what somebody else
// could have prepared: its journal, or the newest restore in its log, names a session file at PATH that was, or is to
// become, TEXT. The code of it goes from the newest step to the one before.
func cmdPlant(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 5, "plant GLOB {journal | operation} {from | to} PATH TEXT")
	dirs, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("plant: %d stores match %s", len(dirs), args[0])
	}
	ctx := context.Background()
	db, err := kv.Open(ctx, dirs[0], kv.Options{})
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	r, tx := refs.New(db), objstore.New(db).Begin()
	var ids []objstore.ID // of steps, newest first
	ts.Check(r.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindCheckpoint {
			ids = append(ids, op.Checkpoint)
		}
		return nil
	}))
	if len(ids) < 2 {
		ts.Fatalf("plant: two steps are needed, there are %d", len(ids))
	}
	f := refs.File{Path: args[3]}
	id := putTranscript(ts, tx, args[4]+"\n")
	if args[2] == "from" {
		f.From = id
	} else {
		f.To = id
	}
	if args[1] == "operation" {
		op := refs.Operation{
			Time: 1, Kind: refs.KindCheckout, Session: "manual",
			Restore: &refs.Restore{Target: ids[1], Safety: ids[1], Changed: 1, Files: []refs.File{f}},
		}
		_, err = r.Commit(ctx, tx, kv.Durable, func(uint64) ([]refs.Operation, []refs.Update, error) {
			return []refs.Operation{op}, nil, nil
		})
		ts.Check(err)
		return
	}
	j := model.Journal{
		Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: ids[1], Safety: ids[0], Files: []refs.File{f}},
		Before: ids[0], After: ids[0], Stage: "00112233445566aa",
	}
	ts.Check(tx.Batch().Set(model.JournalKey, j.Encode()))
	ts.Check(tx.Commit(ctx, kv.Durable))
}

// putTranscript stores a text as the bytes of a session file are.
func putTranscript(ts *testscript.TestScript, tx *objstore.Tx, text string) objstore.ID {
	blob, err := tx.Put(objstore.Blob, []byte(text), objstore.ID{})
	ts.Check(err)
	n := conversation.Node{Length: int64(len(text)), Tail: blob}
	id, err := tx.Put(objstore.Transcript, n.Encode(), objstore.ID{})
	ts.Check(err)
	return id
}
