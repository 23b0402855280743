package fsck_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewind/engine/conversation"
	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/purge"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/agentfiles"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/objstore/objtest"
	"rewind/refs"
)

// faults are those that a check finds.
func faults(p *enginetest.Project, full bool) []error {
	p.T.Helper()
	f, err := p.E.Checker.Verify(enginetest.Bg, full, nil, nil)
	p.Must(err)
	return f.Faults
}

// TestDamagedSessions: a session whose record cannot be read begins anew, and the bytes are kept; of one whose record
// names a conversation that is lost only that goes.
func TestDamagedSessions(t *testing.T) {
	gone := enginetest.TestID("gone")
	same := func(was model.Cursor) model.Cursor { return was }
	for name, c := range map[string]struct {
		hurt func(s *model.Session)
		says string
		left func(was model.Cursor) model.Cursor
	}{
		"record": {nil, "begins anew", nil},
		"what it is": {
			func(s *model.Session) { s.Cursor.Transcript, s.Cursor.Generation = gone, 3 }, "is captured anew",
			func(model.Cursor) model.Cursor {
				return model.Cursor{TranscriptEnd: model.TranscriptEnd{Generation: 3}}
			},
		},
		"what was": {func(s *model.Session) { s.Cursor.Lost = gone }, "is captured anew", same},
		"began as": {func(s *model.Session) {
			s.Fork = &model.Lineage{Turns: []int{1}, Transcript: gone}
			s.Fork.Session, s.Fork.Kind = "claude/z", "fork"
		}, "is captured anew", same},
	} {
		t.Run(name, func(t *testing.T) {
			p, k := enginetest.TwoTurns(t)
			p.Settle()
			was := p.Session(k.Name())
			hurt, raw := was, []byte("x")
			if c.hurt != nil {
				c.hurt(&hurt)
				raw = hurt.Encode()
			}
			damage(p, func(b *kv.Batch) error { return b.Set(model.SessionKey(k.Name()), raw) })
			for _, full := range []bool{false, true} {
				if list := faults(p, full); len(list) != 1 || !strings.Contains(list[0].Error(), "session "+k.Name()) {
					t.Errorf("full %v: %v", full, list)
				}
			}
			r := repair(p)
			if !says(r, "session "+k.Name()+" "+c.says) {
				t.Errorf("%q", r.Done)
			}
			kept, err := os.ReadFile(filepath.Join(r.Quarantine, fmt.Sprintf("session-%x", k.Name())))
			if (err == nil) != (c.hurt == nil) || err == nil && string(kept) != "x" {
				t.Errorf("kept is %q, %v", kept, err)
			}
			if c.hurt != nil {
				now := p.Session(k.Name())
				if now.Cursor != c.left(was.Cursor) || now.Fork != nil && !now.Fork.Transcript.IsZero() {
					t.Errorf("the session is %+v, was %+v", now, was)
				}
			}
			k.Take("on", p.Edits("f", "3"))
			p.Settle()
			if got := string(p.Talk(p.Session(k.Name()))); got != p.Slurp(k.File) {
				t.Errorf("%d bytes are captured of %d", len(got), len(p.Slurp(k.File)))
			}
			p.Verify()
		})
	}
}

// TestConversationsOfAllAgents: what is lost of a conversation is stored again from the session file of whichever
// agent, but not from one that has changed.
func TestConversationsOfAllAgents(t *testing.T) {
	for _, agent := range []hooks.Agent{hooks.Claude, hooks.Codex, hooks.Gemini, hooks.Droid} {
		for _, changed := range []string{"", "within", "cut"} {
			t.Run(string(agent)+changed, func(t *testing.T) {
				p := enginetest.NewProject(t)
				p.Write("f", "1")
				s := p.Scribe(agent, enginetest.ClaudeID(7))
				for _, text := range []string{"one", "two"} {
					s.Tell(hooks.Prompt, map[string]any{"prompt": text})
					s.Asked(text)
					s.Does("f", text)
					s.Says("done " + text)
					s.Tell(hooks.Stop, nil)
				}
				p.Settle()
				was := p.Session(s.Name())
				want := string(p.Talk(was))
				switch file := p.Slurp(s.File); changed {
				case "within":
					file = strings.Replace(file, "one", "eno", 1)
					p.Must(os.WriteFile(s.File, []byte(file), 0o600))
				case "cut":
					p.Must(os.WriteFile(s.File, []byte(file[:len(file)/2]), 0o600))
				}
				drop(p, model.Object{Kind: objstore.Transcript, Id: was.Cursor.Transcript})
				r := repair(p)
				again := says(r, "stored again, from the working tree and the session files")
				now := p.Session(s.Name())
				if changed == "" {
					if !again || len(r.Left.Affected) > 0 || string(p.Talk(now)) != want {
						t.Errorf("%q, affected are %+v", r.Done, r.Left.Affected)
					}
					return
				}
				if again || now.Cursor.Transcript == was.Cursor.Transcript || len(r.Left.Lost) != 1 {
					t.Errorf("%q, lost are %+v", r.Done, r.Left.Lost)
				}
			})
		}
	}
}

