package oplog_test

import (
	"testing"
	"time"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/refs"
)

// fork is the record of a session that an agent forked.
func fork(name string, began uint64, both int, last time.Time) *model.Session {
	return &model.Session{
		Name: name, Began: began, Last: last,
		Fork: &model.Lineage{Lineage: value.Lineage{Session: "claude/of", Kind: model.ByAgent}, Both: both},
	}
}

// turnEvent is an event of a turn that found nothing changed.
func turnEvent(session string, turn uint64, event string) refs.Operation {
	return refs.Operation{Kind: refs.KindEvent, Session: session, Turn: turn, Cause: refs.Cause{Event: event}}
}

// TestCount: the turns of a fork that an agent made count on from those that it has of the other session, as far as
// they were counted before its file was there.
func TestCount(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.UnixMilli(1_800_000_000_000)
	p.E.Log.Now = func() time.Time { return now }
	p.Save("before")
	type turn struct {
		n     uint64
		event string
		want  uint64
	}
	as := func(*model.Session) {}
	for what, tt := range map[string]struct {
		set   func(*model.Session)
		turns []turn
	}{
		"counted early": {as, []turn{
			{1, "prompt", 3}, {1, "stop", 3}, {2, "prompt", 4}, {3, "prompt", 3}, {2, "stop", 2}, {4, "prompt", 4},
		}},
		"before a turn":                        {as, []turn{{0, "session-start", 0}, {1, "stop", 3}, {2, "prompt", 4}}},
		"the file was there, and turns go on":  {as, []turn{{2, "stop", 2}, {3, "prompt", 3}, {1, "stop", 1}}},
		"the file was there, and a turn ended": {as, []turn{{1, "stop", 1}, {2, "prompt", 2}}},
		"one turn in common": {func(s *model.Session) { s.Fork.Both = 1 }, []turn{
			{1, "prompt", 2}, {2, "prompt", 2}, {1, "stop", 1},
		}},
		"one of a person":   {func(s *model.Session) { s.Fork.Kind = "fork" }, []turn{{1, "prompt", 1}}},
		"nothing in common": {func(s *model.Session) { s.Fork.Both = 0 }, []turn{{1, "prompt", 1}}},
		"no fork":           {func(s *model.Session) { s.Fork = nil }, []turn{{1, "prompt", 1}}},
		"of no operation":   {func(s *model.Session) { s.Began = 0 }, []turn{{1, "prompt", 1}}},
	} {
		name := "claude/" + what
		s := fork(name, p.E.Log.DB.LastSeq()+1, 2, now)
		tt.set(s)
		var seqs []uint64
		for _, n := range tt.turns {
			record(p, refs.Operation{Kind: refs.KindEvent, Session: "claude/other", Turn: 9})
			seqs = append(seqs, record(p, turnEvent(name, n.n, n.event)))
		}
		set(p, model.SessionKey(name), s.Encode())
		count := p.E.Log.Count()
		for i, n := range tt.turns {
			op := &refs.Operation{Session: name, Turn: n.n, Seq: seqs[i]}
			got := count.Operation(op)
			same := got == op
			if count(name, n.n, seqs[i]) != n.want || got.Turn != n.want || op.Turn != n.n || same != (n.n == n.want) {
				t.Errorf("%s: turn %d by operation %d of %d is %d, want %d", what, n.n, i, len(seqs), got.Turn, n.want)
			}
		}
		if got := count(model.Manual, 1, 1); got != 1 {
			t.Errorf("turn 1 of a person is %d", got)
		}
	}
}

// TestCountEnds: what an operation says that is dated a minute after the session's last event is not believed.
func TestCountEnds(t *testing.T) {
	p := enginetest.NewProject(t)
	now := time.UnixMilli(1_800_000_000_000)
	for late, want := range map[time.Duration]uint64{time.Minute: 1, time.Minute + time.Millisecond: 3} {
		name := "claude/" + late.String()
		p.E.Log.Now = func() time.Time { return now }
		began := record(p, turnEvent(name, 1, "prompt"))
		p.E.Log.Now = func() time.Time { return now.Add(late) }
		last := record(p, refs.Operation{Kind: refs.KindEvent, Session: name, Turn: 3})
		set(p, model.SessionKey(name), fork(name, began, 2, now).Encode())
		if got := p.E.Log.Count()(name, 1, last); got != want {
			t.Errorf("%v late: turn %d, want %d", late, got, want)
		}
	}
}

