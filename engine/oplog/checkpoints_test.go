package oplog_test

import (
	"errors"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
	"rewind/tree"
)

// TestFolded: which steps lists leave out, by the one after each.
func TestFolded(t *testing.T) {
	by := []string{"claude/a"}
	minor := model.Checkpoint{Minor: true, Session: "claude/a", By: by, Cause: model.Cause{Turn: 2}}
	later := func(session string, turn uint64, event string) *model.Checkpoint {
		return &model.Checkpoint{Session: session, By: by, Cause: model.Cause{Turn: turn, Event: event}}
	}
	persons := func(small bool) *model.Checkpoint {
		cp := later("claude/a", 2, "pre-tool-use")
		cp.By, cp.Minor = nil, small
		return cp
	}
	big := minor
	big.Minor = false
	for what, tt := range map[string]struct {
		cp    model.Checkpoint
		later *model.Checkpoint
		want  bool
	}{
		"within a turn":              {minor, later("claude/a", 2, "stop"), true},
		"not minor":                  {big, later("claude/a", 2, "stop"), false},
		"the last":                   {minor, nil, false},
		"another session":            {minor, later("claude/b", 2, "stop"), false},
		"another turn":               {minor, later("claude/a", 3, "stop"), false},
		"before a save":              {minor, later("claude/a", 2, model.EventSave), false},
		"before a person's":          {minor, persons(false), false},
		"before what came into view": {minor, persons(true), true},
		"before an undo":             {minor, later("claude/a", 2, model.EventUndo), false},
	} {
		if got := oplog.Folded(&tt.cp, tt.later); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestNote: the list of a note; of the zero id there is none.
func TestNote(t *testing.T) {
	p := enginetest.NewProject(t)
	skips := []tree.Skip{{Path: "a", Reason: tree.ReasonIgnored}, {Path: "b", Reason: tree.ReasonPipe}}
	raw, err := tree.EncodeNote(skips)
	p.Must(err)
	tx := p.E.Log.Objs.Begin()
	id, err := tx.Put(objstore.Note, raw, objstore.Zero)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	got, err := p.E.Log.Note(&model.Checkpoint{Note: id})
	p.Must(err)
	enginetest.Equal(t, "note", got, skips)
	if got, err := p.E.Log.NoteOf(objstore.Zero); err != nil || got != nil {
		t.Errorf("no note: %v, %v", got, err)
	}
	if got, err := p.E.Log.NoteOf(enginetest.TestID("none")); !errors.Is(err, objstore.ErrNotFound) || got != nil {
		t.Errorf("a note that is gone: %v, %v", got, err)
	}
}

// TestBefore: what a checkpoint's changes are counted from.
func TestBefore(t *testing.T) {
	base, parent := enginetest.TestID("base"), enginetest.TestID("parent")
	broken := errors.New("broken")
	for what, tt := range map[string]struct {
		cp    model.Checkpoint
		err   error
		want  objstore.ID
		reads int
	}{
		"its base":       {model.Checkpoint{Base: base, Parents: []objstore.ID{parent}}, nil, base, 0},
		"the first":      {model.Checkpoint{}, nil, objstore.Zero, 0},
		"its parent":     {model.Checkpoint{Parents: []objstore.ID{parent, base}}, nil, enginetest.TestID("tree"), 1},
		"a lost parent":  {model.Checkpoint{Parents: []objstore.ID{parent}}, broken, objstore.Zero, 1},
		"base and first": {model.Checkpoint{Base: base}, nil, base, 0},
	} {
		n := 0
		got, err := oplog.Before(&tt.cp, func(id objstore.ID) (*model.Checkpoint, error) {
			if n++; id != parent {
				t.Errorf("%s: %s is read", what, id.Short())
			}
			return &model.Checkpoint{Tree: enginetest.TestID("tree")}, tt.err
		})
		if got != tt.want || !errors.Is(err, tt.err) || n != tt.reads {
			t.Errorf("%s: %s, %v, %d reads", what, got.Short(), err, n)
		}
	}
}

// put stores a checkpoint.
func put(p *enginetest.Project, cp model.Checkpoint) *model.Checkpoint {
	p.T.Helper()
	cp.Time = p.Tick
	tx := p.E.Log.Objs.Begin()
	p.Must(p.E.Log.PutCheckpoint(tx, &cp, cp.Seq))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	return &cp
}

// read gives a checkpoint by both readers, which must agree.
func read(p *enginetest.Project, id objstore.ID) *model.Checkpoint {
	p.T.Helper()
	cp, err := p.E.Log.Checkpoint(id)
	p.Must(err)
	other, err := p.E.Log.Checkpoints()(id)
	p.Must(err)
	if string(cp.Encode()) != string(other.Encode()) || cp.Merged != other.Merged {
		p.T.Fatalf("%+v, and of many %+v", cp, other)
	}
	return cp
}

// TestLostParents: a line begins with the first checkpoint whose parent is lost.
func TestLostParents(t *testing.T) {
	p := enginetest.NewProject(t)
	var parents []objstore.ID
	for _, name := range []string{"there", "purged", "lost", "behind"} {
		parents = append(parents, put(p, model.Checkpoint{Seq: 1, Tree: enginetest.TestID(name)}).ID)
	}
	cp := put(p, model.Checkpoint{Seq: 2, Tree: enginetest.TestID("x"), Parents: parents})
	enginetest.Equal(t, "whole", read(p, cp.ID).Parents, parents)
	taken(p, objstore.Checkpoint, parents[1], objstore.Purged)
	enginetest.Equal(t, "one is purged", read(p, cp.ID).Parents, parents)
	taken(p, objstore.Checkpoint, parents[2], objstore.Lost)
	enginetest.Equal(t, "one is lost", read(p, cp.ID).Parents, parents[:2])
	for _, get := range []func(objstore.ID) (*model.Checkpoint, error){p.E.Log.Checkpoint, p.E.Log.Checkpoints()} {
		if cp, err := get(parents[2]); !errors.Is(err, objstore.ErrLost) || cp != nil {
			t.Errorf("the lost one: %+v, %v", cp, err)
		}
	}
	broken := errors.New("broken")
	if got, err := p.E.Log.Orphaned(cp, broken); !errors.Is(err, broken) || got != nil {
		t.Errorf("an error: %+v, %v", got, err)
	}
}

// TestPutCheckpoint: it has the sequence, and the id of what was stored.
func TestPutCheckpoint(t *testing.T) {
	p := enginetest.NewProject(t)
	cp := put(p, model.Checkpoint{Seq: 7, Tree: enginetest.TestID("x"), Session: "claude/a"})
	if got := read(p, cp.ID); got.Seq != 7 || cp.Seq != 7 || got.ID != cp.ID || got.Session != "claude/a" {
		t.Errorf("%+v is read as %+v", cp, got)
	}
}

// TestSquashed: a checkpoint is as its squash record says; whether there are any is asked once.
func TestSquashed(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	plain := put(p, model.Checkpoint{Seq: 1, Tree: enginetest.TestID("a")})
	gone := []objstore.ID{enginetest.TestID("gone")}
	merged := put(p, model.Checkpoint{Seq: 2, Tree: enginetest.TestID("b"), Parents: gone})
	broken := put(p, model.Checkpoint{Seq: 3, Tree: enginetest.TestID("c")})
	check := func(what string, none bool, want uint64) {
		t.Helper()
		if got := read(p, merged.ID).Merged; got != want || log.NoSquashes() != none {
			t.Errorf("%s: %d merged, known that there are none: %v", what, got, log.NoSquashes())
		}
		if got := read(p, plain.ID); got.Merged != 0 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	forget(p)
	check("none", true, 0)
	squash := model.Squash{Parent: plain.ID, Merged: 3}
	set(p, model.SquashKey(merged.ID), squash.Encode())
	check("not asked again", true, 0)
	forget(p)
	check("some", false, 3)
	enginetest.Equal(t, "parents", read(p, merged.ID).Parents, []objstore.ID{plain.ID})
	set(p, model.SquashKey(broken.ID), []byte{0xff})
	for _, get := range []func(objstore.ID) (*model.Checkpoint, error){log.Checkpoint, log.Checkpoints()} {
		if cp, err := get(broken.ID); !errors.Is(err, kv.ErrCorrupt) || cp != nil {
			t.Errorf("a broken record: %+v, %v", cp, err)
		}
	}
}

// TestCheckpointsAreReadOnce: what one reader has read the next one has, until the log is rewritten, or nothing is
// asked for and they are many; what the one does with its checkpoint is not seen by the next.
func TestCheckpointsAreReadOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	near := put(p, model.Checkpoint{Seq: 1, Tree: enginetest.TestID("a"), Session: model.Manual})
	get := func(id objstore.ID) uint64 {
		before := log.DB.Reads()
		cp, err := log.Checkpoints()(id)
		p.Must(err)
		if cp.ID != id {
			t.Errorf("%s is %+v", id.Short(), cp)
		}
		return log.DB.Reads() - before
	}
	read(p, near.ID)
	if n := get(near.ID); n != 0 {
		t.Errorf("%d keys are read again", n)
	}
	log.Rewrote()
	if get(near.ID) == 0 || get(near.ID) != 0 {
		t.Error("a rewritten log is not read again, once")
	}
	its, err := log.Checkpoints()(near.ID)
	p.Must(err)
	its.Session = "somebody's"
	if got := read(p, near.ID); got.Session != model.Manual {
		t.Errorf("it is %q now", got.Session)
	}
	log.TrimCaches()
	if get(near.ID) != 0 {
		t.Error("the few that are read always are given up")
	}
	many := log.Checkpoints()
	for seq := range uint64(1100) {
		_, err := many(put(p, model.Checkpoint{Seq: seq + 2, Tree: enginetest.TestID("a"), Session: model.Manual}).ID)
		p.Must(err)
	}
	log.TrimCaches()
	if get(near.ID) == 0 {
		t.Error("a list of all turns is kept")
	}
}

// TestCheckpointsCountTurns: of many, each has the number that its turn has in the conversation.
func TestCheckpointsCountTurns(t *testing.T) {
	p := enginetest.NewProject(t)
	began := record(p, turnEvent("claude/a", 1, "prompt"))
	set(p, model.SessionKey("claude/a"), fork("claude/a", began, 2, p.E.Log.Now()).Encode())
	cause := model.Cause{Turn: 1}
	cp := put(p, model.Checkpoint{Seq: began, Session: "claude/a", Tree: enginetest.TestID("a"), Cause: cause})
	for range 2 {
		got, err := p.E.Log.Checkpoints()(cp.ID)
		p.Must(err)
		if got.Cause.Turn != 3 {
			t.Errorf("turn %d", got.Cause.Turn)
		}
	}
}

// TestMessages: the messages beside a checkpoint, the newest of them, and each once in a row.
func TestMessages(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	cp, other := p.Save("first"), put(p, model.Checkpoint{Seq: 1, Tree: enginetest.TestID("a")})
	on := func(cp *model.Checkpoint, message string, want bool) {
		t.Helper()
		before := p.E.Log.DB.LastSeq()
		gives(t, message, want)(p.E.Log.PutMessage(enginetest.Bg, cp, message))
		op, err := p.E.Log.Refs.Operation(p.E.Log.DB.LastSeq())
		p.Must(err)
		says := op.Kind == refs.KindNote && op.Checkpoint == cp.ID && op.Message == message
		if made := op.Seq != before; made != want || made && !says {
			t.Errorf("%q: operation %d after %d: %+v", message, op.Seq, before, op)
		}
	}
	list := func(cp *model.Checkpoint, want ...string) {
		t.Helper()
		got, err := p.E.Log.MessagesOn(cp.ID)
		p.Must(err)
		enginetest.Equal(t, "messages", got, want)
		all, err := p.E.Log.AllMessages()
		p.Must(err)
		enginetest.Equal(t, "of all", all[cp.ID.Key()], want)
	}
	list(cp)
	on(cp, "first", false)
	on(cp, "second", true)
	on(cp, "second", false)
	on(cp, "first", true)
	on(other, "other", true)
	list(cp, "second", "first")
	list(other, "other")
	want := []string{"second", "first"}
	for i := range model.MaxMessages {
		want = append(want, string(rune('A'+i)))
		on(cp, want[len(want)-1], true)
		want = want[max(len(want)-model.MaxMessages, 0):]
		list(cp, want...)
	}
	set(p, model.MessageKey(cp.ID), []byte{0xff})
	set(p, append(slices.Clone(model.MessageKey(cp.ID)), 'x'), model.EncodeMessages([]string{"long"}))
	list(cp)
	all, err := p.E.Log.AllMessages()
	p.Must(err)
	if len(all) != 1 {
		t.Errorf("of all: %v", all)
	}
}

// TestJournal: a store with a journal is half done; that it is whole is remembered until the log is read again.
func TestJournal(t *testing.T) {
	p := enginetest.NewProject(t)
	log := p.E.Log
	forget(p)
	check := func(what string, there, half, whole bool) {
		t.Helper()
		j, err := log.ReadJournal()
		if err != nil || (j != nil) != there {
			t.Errorf("%s: %+v, %v", what, j, err)
		}
		var of *model.HalfDoneError
		err = log.CheckWhole()
		again := asked(p, func() error {
			if err := log.CheckWhole(); err != nil && !half {
				return err
			}
			return nil
		})
		if errors.As(err, &of) != half || (err == nil) == half || (again == 0) != whole {
			t.Errorf("%s: %v, and asked again %d keys are read", what, err, again)
		}
		if half && of.Target != enginetest.TestID("t") {
			t.Errorf("%s: to %s", what, of.Target.Short())
		}
	}
	set(p, model.JournalKey, enginetest.SampleJournal().Encode())
	check("begun", true, true, false)
	tx := log.Objs.Begin()
	p.Must(tx.Batch().Delete(model.JournalKey))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	check("done", false, false, true)
	set(p, model.JournalKey, enginetest.SampleJournal().Encode())
	check("known to be whole", true, false, true)
	forget(p)
	check("looked at again", true, true, false)
	set(p, model.JournalKey, []byte{0xff})
	for range 2 {
		if err := log.CheckWhole(); err == nil || errors.Is(err, model.ErrHalfDone) {
			t.Errorf("a broken journal: %v", err)
		}
	}
	tx = log.Objs.Begin()
	p.Must(tx.Batch().Delete(model.JournalKey))
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
}

// TestCheckpointsOnce: both readers read the same, and only one of them keeps what it has read.
func TestCheckpointsOnce(t *testing.T) {
	p := enginetest.NewProject(t)
	a := put(p, model.Checkpoint{Seq: 1, Tree: enginetest.TestID("a")})
	b := put(p, model.Checkpoint{Seq: 2, Tree: enginetest.TestID("b"), Parents: []objstore.ID{a.ID}})
	allocations := func() float64 {
		return testing.AllocsPerRun(10, func() {
			cp, err := p.E.Log.CheckpointsOnce()(b.ID)
			if err != nil || cp.ID != b.ID {
				t.Errorf("%+v, %v", cp, err)
			}
		})
	}
	unkept := allocations()
	got, err := p.E.Log.CheckpointsOnce()(b.ID)
	p.Must(err)
	if want := read(p, b.ID); string(got.Encode()) != string(want.Encode()) {
		t.Errorf("%+v, and of few %+v", got, want)
	}
	if kept := allocations(); kept >= unkept {
		t.Errorf("one that is kept takes %v allocations, before it was kept %v", kept, unkept)
	}
	cp, err := p.E.Log.CheckpointsOnce()(enginetest.TestID("none"))
	if !errors.Is(err, objstore.ErrNotFound) || cp != nil {
		t.Errorf("one that is not there: %+v, %v", cp, err)
	}
}