// TestCheckOfJournal: what the journal of an unfinished restore names is checked, and that its session files are an
// agent's. A repair waits for the restore to end, unless it cannot.
func TestCheckOfJournal(t *testing.T) {
	gone := enginetest.TestID("gone")
	for name, c := range map[string]struct {
		hurt   func(j *model.Journal)
		fault  string // "": none
		begins bool   // the repair
	}{
		"sound":        {func(*model.Journal) {}, "", false},
		"target":       {func(j *model.Journal) { j.Target = gone }, "verify journal: checkpoint", true},
		"safety":       {func(j *model.Journal) { j.Safety = gone }, "verify journal: checkpoint", true},
		"conversation": {func(j *model.Journal) { j.Files = []refs.File{{To: gone}} }, "verify journal: conv", false},
		"foreign file": {func(j *model.Journal) { j.Files = []refs.File{{Path: "/x"}} }, "the journal names", false},
	} {
		p, k := enginetest.TwoTurns(t)
		one := p.Save("one")
		p.Write("f", "2")
		two := p.Save("two")
		j := &model.Journal{
			Kind: refs.KindCheckout, Session: model.Manual, Restore: refs.Restore{Target: one.ID, Safety: two.ID},
			Before: two.ID, After: one.ID, Stage: "0011223344556677",
		}
		c.hurt(j)
		for i := range j.Files {
			j.Files[i].Path = cmp.Or(j.Files[i].Path, k.File)
			j.Files[i].From = p.Session(k.Name()).Cursor.Transcript
		}
		damage(p, func(b *kv.Batch) error { return b.Set(model.JournalKey, j.Encode()) })
		list := faults(p, false)
		text := ""
		for _, err := range list {
			text += err.Error()
		}
		if len(list) > 1 || !strings.HasPrefix(text, c.fault) || (text == "") != (c.fault == "") {
			t.Errorf("%s: %v", name, list)
		}
		if foreign := name == "foreign file"; errors.Is(errors.Join(list...), agentfiles.ErrForeign) != foreign {
			t.Errorf("%s: %v", name, list)
		}
		_, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
		if (err == nil) != c.begins || errors.Is(err, model.ErrHalfDone) == c.begins {
			t.Errorf("%s: repair: %v", name, err)
		}
	}
}

// TestNonsense: an object whose bytes are those of its id, but none that it could have, is a fault, whatever kind it is
// of.
func TestNonsense(t *testing.T) {
	for _, k := range []objstore.Kind{objstore.Checkpoint, objstore.Tree, objstore.Note, objstore.Transcript} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		cp := *p.Save("one")
		id := p.PutNonsense(k, cp)
		damage(p, func(b *kv.Batch) error { return refs.Repoint(b, refs.Tag("t"), id, cp.Seq) })
		for _, full := range []bool{false, true} {
			if list := faults(p, full); len(list) != 1 {
				t.Errorf("%s, full %v: %v", k, full, list)
			}
		}
		r, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
		p.Must(err)
		if len(r.Left.Faults) > 0 || !says(r, "1 object marked as lost") {
			t.Errorf("%s: %q, %v", k, r.Done, r.Left.Faults)
		}
		id, err = p.E.Log.Refs.ID(refs.Tag("t"))
		if p.Must(err); id.IsZero() != (k == objstore.Checkpoint) {
			t.Errorf("%s: the tag is at %s; %q", k, id.Short(), r.Done)
		}
	}
}

// TestPurgedIsNoFault: what was taken out on purpose is not missed, and no repair looks for it.
func TestPurgedIsNoFault(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("secret", noise(1))
	o := blobOf(p, p.Save("one"), "secret")
	p.Purge(purge.Options{Blobs: []string{o.Id.String()}})
	for _, full := range []bool{false, true} {
		f, err := p.E.Checker.Verify(enginetest.Bg, full, nil, nil)
		p.Must(err)
		if len(f.Faults)+len(f.Lost)+len(f.Affected) > 0 {
			t.Errorf("full %v: %+v", full, f)
		}
	}
	if r := repair(p); r.Operation != nil {
		t.Errorf("%q", r.Done)
	}
}