// TestSessions: the records, the newest first; those of subagents and those that cannot be read are left out.
func TestSessions(t *testing.T) {
	p := enginetest.NewProject(t)
	at := time.UnixMilli(1_800_000_000_000)
	for _, s := range []model.Session{
		{Name: "claude/b", Last: at, Calls: []model.Call{{ID: "call"}}},
		{Name: "claude/a", Last: at},
		{Name: "claude/new", Last: at.Add(time.Second)},
		{Name: "claude/lane", Last: at.Add(time.Hour), LaneOf: "claude/a"},
		{Name: "claude/old", Last: at.Add(-time.Second)},
	} {
		set(p, model.SessionKey(s.Name), s.Encode())
	}
	set(p, model.SessionKey("claude/broken"), []byte{0xff})
	forget(p)
	names := func() (list []string) {
		all, err := p.E.Log.Sessions()
		p.Must(err)
		for _, s := range all {
			list = append(list, s.Name)
			for i := range s.Calls {
				s.Calls[i].ID = "changed"
			}
		}
		return list
	}
	want := []string{"claude/new", "claude/a", "claude/b", "claude/old"}
	enginetest.Equal(t, "sessions", names(), want)
	records, err := p.E.Log.SessionRecords()
	p.Must(err)
	for i, s := range records {
		if i >= len(want) || s != p.E.Log.Session(want[i]) {
			t.Errorf("record %d is that of %s", i, s.Name)
		}
	}
	if id := p.E.Log.Session("claude/b").Calls[0].ID; id != "call" {
		t.Errorf("a list changes the record: %s", id)
	}
	if of, ok := p.E.Log.Lane("claude/lane"); !ok || of != "claude/a" {
		t.Errorf("the lane is of %v", of)
	}
	if _, ok := p.E.Log.Lane("claude/a"); ok {
		t.Error("a session is a lane")
	}
	set(p, model.SessionKey("claude/newest"), (&model.Session{Last: at.Add(time.Minute)}).Encode())
	enginetest.Equal(t, "loaded once", names(), want)
	forget(p)
	enginetest.Equal(t, "loaded again", names(), append([]string{"claude/newest"}, want...))
	for name, there := range map[string]bool{
		"claude/a": true, "claude/lane": true, "claude/broken": false, "claude/none": false,
	} {
		s, err := p.E.Log.StoredSession(name)
		if err != nil || (s != nil) != there || there && s.Name != name {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// TestCounted: steps and safety checkpoints of the log, counted whole or as it grows.
func TestCounted(t *testing.T) {
	p := enginetest.NewProject(t)
	check := func(what string, steps, safety int) {
		t.Helper()
		last := p.E.Log.DB.LastSeq()
		for _, again := range []string{"", ", again", ", anew"} {
			if again == ", anew" {
				p.E.Log.Rewrote()
			}
			n, kept, op, err := p.E.Log.Counted()
			p.Must(err)
			if n != steps || kept != safety || op == nil || op.Seq != last {
				t.Errorf("%s%s: %d and %d, %+v; want %d and %d, %d", what, again, n, kept, op, steps, safety, last)
			}
		}
	}
	p.E.Log.Rewrote()
	n, safety, _, err := p.E.Log.Counted()
	p.Must(err)
	op := func(kind refs.Kind) { record(p, refs.Operation{Kind: kind}) }
	op(refs.KindTag)
	check("neither", n, safety)
	op(refs.KindCheckpoint)
	op(refs.KindCheckpoint)
	check("two steps", n+2, safety)
	op(refs.KindSafety)
	op(refs.KindThinned)
	check("and a safety checkpoint", n+2, safety+1)
}

// TestPruned: the newest operation that deleted sessions by itself and that nobody took back.
func TestPruned(t *testing.T) {
	p := enginetest.NewProject(t)
	check := func(what string, want uint64, anew bool) {
		t.Helper()
		if anew {
			p.E.Log.Rewrote()
		}
		_, _, _, err := p.E.Log.Counted()
		p.Must(err)
		got := uint64(0)
		if op := p.E.Log.Pruned(); op != nil {
			got = op.Seq
		}
		if got != want {
			t.Errorf("%s, anew %v: operation %d, want %d", what, anew, got, want)
		}
	}
	both := func(what string, want uint64) {
		t.Helper()
		check(what, want, false)
		check(what, want, true)
	}
	byItself := refs.Operation{Kind: refs.KindDelete, Message: model.ByItself}
	undoes := func(seq uint64) {
		record(p, refs.Operation{Kind: refs.KindUndoForks, Restore: &refs.Restore{Undoes: seq}})
	}
	both("nothing", 0)
	asked := record(p, refs.Operation{Kind: refs.KindDelete, Message: "asked"})
	record(p, refs.Operation{Kind: refs.KindArchive, Message: model.ByItself})
	both("asked for", 0)
	first := record(p, byItself)
	both("once", first)
	undoes(asked)
	record(p, refs.Operation{Kind: refs.KindUndoForks})
	both("another one was taken back", first)
	second := record(p, byItself)
	third := record(p, byItself)
	both("three times", third)
	undoes(second)
	both("one before was taken back", third)
	undoes(third)
	check("the newest was taken back", first, true)
	undoes(first)
	both("all were taken back", 0)
	taken := record(p, byItself)
	undoes(taken)
	both("taken back at once", 0)
}

// TestRecent: as many events as there is room for, the newest.
func TestRecent(t *testing.T) {
	t.Parallel()
	r := oplog.Recent{Ids: map[uint64]objstore.ID{}}
	r.Add(0, enginetest.TestID("none"))
	if len(r.Ids) != 0 {
		t.Error("an event without an id is noted")
	}
	for i := range uint64(oplog.RecentEvents) {
		r.Add(i+1, enginetest.TestID("first"))
	}
	if _, ok := r.Ids[1]; !ok || len(r.Ids) != oplog.RecentEvents {
		t.Errorf("%d events, the first %v", len(r.Ids), ok)
	}
	for i := range uint64(3) {
		r.Add(oplog.RecentEvents+i+1, enginetest.TestID("second"))
		_, gone := r.Ids[i+1]
		_, stays := r.Ids[i+2]
		here := r.Ids[oplog.RecentEvents+i+1] == enginetest.TestID("second")
		if gone || !stays || !here || len(r.Ids) != oplog.RecentEvents {
			t.Errorf("%d events; the oldest %v, the next %v", len(r.Ids), gone, stays)
		}
	}
}
