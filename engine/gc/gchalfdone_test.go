package gc_test

import (
	"errors"
	"fmt"
	"testing"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/gc"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// entryOf is what a path of a checkpoint names.
func entryOf(p *enginetest.Project, cp *model.Checkpoint, path string) objstore.ID {
	p.T.Helper()
	ent, err := tree.Lookup(p.E.Log.Objs, cp.Tree, path)
	p.Must(err)
	return ent.ID
}

// setJournal has the store say that a restore is under way; nil: that none is.
func setJournal(p *enginetest.Project, j *model.Journal) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	if j == nil {
		p.Must(b.Delete(model.JournalKey))
	} else {
		p.Must(b.Set(model.JournalKey, j.Encode()))
	}
	p.Must(b.Commit(enginetest.Bg, kv.Written))
}

// journalOf is a journal of an unfinished restore: its target, its safety step, the cursor before and after.
func journalOf(ids [4]objstore.ID) *model.Journal {
	return &model.Journal{
		Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: ids[0], Safety: ids[1]},
		Before: ids[2], After: ids[3], Stage: "0011223344556677",
	}
}

// TestHalfDoneRestoreStays: a restore that was cut short can be ended either way after a gc, with files and
// conversation.
func TestHalfDoneRestoreStays(t *testing.T) {
	for _, o := range []restore.Options{{}, {InPlace: true}} {
		for _, applied := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				p, k := enginetest.TwoTurns(t)
				p.Set("gc.grace", "0s")
				p.Set("gc.keep_safety", "0s")
				p.Write("f", enginetest.Big("unsaved"))
				before, said := enginetest.List(t, p.Root), p.Slurp(k.File)
				p.Crashed("turn:1", o, applied, 0)
				p.Gc(gc.Options{Keep: 1})
				p.Reopen()
				p.Gc(gc.Options{Keep: 1})
				if back {
					_, err := p.E.Restorer.Abort(enginetest.Bg, p.Env())
					p.Must(err)
					p.WantTree(before)
					if p.Slurp(k.File) != said {
						t.Errorf("%+v, applied %v: the conversation is another one", o, applied)
					}
				} else {
					r, err := p.E.Restorer.Continue(enginetest.Bg, p.Env())
					p.Must(err)
					if p.Read("f") != enginetest.Big("1") {
						t.Errorf("%+v, applied %v: at %q", o, applied, p.Read("f"))
					}
					p.WantTalk(r.Conversation.Path, "done: one", "one")
				}
				p.Sound()
			}
		}
	}
}

// TestJournalKeepsCheckpoints: whatever checkpoint an unfinished restore names stays, also where gc is at work when the
// restore begins.
func TestJournalKeepsCheckpoints(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	named := 0
	for part := range 4 {
		for n := 0; ; n++ {
			for i := range 6 {
				p.Write("f", enginetest.Big(fmt.Sprint(part, n, i)))
				p.Save("")
			}
			l := p.Listed()
			old := l[4].Checkpoint
			ids := [4]objstore.ID{l[0].ID, l[0].ID, l[0].ID, l[0].ID}
			ids[part] = old.ID
			calls, kept := 0, n == 0
			if n == 0 {
				setJournal(p, journalOf(ids))
			}
			r, err := p.E.Collector.GC(enginetest.Bg, gc.Options{Keep: 2, Progress: func(int, int64) {
				if calls++; calls != n || !p.E.Log.TryLock() {
					return
				}
				p.E.Log.Unlock()
				if kept = p.Has(old); kept {
					setJournal(p, journalOf(ids))
				}
			}})
			p.Must(err)
			if kept {
				named++
				if !p.Has(old) || p.Cat(old, "f") != enginetest.Big(fmt.Sprint(part, n, 1)) {
					t.Fatalf("part %d, named at call %d, and gone", part, n)
				}
			}
			if r.Checkpoints == 0 {
				t.Errorf("part %d, call %d: nothing goes", part, n)
			}
			setJournal(p, nil)
			if calls < n {
				break
			}
		}
		p.Sound()
	}
	if named < 12 {
		t.Errorf("%d were named", named)
	}
}

// TestJournalKeepsObjects: what only the journal of an unfinished restore names stays until that has ended: contents
// and directories of its steps, session files, and the conversations of the sessions that it changes. What was
// never stored is no fault.
func TestJournalKeepsObjects(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Set("gc.grace", "0s")
	p.Write("f", enginetest.Big("1"))
	cp := p.Save("one")
	tx := p.E.Log.Objs.Begin()
	var all []model.Object
	put := func(k objstore.Kind, raw []byte) objstore.ID {
		id, err := tx.Put(k, raw, objstore.ID{})
		p.Must(err)
		all = append(all, model.Object{Kind: k, Id: id})
		return id
	}
	talk := func(text string) objstore.ID {
		w := conversation.Writer{Tx: tx}
		_, err := w.Write([]byte(text))
		p.Must(err)
		id, err := w.Close()
		p.Must(err)
		all = append(all, model.Object{Kind: objstore.Transcript, Id: id})
		all = append(all, model.Object{Kind: objstore.Blob, Id: w.Tail})
		return id
	}
	file := func(name string, typ byte, id objstore.ID) *tree.Entry {
		return &tree.Entry{Name: name, Type: typ, Perm: 0o644, ID: id}
	}
	below := file("below", tree.TypeFile, put(objstore.Blob, []byte("below")))
	raw, err := tree.Encode([]tree.Entry{*below})
	p.Must(err)
	j := journalOf([4]objstore.ID{cp.ID, cp.ID, cp.ID, cp.ID})
	j.Steps = []tree.Change{
		{Path: "a", Old: file("a", tree.TypeFile, put(objstore.Blob, []byte("old"))), New: nil},
		{Path: "b", New: file("b", tree.TypeSymlink, put(objstore.Blob, []byte("new")))},
		{Path: "c", Old: file("c", tree.TypeFile, enginetest.TestID("never stored")), New: nil},
		{Path: "d", New: file("d", tree.TypeDir, put(objstore.Tree, raw))},
	}
	j.Files = []refs.File{{Path: "/a", From: talk("from"), To: talk("to")}}
	j.Made = &model.Session{
		Name: "claude/b", Agent: "claude", ID: "b", Fork: &model.Lineage{Turns: []int{1}, Transcript: talk("began as")},
	}
	j.Made.Fork.Session, j.Made.Fork.Kind = "claude/a", "fork"
	j.Moved = &model.Session{Name: "claude/a", Agent: "claude", ID: "a"}
	j.Moved.Cursor.Transcript, j.Moved.Cursor.Lost = talk("said"), talk("lost")
	p.Must(tx.Commit(enginetest.Bg, kv.Written))
	setJournal(p, j)
	for _, unfinished := range []bool{true, false} {
		if !unfinished {
			setJournal(p, nil)
		}
		p.Collect(gc.Options{})
		for i, o := range all {
			err := p.E.Log.Objs.Verify(enginetest.Bg, o.Kind, o.Id)
			if unfinished && err != nil || !unfinished && !errors.Is(err, objstore.ErrNotFound) {
				t.Errorf("unfinished %v, object %d, a %s: %v", unfinished, i, o.Kind, err)
			}
		}
	}
	p.Sound()
}