// TestLostOfLargeFile: a quick check misses a part of a file that is stored in parts. It is stored again from wherever
// the working tree has the file.
func TestLostOfLargeFile(t *testing.T) {
	var large strings.Builder
	for i := 0; large.Len() <= objstore.ChunkThreshold; i++ {
		large.WriteString(strconv.Itoa(i*i*7919) + "\n")
	}
	p := enginetest.NewProject(t)
	p.Write("large", large.String())
	o := blobOf(p, p.Save("one"), "large")
	parts, err := p.E.Log.Objs.Deps(objstore.Blob, o.Id.Key())
	p.Must(err)
	if len(parts) < 2 {
		t.Fatalf("the file has %d parts", len(parts))
	}
	p.Must(os.Rename(p.Path("large"), p.Path("moved")))
	damage(p, func(b *kv.Batch) error {
		return b.Delete(append([]byte{kv.PrefixObject, byte(objstore.Blob)}, parts[1][:]...))
	})
	for _, full := range []bool{false, true} {
		if list := faults(p, full); len(list) != 1 {
			t.Errorf("full %v: %v", full, list)
		}
	}
	r, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
	if p.Must(err); len(r.Left.Lost)+len(r.Left.Faults) > 0 || !says(r, "1 object stored again") {
		t.Errorf("%q, left are %+v", r.Done, r.Left)
	}
}

// TestLostLinks: where a link leads is stored again from the link, if it leads there still. Files deep down are named
// by their whole paths.
func TestLostLinks(t *testing.T) {
	p := enginetest.NewProject(t)
	for _, name := range []string{"same", "other"} {
		p.Must(os.Symlink("somewhere/"+name, p.Path(name)))
	}
	p.Write("d/e/f", noise(1))
	cp := p.Save("one")
	all := []model.Object{blobOf(p, cp, "same"), blobOf(p, cp, "other"), blobOf(p, cp, "d/e/f")}
	p.Write(".gitignore", "same\nother\n")
	p.Remove("other", "d")
	p.Must(os.Symlink("elsewhere", p.Path("other")))
	drop(p, all...)
	r := repair(p)
	if !says(r, "1 object stored again") || len(r.Left.Affected) != 1 ||
		!slices.Equal(value.Strings(r.Left.Affected[0].Paths), []string{"d/e/f", "other"}) {
		t.Errorf("%q, affected are %+v", r.Done, r.Left.Affected)
	}
}

// TestLostTags: a tag that cannot be read is where the log says, or nowhere if the log says that it was taken away. One
// on a checkpoint that is lost is lost.
func TestLostTags(t *testing.T) {
	p := enginetest.NewProject(t)
	var cps []*model.Checkpoint
	for i := range 3 {
		p.Write("f", fmt.Sprint(i))
		cps = append(cps, p.Save(fmt.Sprint(i)))
	}
	tag := func(name string, cp *model.Checkpoint) {
		_, err := p.E.History.Tag(enginetest.Bg, name, cp.ID.String(), false)
		p.Must(err)
	}
	tag("unread", cps[1])
	tag("taken", cps[1])
	p.Must(p.E.History.Untag(enginetest.Bg, "taken"))
	tag("lost", cps[2])
	tag("sound", cps[1])
	damage(p, func(b *kv.Batch) error {
		return errors.Join(b.Set([]byte("r"+string(refs.Tag("unread"))), []byte("x")),
			b.Set([]byte("r"+string(refs.Tag("taken"))), []byte("x")))
	})
	drop(p, model.Object{Kind: objstore.Checkpoint, Id: cps[2].ID})
	r := repair(p)
	for name, want := range map[string]objstore.ID{"unread": cps[1].ID, "taken": {}, "lost": {}, "sound": cps[1].ID} {
		id, err := p.E.Log.Refs.ID(refs.Tag(name))
		if p.Must(err); id != want {
			t.Errorf("%s is at %s; %q", name, id.Short(), r.Done)
		}
	}
	lost := fmt.Sprintf("ref %s is lost: no checkpoint of it can be read", refs.Tag("lost"))
	if !says(r, fmt.Sprintf("ref %s set to checkpoint %s", refs.Tag("unread"), cps[1].ID.Short())) || !says(r, lost) {
		t.Errorf("%q", r.Done)
	}
}

// TestOldTablesNames: in a database that was made anew a name that is older than the log's word is set to that; else it
// is believed.
func TestOldTablesNames(t *testing.T) {
	for _, rebuilt := range []bool{false, true} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		one := p.Save("one")
		p.Write("f", "2")
		two := p.Save("two")
		name := refs.Cursor(model.Manual)
		damage(p, func(b *kv.Batch) error { return refs.Repoint(b, name, one.ID, one.Seq) })
		_, err := p.E.Checker.Repair(enginetest.Bg, &kv.Repaired{Rebuilt: rebuilt}, nil)
		p.Must(err)
		want := one.ID
		if rebuilt {
			want = two.ID
		}
		if id, err := p.E.Log.Refs.ID(name); err != nil || id != want {
			t.Errorf("tables anew %v: %s, %v", rebuilt, id.Short(), err)
		}
	}
}

