package gc_test

import (
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/refs"
)

// objects counts what is in the store.
func objects(p *enginetest.Project) (n int) {
	p.T.Helper()
	for _, k := range objtest.Kinds() {
		p.Must(p.E.Log.Objs.Keys(enginetest.Bg, k, func(objstore.Key, objstore.Info) error {
			n++
			return nil
		}))
	}
	return n
}

// hurt is a store that is to be damaged by a batch: a checkpoint of it that has a tag, and a conversation.
type hurt struct {
	p    *enginetest.Project
	b    *kv.Batch
	cp   *model.Checkpoint
	talk objstore.ID
}

// TestPromise05DamageEndsGC: where anything that must be read is missing or cannot be read, gc fails and no object
// goes, though there is much that nothing leads to.
func TestPromise05DamageEndsGC(t *testing.T) {
	gone := enginetest.TestID("gone")
	drop := func(k objstore.Kind, of func(h hurt) objstore.ID) func(hurt) error {
		return func(h hurt) error {
			key := of(h).Key()
			return h.b.Delete(append([]byte{kv.PrefixObject, byte(k)}, key[:]...))
		}
	}
	journal := func(change func(j *model.Journal)) func(hurt) error {
		return func(h hurt) error {
			j := journalOf([4]objstore.ID{h.cp.ID, h.cp.ID, h.cp.ID, h.cp.ID})
			change(j)
			return h.b.Set(model.JournalKey, j.Encode())
		}
	}
	nonsense := func(k objstore.Kind) func(hurt) error {
		return func(h hurt) error {
			return refs.Repoint(h.b, refs.Tag("bad"), h.p.PutNonsense(k, *h.cp), h.cp.Seq)
		}
	}
	set := func(key func(h hurt) []byte) func(hurt) error {
		return func(h hurt) error { return h.b.Set(key(h), []byte("x")) }
	}
	did := func(op refs.Operation) func(hurt) error {
		return func(h hurt) error {
			if op.Restore != nil && op.Restore.Target.IsZero() {
				op.Restore.Target = h.cp.ID
			}
			return h.p.E.Log.Record(enginetest.Bg, op)
		}
	}
	went := func(r refs.Restore) func(hurt) error {
		return did(refs.Operation{Kind: refs.KindCheckout, Session: model.Manual, Restore: &r})
	}
	session := func() *model.Session { return &model.Session{Name: "claude/b", Agent: "claude", ID: "b"} }
	for name, do := range map[string]func(hurt) error{
		"nothing":      func(hurt) error { return nil }, // then the rest goes
		"content":      drop(objstore.Blob, func(h hurt) objstore.ID { return entryOf(h.p, h.cp, "d/kept") }),
		"directory":    drop(objstore.Tree, func(h hurt) objstore.ID { return entryOf(h.p, h.cp, "d") }),
		"tree":         drop(objstore.Tree, func(h hurt) objstore.ID { return h.cp.Tree }),
		"checkpoint":   drop(objstore.Checkpoint, func(h hurt) objstore.ID { return h.cp.ID }),
		"conversation": drop(objstore.Transcript, func(h hurt) objstore.ID { return h.talk }),
		"what was said": drop(objstore.Blob, func(h hurt) objstore.ID {
			raw, err := h.p.E.Log.Objs.Get(objstore.Transcript, h.talk)
			h.p.Must(err)
			n, err := conversation.DecodeNode(h.talk, raw)
			h.p.Must(err)
			return n.Tail
		}),
		"tree of a step that goes": drop(objstore.Tree, func(h hurt) objstore.ID {
			cp, err := h.p.E.History.Resolve("turn:1")
			h.p.Must(err)
			return cp.Tree
		}),
		"operation's conversation": did(refs.Operation{Kind: refs.KindImport, Session: "claude/b", Transcript: gone}),
		"restore's target":         went(refs.Restore{Target: gone}),
		"restore's result":         went(refs.Restore{Result: gone}),
		"restore's from":           went(refs.Restore{Files: []refs.File{{Path: "/a", From: gone}}}),
		"restore's to":             went(refs.Restore{Files: []refs.File{{Path: "/a", To: gone}}}),
		"checkpoint's bytes":       nonsense(objstore.Checkpoint),
		"tree's bytes":             nonsense(objstore.Tree),
		"conversation's bytes":     nonsense(objstore.Transcript),
		"ref":                      func(h hurt) error { return refs.Repoint(h.b, refs.Tag("bad"), gone, 1) },
		"ref's record":             set(func(hurt) []byte { return []byte("r" + string(refs.Tag("bad"))) }),
		"operation's record":       set(func(h hurt) []byte { return kv.OperationKey(h.cp.Seq) }),
		"session's record":         set(func(hurt) []byte { return model.SessionKey("claude/z") }),
		"journal's record":         set(func(hurt) []byte { return model.JournalKey }),
		"squash record":            set(func(h hurt) []byte { return model.SquashKey(h.cp.ID) }),
		"journal's target":         journal(func(j *model.Journal) { j.Target = gone }),
		"journal's after":          journal(func(j *model.Journal) { j.After = gone }),
		"journal's from":           journal(func(j *model.Journal) { j.Files = []refs.File{{Path: "/a", From: gone}} }),
		"journal's to":             journal(func(j *model.Journal) { j.Files = []refs.File{{Path: "/a", To: gone}} }),
		"journal's made": journal(func(j *model.Journal) {
			j.Made = session()
			j.Made.Cursor.Transcript = gone
		}),
		"journal's moved": journal(func(j *model.Journal) {
			j.Moved = session()
			j.Moved.Cursor.Lost = gone
		}),
	} {
		t.Run(name, func(t *testing.T) {
			p, k := enginetest.TwoTurns(t)
			p.Set("gc.grace", "0s")
			p.Write("d/kept", enginetest.Big("kept"))
			cp := p.Save("tagged")
			_, err := p.E.History.Tag(enginetest.Bg, "kept", cp.ID.String(), false)
			p.Must(err)
			for _, content := range []string{"garbage", "newest"} {
				p.Write("f", enginetest.Big(content))
				p.Save(content)
			}
			p.Settle()
			b := p.E.Log.DB.NewBatch()
			p.Must(do(hurt{p, b, cp, p.Session(k.Name()).Cursor.Transcript}))
			p.Must(b.Commit(enginetest.Bg, kv.Written))
			p.E.Log.Objs = objstore.New(p.E.Log.DB)
			p.E.Log.Refs.Forget()
			before := objects(p)
			r, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 1})
			if fails := name != "nothing"; (err != nil) != fails || (objects(p) == before) != fails {
				t.Errorf("%v, %d objects of %d are left: %+v", err, objects(p), before, r)
			}
		})
	}
}