// TestEventsOfLostCheckpoints: an event that found a checkpoint which is lost names it no more, and stays an event.
func TestEventsOfLostCheckpoints(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	p.Save("one")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	cp := p.Get(a.Run("1", func() { p.Write("f", "2") }))
	a.Run("2", func() {})
	a.Stop()
	kinds := func() map[uint64]refs.Operation {
		all := map[uint64]refs.Operation{}
		p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
			all[op.Seq] = *op
			return nil
		}))
		return all
	}
	before := kinds()
	drop(p, model.Object{Kind: objstore.Checkpoint, Id: cp.ID})
	repair(p)
	events := 0
	for seq, now := range kinds() {
		was, ok := before[seq]
		switch {
		case !ok || was.Checkpoint != cp.ID:
		case was.Kind == refs.KindEvent:
			events++
			was.Checkpoint = objstore.ID{}
			if fmt.Sprint(now) != fmt.Sprint(was) {
				t.Errorf("the event is %+v, was %+v", now, was)
			}
		case now.Kind != refs.KindLost:
			t.Errorf("the step is %+v", now)
		}
	}
	if events == 0 {
		t.Error("no event had found the checkpoint")
	}
}

// TestMadeAgain: operations that are lost are made again of their checkpoints as they were: steps, states before
// restores, and those behind the end of the log that is left. Of two checkpoints with one place the later is believed.
func TestMadeAgain(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	a := p.Agent("a")
	a.Start()
	a.Prompt("go")
	step := p.Get(a.Run("1", func() { p.Write("f", "2") }))
	p.Write("f", "unsaved")
	p.Checkout(one.ID.String(), restore.Options{})
	p.Write("f", "3")
	p.Save("three")
	before := map[uint64]refs.Operation{}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind == refs.KindSafety || op.Checkpoint == step.ID && op.Kind == refs.KindCheckpoint {
			before[op.Seq] = *op
		}
		return nil
	}))
	p.PutNonsense(objstore.Checkpoint, *one) // is nobody's, and in nobody's way
	damage(p, func(b *kv.Batch) error {
		for seq := range before {
			p.Must(b.Set(kv.OperationKey(seq), []byte("x")))
		}
		return nil
	})
	r := repair(p)
	for seq, was := range before {
		now, err := p.E.Log.Refs.Operation(seq)
		p.Must(err)
		told := func(op *refs.Operation) string { // a safety step is in no turn
			turn := op.Turn
			if op.Kind == refs.KindSafety {
				turn = 0
			}
			return fmt.Sprint(op.Kind, op.Checkpoint, op.Session, op.Time, op.Cause.Event, turn)
		}
		if told(now) != told(&was) {
			t.Errorf("%d is %+v, was %+v", seq, now, was)
		}
	}
	if len(before) != 2 || len(r.Left.LostOps) > 0 || says(r, "stand as lost") {
		t.Errorf("%d are made again: %q, %v", len(before), r.Done, r.Left.LostOps)
	}
}

// TestLaterIsBelieved: of two checkpoints with one place in the log the operation is made again of the later one.
func TestLaterIsBelieved(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, time.Hour} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		p.Save("one")
		p.Write("f", "2")
		two := p.Save("two")
		p.Write("f", "3")
		p.Save("three")
		want, other := two.ID, *two
		other.Time = other.Time.Add(d)
		tx := p.E.Log.Objs.Begin()
		p.Must(p.E.Log.PutCheckpoint(tx, &other, two.Seq))
		p.Must(tx.Commit(enginetest.Bg, kv.Durable))
		if d > 0 {
			want = other.ID
		}
		damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(two.Seq), []byte("x")) })
		repair(p)
		if op, err := p.E.Log.Refs.Operation(two.Seq); err != nil || op.Checkpoint != want {
			t.Errorf("%v: %+v, %v", d, op, err)
		}
	}
}

// TestEndOfTheLog: where the tables were made anew, and the end of the log is lost, the operation of a checkpoint that
// is there is made again, and the one before stands as lost.
func TestEndOfTheLog(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	behind := *p.Save("one")
	last := p.E.Log.DB.LastSeq()
	tx := p.E.Log.Objs.Begin()
	p.Must(p.E.Log.PutCheckpoint(tx, &behind, last+2))
	far := behind
	p.Must(p.E.Log.PutCheckpoint(tx, &far, last+1<<20+1)) // is too far behind to be believed
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	files := &kv.Repaired{Rebuilt: true, Lost: []uint64{last + 1, last + 2}}
	r, err := p.E.Checker.Repair(enginetest.Bg, files, nil)
	p.Must(err)
	for seq, want := range map[uint64]refs.Kind{
		last: refs.KindCheckpoint, last + 1: refs.KindLost, last + 2: refs.KindCheckpoint, last + 3: refs.KindRepair,
	} {
		op, err := p.E.Log.Refs.Operation(seq)
		if p.Must(err); op.Kind != want || seq == last+2 && op.Checkpoint != behind.ID {
			t.Errorf("%d is %+v", seq, op)
		}
	}
	want := []value.Span{{First: last + 1, Last: last + 1}}
	if len(r.Left.Faults) > 0 || !slices.Equal(r.Left.LostOps, want) {
		t.Errorf("%v, lost are %v; %q", r.Left.Faults, r.Left.LostOps, r.Done)
	}
	if id, err := p.E.Log.Refs.ID(refs.Cursor(model.Manual)); err != nil || id != behind.ID {
		t.Errorf("the cursor is at %s, %v", id.Short(), err)
	}
}

// TestLostRestoreIsBlind: when a restore after the newest checkpoint stands as lost, nothing is known of the working
// tree, unless a repair has said so already. An operation of which nothing at all is known takes nothing from that.
func TestLostRestoreIsBlind(t *testing.T) {
	type restored struct {
		p  *enginetest.Project
		b  *kv.Batch
		op refs.Operation
	}
	lost := func(r restored) error {
		now := r.op.Lost()
		return refs.Restate(r.b, &now)
	}
	for name, c := range map[string]struct {
		hurt  func(r restored) error
		blind bool
	}{
		"lost": {lost, true},
		"unread": {func(r restored) error {
			return r.b.Set(kv.OperationKey(r.op.Seq), []byte("x"))
		}, true},
		"its target is lost": {func(r restored) error {
			r.op.Restore.Target = enginetest.TestID("gone")
			return refs.Restate(r.b, &r.op)
		}, true},
		"nothing is known": {func(r restored) error {
			return refs.Restate(r.b, &refs.Operation{Seq: r.op.Seq, Kind: refs.KindLost, Time: r.op.Time})
		}, false},
		"said": {func(r restored) error {
			r.p.Must(r.p.E.Log.Record(enginetest.Bg, refs.Operation{
				Kind: refs.KindRepair, Restore: &refs.Restore{Scope: refs.Scope{ContextOnly: true}},
			}))
			return lost(r)
		}, false},
	} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		one := p.Save("one")
		p.Write("f", "2")
		p.Save("two")
		r := p.Checkout(one.ID.String(), restore.Options{})
		damage(p, func(b *kv.Batch) error {
			hurt := c.hurt(restored{p, b, *r.Operation})
			return errors.Join(hurt, b.Set([]byte("r"+string(refs.Tag("t"))), []byte("x")))
		})
		if r := repair(p); says(r, "holds the working tree as it is") != c.blind {
			t.Errorf("%s: %q", name, r.Done)
		}
	}
}

// TestMadeAgainIsKnown: an operation that is made again says what the working tree is, whatever is lost before it.
func TestMadeAgainIsKnown(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "1")
	one := p.Save("one")
	p.Write("f", "2")
	two := p.Save("two")
	damage(p, func(b *kv.Batch) error { return b.Set(kv.OperationKey(two.Seq), []byte("x")) })
	drop(p, model.Object{Kind: objstore.Tree, Id: one.Tree})
	if r := repair(p); says(r, "holds the working tree as it is") || !says(r, "1 object marked as lost") {
		t.Errorf("%q", r.Done)
	}
}

// TestRepairDropsWhatIsRemembered: what is remembered of files is dropped when an object is lost, for it may name that;
// what is remembered of session files by every repair.
func TestRepairDropsWhatIsRemembered(t *testing.T) {
	for _, lost := range []bool{true, false} {
		p := enginetest.NewProject(t)
		p.Write("f", noise(1))
		o := blobOf(p, p.Save("one"), "f")
		p.Remove("f")
		damage(p, func(b *kv.Batch) error { return b.Set([]byte("r"+string(refs.Tag("t"))), []byte("x")) })
		if lost {
			drop(p, o)
		}
		stat, known := []byte{kv.PrefixStat, 'x'}, []byte{kv.PrefixKnown, 'x'}
		b := p.E.Log.DB.NewBatch()
		p.Must(errors.Join(b.Set(stat, []byte("x")), b.Set(known, []byte("x"))))
		p.Must(b.Commit(enginetest.Bg, kv.Written))
		_, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
		p.Must(err)
		there, err := p.E.Log.DB.Has(stat)
		p.Must(err)
		still, err := p.E.Log.DB.Has(known)
		p.Must(err)
		if there == lost || still {
			t.Errorf("lost %v: of files %v, of session files %v", lost, there, still)
		}
	}
}

// ends is a context that is over when it has been asked so many times.
type ends struct {
	context.Context
	left *int
}

func (c ends) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestStopped: a check that is stopped finds no faults by that, and a repair leaves nothing that the next one does not
// put right.
func TestStopped(t *testing.T) {
	p, _ := enginetest.TwoTurns(t)
	p.Settle()
	stopped := 0
	for _, full := range []bool{false, true} {
		for n := 0; ; n += 3 {
			left := n
			f, err := p.E.Checker.Verify(ends{enginetest.Bg, &left}, full, nil, nil)
			if len(f.Faults)+len(f.Lost)+len(f.LostOps) > 0 {
				t.Fatalf("full %v, stopped at %d: %+v", full, n, f)
			}
			if err == nil && left >= 0 {
				break
			}
			if stopped++; !errors.Is(err, context.Canceled) {
				t.Fatalf("full %v, stopped at %d: %v", full, n, err)
			}
		}
	}
	if stopped < 10 {
		t.Errorf("stopped %d times", stopped)
	}
	p.Write("lost", noise(1))
	o := blobOf(p, p.Save("one"), "lost")
	drop(p, o)
	for n := 0; ; n += 10 {
		left := n
		r, err := p.E.Checker.Repair(ends{enginetest.Bg, &left}, nil, nil)
		if err == nil && left >= 0 {
			if !says(r, "1 object stored again") && found(p, true) > 0 {
				t.Errorf("%q", r.Done)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("a repair, stopped at %d: %v", n, err)
		}
	}
	if err := p.E.Log.Objs.Verify(enginetest.Bg, o.Kind, o.Id); err != nil {
		t.Error(err)
	}
	p.Verify()
}

// TestMissingOperation: a check tells of operations that the log does not have.
func TestMissingOperation(t *testing.T) {
	p := enginetest.NewProject(t)
	for i := range 6 {
		p.Write("f", fmt.Sprint(i))
		p.Save(fmt.Sprint(i))
	}
	b := p.E.Log.DB.NewBatch()
	p.Must(errors.Join(b.Delete(kv.OperationKey(3)), b.Delete(kv.OperationKey(4))))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	missing := 0
	for _, err := range faults(p, false) {
		if strings.Contains(err.Error(), "operations 3 to 4 are missing") {
			missing++
		}
	}
	if missing != 1 {
		t.Errorf("%v", faults(p, false))
	}
}

// TestPlacesOfFaults: what an operation names and the store does not have is one fault, which says what named it. The
// operation stands as lost if its own checkpoint is not there, or a state that it restored.
func TestPlacesOfFaults(t *testing.T) {
	gone := enginetest.TestID("gone")
	restores := func(r refs.Restore) func(op *refs.Operation) {
		return func(op *refs.Operation) {
			if r.Target.IsZero() {
				r.Target = op.Checkpoint
			}
			op.Restore = &r
		}
	}
	files := func(f refs.File) refs.Restore { return refs.Restore{Files: []refs.File{f}} }
	change := func(c refs.Change) func(op *refs.Operation) {
		return func(op *refs.Operation) { op.Changes = []refs.Change{c} }
	}
	tag := refs.Tag("t")
	const said = "conversation: transcript"
	for name, c := range map[string]struct {
		hurt func(op *refs.Operation)
		kind string
		lost bool
	}{
		"checkpoint":   {func(op *refs.Operation) { op.Checkpoint = gone }, "checkpoint", true},
		"conversation": {func(op *refs.Operation) { op.Transcript = gone }, said, false},
		"target":       {restores(refs.Restore{Target: gone}), "checkpoint", true},
		"safety":       {restores(refs.Restore{Safety: gone}), "checkpoint", true},
		"result":       {restores(refs.Restore{Result: gone}), "tree", false},
		"from":         {restores(files(refs.File{Path: "/a", From: gone})), said, false},
		"to":           {restores(files(refs.File{Path: "/a", To: gone})), said, false},
		"old":          {change(refs.Change{Name: tag, Old: gone}), "checkpoint", false},
		"new":          {change(refs.Change{Name: tag, New: gone}), "checkpoint", false},
	} {
		p := enginetest.NewProject(t)
		p.Write("f", "1")
		one := p.Save("one")
		op, err := p.E.Log.Refs.Operation(one.Seq)
		p.Must(err)
		c.hurt(op)
		if op.Restore != nil {
			op.Kind = refs.KindCheckout
		}
		damage(p, func(b *kv.Batch) error { return refs.Restate(b, op) })
		want := fmt.Sprintf("[verify operation %d: %s %s is missing]", one.Seq, c.kind, gone.Short())
		if got := fmt.Sprint(faults(p, false)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if list := faults(p, true); len(list) != 1 {
			t.Errorf("%s, full: %v", name, list)
		}
		repair(p)
		now, err := p.E.Log.Refs.Operation(one.Seq)
		if p.Must(err); (now.Kind == refs.KindLost) != c.lost {
			t.Errorf("%s: after a repair it is %+v", name, now)
		}
	}
}

// TestStoredAgain: whatever kind of object the working tree still has is stored again; rows of turns that are not what
// the log says are folded anew.
func TestStoredAgain(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(p *enginetest.Project, cp *model.Checkpoint) []model.Object
		says string
	}{
		"spoilt": {func(p *enginetest.Project, cp *model.Checkpoint) []model.Object {
			p.Must(os.Rename(p.Path("d"), p.Path("moved"))) // nothing is at the path that names it
			spoil(p, blobOf(p, cp, "d/f"))
			return nil
		}, "1 object stored again"},
		"content": {func(p *enginetest.Project, cp *model.Checkpoint) []model.Object {
			return []model.Object{blobOf(p, cp, "d/f")}
		}, "1 object stored again"},
		"directory": {func(_ *enginetest.Project, cp *model.Checkpoint) []model.Object {
			return []model.Object{{Kind: objstore.Tree, Id: cp.Tree}}
		}, "1 object stored again"},
		"note": {func(_ *enginetest.Project, cp *model.Checkpoint) []model.Object {
			return []model.Object{{Kind: objstore.Note, Id: cp.Note}}
		}, "1 object stored again"},
		"all": {func(p *enginetest.Project, cp *model.Checkpoint) []model.Object {
			return []model.Object{
				blobOf(p, cp, "d/f"), {Kind: objstore.Tree, Id: cp.Tree}, {Kind: objstore.Note, Id: cp.Note},
			}
		}, "objects stored again"},
		"turns": {nil, "the rows of 1 session were folded anew"},
	} {
		p, k := enginetest.TwoTurns(t)
		p.Write("d/f", noise(1))
		p.Write(".gitignore", "ignored\n")
		p.Write("ignored", "x")
		cp := p.Save("one")
		p.Settle()
		if c.of != nil {
			drop(p, c.of(p, cp)...)
		} else {
			_, err := p.E.Ledger.Turns(k.Name())
			p.Must(err)
			damage(p, func(b *kv.Batch) error { return b.Delete(aRow(p)) })
		}
		for _, full := range []bool{false, true} {
			if list := faults(p, full); len(list) == 0 {
				t.Errorf("%s, full %v: no fault", name, full)
			}
		}
		before := logOf(p)
		r := repair(p)
		if now := logOf(p); now != before {
			t.Errorf("%s: the log is\n%s\nand was\n%s", name, now, before)
		}
		if !says(r, c.says) || len(r.Left.Lost)+len(r.Left.Affected) > 0 || r.Operation == nil {
			t.Errorf("%s: %q, left are %+v", name, r.Done, r.Left)
		}
		p.SameTurns(k.Name())
	}
}

// logOf is the log as text, without repairs.
func logOf(p *enginetest.Project) (text string) {
	p.T.Helper()
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Kind != refs.KindRepair {
			text += fmt.Sprintln(*op)
		}
		return nil
	}))
	return text
}

// aRow is the key of a row of a turn.
func aRow(p *enginetest.Project) (row []byte) {
	p.T.Helper()
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixLedger, 2}}, func(key, _ []byte) error {
		row = slices.Clone(key)
		return kv.ErrStop
	}))
	return row
}

// TestBlindForLackOf: where the newest step lacks what it was made from, or its note, nothing can be compared with it:
// the repair takes a checkpoint of what is there, and that is where the session stands then.
func TestBlindForLackOf(t *testing.T) {
	for name, hurt := range map[string]func(p *enginetest.Project, cp *model.Checkpoint){
		"nothing": func(*enginetest.Project, *model.Checkpoint) {},
		"base":    func(_ *enginetest.Project, cp *model.Checkpoint) { cp.Base = enginetest.TestID("gone") },
		"note":    func(_ *enginetest.Project, cp *model.Checkpoint) { cp.Note = enginetest.TestID("gone") },
		"directory": func(p *enginetest.Project, cp *model.Checkpoint) {
			dir := blobOf(p, cp, "d/e")
			p.Write("d/e/f", "3")
			drop(p, model.Object{Kind: objstore.Tree, Id: dir.Id})
		},
	} {
		p := enginetest.NewProject(t)
		p.Write("d/e/f", "1")
		one := p.Save("one")
		p.Write("d/e/f", "2")
		two := *p.Save("two")
		op, err := p.E.Log.Refs.Operation(two.Seq)
		p.Must(err)
		hurt(p, &two)
		tx := p.E.Log.Objs.Begin()
		p.Must(p.E.Log.PutCheckpoint(tx, &two, op.Seq))
		p.Must(tx.Commit(enginetest.Bg, kv.Durable))
		op.Checkpoint = two.ID
		damage(p, func(b *kv.Batch) error {
			return errors.Join(refs.Restate(b, op), refs.Repoint(b, refs.Cursor(model.Manual), two.ID, op.Seq),
				refs.Repoint(b, refs.Session(model.Manual), two.ID, op.Seq),
				refs.Repoint(b, refs.Tag("kept"), two.ID, op.Seq),
				b.Set([]byte("r"+string(refs.Tag("t"))), []byte("x")))
		})
		blind := name != "nothing"
		f, err := p.E.Checker.Verify(enginetest.Bg, true, nil, nil)
		if p.Must(err); blind != (len(f.Faults) == 2) { // the tag is one
			t.Errorf("%s: %v", name, f.Faults)
		}
		noted := slices.ContainsFunc(f.Affected, func(a value.Affected) bool { return a.Note })
		if noted != (name == "note") {
			t.Errorf("%s: affected are %+v", name, f.Affected)
		}
		r := repair(p)
		id, err := p.E.Log.Refs.ID(refs.Cursor(model.Manual))
		p.Must(err)
		if blind {
			saved, err := p.E.Log.Checkpoint(id)
			if p.Must(err); !slices.Equal(saved.Parents, []objstore.ID{one.ID}) {
				t.Errorf("%s: what is saved goes on from %v", name, saved.Parents)
			}
		}
		if kept, err := p.E.Log.Refs.ID(refs.Tag("kept")); err != nil || kept != two.ID {
			t.Errorf("%s: the tag is at %s, %v", name, kept.Short(), err)
		}
		if says(r, "holds the working tree as it is") != blind || (id == two.ID) == blind || id != newestSave(p) {
			t.Errorf("%s: %q, the cursor is at %s", name, r.Done, id.Short())
		}
	}
}

// TestChecked: a check counts each object once, whether something names it or not.
func TestChecked(t *testing.T) {
	p := whole(t)
	tx := p.E.Log.Objs.Begin()
	_, err := tx.Put(objstore.Blob, []byte("nobody's"), objstore.Zero)
	p.Must(err)
	p.Must(tx.Commit(enginetest.Bg, kv.Durable))
	n := 0
	for _, k := range objtest.Kinds() {
		p.Must(p.E.Log.Objs.Keys(enginetest.Bg, k, func(objstore.Key, objstore.Info) error {
			n++
			return nil
		}))
	}
	for _, full := range []bool{false, true} {
		f, err := p.E.Checker.Verify(enginetest.Bg, full, nil, nil)
		if p.Must(err); f.Checked != n || len(f.Faults) > 0 {
			t.Errorf("full %v: %d are checked of %d, %v", full, f.Checked, n, f.Faults)
		}
	}
}

// TestConversationsOfManySessions: what is lost is stored again from each session's file, also what only an event
// names, because the conversation has gone on since.
func TestConversationsOfManySessions(t *testing.T) {
	p, k := enginetest.TwoTurns(t)
	other := p.Talker(2)
	other.Take("other", p.Edits("g", "1"))
	p.Settle()
	chain := map[objstore.ID]bool{}
	var all []model.Object
	for _, s := range []string{k.Name(), other.Name()} {
		id := p.Session(s).Cursor.Transcript
		all = append(all, model.Object{Kind: objstore.Transcript, Id: id})
		chain[id] = true
	}
	p.Must(p.E.Log.Refs.Newest(0, func(op *refs.Operation) error {
		if op.Transcript.IsZero() || chain[op.Transcript] {
			return nil
		}
		chain[op.Transcript] = true
		raw, err := p.E.Log.Objs.Get(objstore.Transcript, op.Transcript)
		p.Must(err)
		n, err := conversation.DecodeNode(op.Transcript, raw)
		p.Must(err)
		all = append(all, model.Object{Kind: objstore.Blob, Id: n.Tail})
		return nil
	}))
	if len(all) < 6 {
		t.Fatalf("only %d conversations are named", len(all))
	}
	drop(p, all...)
	r := repair(p)
	if len(r.Left.Lost)+len(r.Left.Affected) > 0 || !says(r, fmt.Sprintf("%d objects stored again", len(all))) {
		t.Errorf("%q, left are %+v", r.Done, r.Left)
	}
	for _, o := range all {
		p.Must(p.E.Log.Objs.Verify(enginetest.Bg, o.Kind, o.Id))
	}
}

// TestRepairWithoutItsDirectory: a repair waits for the project's directory, which may have what is lost.
func TestRepairWithoutItsDirectory(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", noise(1))
	drop(p, blobOf(p, p.Save("one"), "f"))
	p.Must(os.Rename(p.Root, p.Root+" moved"))
	if _, err := p.E.Checker.Repair(enginetest.Bg, nil, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a repair: %v", err)
	}
	p.Must(os.Rename(p.Root+" moved", p.Root))
	if r := repair(p); !says(r, "1 object stored again") || len(r.Left.Lost) > 0 {
		t.Errorf("%q", r.Done)
	}
}
