package ledger_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/internal/value"
	"rewind/refs"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// worked is a project with two sessions, a restore in place and one of the tree between their turns.
func worked(t *testing.T) (*enginetest.Project, []string) {
	p, a := enginetest.Begun(t)
	b := p.Talker(2)
	for n := range 3 {
		a.Take(fmt.Sprint("a", n), p.Edits("f", fmt.Sprint(n)))
		b.Take(fmt.Sprint("b", n), p.Edits("g", fmt.Sprint(n)))
	}
	p.Back("turn:2@"+a.Name(), restore.Options{InPlace: true})
	a.Take("again", p.Edits("f", "again"))
	b.Take("more", p.Edits("g", "more"))
	return p, []string{a.Name(), b.Name(), model.Manual}
}

func rows(p *enginetest.Project, session string) []ledger.Turn {
	p.T.Helper()
	list, err := p.E.Ledger.Turns(session)
	p.Must(err)
	return list
}

func places(p *enginetest.Project) (list []ledger.Place) {
	p.T.Helper()
	p.Must(p.E.Ledger.Places(0, func(at *ledger.Place) error {
		list = append(list, *at)
		return nil
	}))
	return list
}

// restores are the operations that the rows of restores name, the newest first.
func restores(p *enginetest.Project) (list []uint64) {
	p.T.Helper()
	p.Must(p.E.Ledger.Restores(0, func(op *refs.Operation) error {
		list = append(list, op.Seq)
		return nil
	}))
	return list
}

func same(p *enginetest.Project, when string, want map[string][]ledger.Turn) {
	p.T.Helper()
	for session, list := range want {
		if got := rows(p, session); !reflect.DeepEqual(got, list) {
			p.T.Fatalf("%s, %s: %+v\nwant %+v", when, session, got, list)
		}
	}
}

func all(p *enginetest.Project, sessions []string) map[string][]ledger.Turn {
	m := map[string][]ledger.Turn{}
	for _, s := range sessions {
		m[s] = rows(p, s)
	}
	return m
}

func write(p *enginetest.Project, key, val []byte) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	if val == nil {
		p.Must(b.Delete(key))
	} else {
		p.Must(b.Set(key, val))
	}
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
}

func stored(p *enginetest.Project) (keys, vals [][]byte) {
	p.T.Helper()
	p.Must(p.E.Log.DB.Scan(kv.Range{Prefix: []byte{kv.PrefixLedger}}, func(key, raw []byte) error {
		keys, vals = append(keys, bytes.Clone(key)), append(vals, bytes.Clone(raw))
		return nil
	}))
	return keys, vals
}

// Rows that come as the log grows, rows that are read from the store, and rows that are folded at once are the same.
func TestRowsAreThoseOfTheLog(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	if n := len(want[sessions[0]]); n < 4 {
		t.Fatalf("%d rows", n)
	}
	were, back := places(p), restores(p)
	if len(back) != 1 {
		t.Fatalf("%d restores", len(back))
	}
	p.Reopen()
	same(p, "from the store", want)
	enginetest.Equal(t, "places from the store", places(p), were)
	enginetest.Equal(t, "restores from the store", restores(p), back)
	keys, _ := stored(p)
	for _, key := range keys {
		write(p, key, nil)
	}
	p.Reopen()
	same(p, "folded at once", want)
	enginetest.Equal(t, "places folded at once", places(p), were)
	enginetest.Equal(t, "restores folded at once", restores(p), back)
	p.SameTurns(sessions[0])
}

// A row that is broken, gone or another one is found, is made anew by a repair, and by whoever meets it where it can be
// no row; whatever is broken, the log is believed.
func TestDamagedRows(t *testing.T) {
	p, sessions := worked(t)
	want, were, back := all(p, sessions), places(p), restores(p)
	keys, vals := stored(p)
	for i, key := range keys {
		isRow := key[1] >= 2
		other := vals[(i+1)%len(vals)]
		for _, d := range []struct {
			name string
			val  []byte
		}{
			{"cut short", vals[i][:max(len(vals[i])-1, 0)]},
			{"garbage", []byte("\xff\xff\xff")},
			{"gone", nil},
			{"another", other},
		} {
			if d.name == "another" && !isRow || bytes.Equal(d.val, vals[i]) {
				continue
			}
			p.Reopen()
			write(p, key, d.val)
			differ, err := p.E.Ledger.Check()
			p.Must(err)
			if isRow && len(differ) != 1 {
				t.Errorf("row %d %s: %v differ", i, d.name, differ)
			}
			if readable := d.name == "gone" || d.name == "another"; isRow && readable {
				faults, err := p.E.Checker.Verify(enginetest.Bg, false, nil, nil)
				if p.Must(err); len(faults.Faults) != 1 {
					t.Errorf("row %d %s: faults %v", i, d.name, faults.Faults)
				}
				r, err := p.E.Checker.Repair(enginetest.Bg, nil, nil)
				if p.Must(err); len(r.Done) != 1 {
					t.Errorf("row %d %s: repaired %q", i, d.name, r.Done)
				}
			}
			same(p, fmt.Sprintf("key %x %s", key, d.name), want)
			enginetest.Equal(t, fmt.Sprintf("places, key %x %s", key, d.name), places(p), were)
			enginetest.Equal(t, fmt.Sprintf("restores, key %x %s", key, d.name), restores(p), back)
			if differ, err := p.E.Ledger.Check(); err != nil || len(differ) > 0 {
				t.Errorf("key %x %s: then %v differ, %v", key, d.name, differ, err)
			}
		}
	}
}

// Who changed the log's past and was killed left rows of neither: the next who opens the project has them folded anew.
// While somebody changes it they are as they were.
func TestRowsOfAChangingPast(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	keys, _ := stored(p)
	row := keys[slices.IndexFunc(keys, func(key []byte) bool { return key[1] == 2 })]
	broken := func() bool {
		differ, err := p.E.Ledger.Check()
		p.Must(err)
		return len(differ) > 0
	}
	write(p, row, nil) // tells rows that are kept from such as were folded anew
	changed(p, ledger.Changing)
	if rows(p, sessions[1]); !broken() {
		t.Error("rows are folded anew while the past changes")
	}
	p.Reopen()
	if same(p, "after a kill", want); broken() {
		t.Error("rows are not folded anew after a kill")
	}
	write(p, row, nil)
	changed(p, ledger.Changed)
	if same(p, "after a change", want); broken() {
		t.Error("rows are not folded anew after a change")
	}
}

func setSession(p *enginetest.Project, s *model.Session) {
	p.T.Helper()
	change := p.E.Log.Begin()
	change.SetSession(s)
	p.Must(change.CommitSilently(enginetest.Bg, kv.Written))
}

// comesFrom has it be known that an agent made a session of another one, with which it has so many turns in common.
func comesFrom(p *enginetest.Project, session, of string, both int) {
	p.T.Helper()
	s := *p.E.Log.Session(session)
	s.Fork = &model.Lineage{Both: both}
	s.Fork.Kind, s.Fork.Session = model.ByAgent, of
	setSession(p, &s)
}

// Where a session comes from becomes known: its turns have other numbers from then on.
func TestRowsAreNumberedAnew(t *testing.T) {
	p, sessions := worked(t)
	before := rows(p, sessions[1])
	comesFrom(p, sessions[1], sessions[0], 5)
	after := rows(p, sessions[1])
	if len(after) != len(before) {
		t.Fatalf("%d rows, before %d", len(after), len(before))
	}
	for i := range after {
		if n := before[i].Number; n > 0 && after[i].Number != n+5 {
			t.Errorf("turn %d is %d now", n, after[i].Number)
		}
	}
	p.SameTurns(sessions[1])
}

// So they have where it becomes known together with more of the turn, and nothing can be written.
func TestRowsAreNumberedAnewInMemory(t *testing.T) {
	t.Parallel()
	p, sessions := worked(t)
	before := rows(p, sessions[1])
	comesFrom(p, sessions[1], sessions[0], 5)
	commit(p, event(sessions[1], before[len(before)-1].Number, hooks.Stop))
	readOnly(p)
	after := all(p, sessions)
	sameEach(p, "read only", after)
	p.Reopen()
	sameEach(p, "written", after)
	if n := len(after[sessions[1]]); n != len(before) {
		t.Errorf("%d rows, before %d", n, len(before))
	}
}

// An operation that cannot be read says nothing, and hides nothing of the others.
func TestRowsBesideABrokenOperation(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	broken := want[sessions[0]][1].End // of turn 2
	key := kv.OperationKey(broken)
	var was []byte
	p.Must(p.E.Log.DB.View(key, func(raw []byte) error { was = bytes.Clone(raw); return nil }))
	for _, val := range [][]byte{was[:len(was)-1], nil} {
		write(p, key, val)
		changed(p, ledger.Changed)
		for i, row := range rows(p, sessions[0]) {
			is, end := want[sessions[0]][i], row.End
			if others := i != 1; others && end != is.End || !others && (end == 0 || end == broken) {
				t.Errorf("turn %d ends at %d, and did at %d", row.Number, end, is.End)
			}
		}
		same(p, "of another session", map[string][]ledger.Turn{sessions[1]: want[sessions[1]]})
	}
	write(p, key, was)
	changed(p, ledger.Changed)
	same(p, "mended", want)
}

func changed(p *enginetest.Project, how func(*kv.DB, *kv.Batch) error) {
	p.T.Helper()
	b := p.E.Log.DB.NewBatch()
	p.Must(how(p.E.Log.DB, b))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	p.E.Log.Rewrote()
}

// A session that nobody has asked for since it became known where it comes from is no fault.
func TestCheckOfNumbersFromBefore(t *testing.T) {
	p, sessions := worked(t)
	all(p, sessions)
	comesFrom(p, sessions[1], sessions[0], 5)
	if differ, err := p.E.Ledger.Check(); err != nil || len(differ) > 0 {
		t.Errorf("%v differ, %v", differ, err)
	}
}

// The project was moved, and its agent keeps its sessions in another folder: a cut from before is one still.
func TestRowsOfAMovedFile(t *testing.T) {
	p, sessions := worked(t)
	want := rows(p, sessions[0])
	s := *p.E.Log.Session(sessions[0])
	s.Transcript = "/elsewhere/" + filepath.Base(s.Transcript)
	s.Cursor.Path = s.Transcript
	setSession(p, &s)
	changed(p, ledger.Changed)
	same(p, "moved", map[string][]ledger.Turn{sessions[0]: want})
}

// Rows that are asked for from the newest on are those that all are.
func TestTurnsBefore(t *testing.T) {
	p, sessions := worked(t)
	want := rows(p, sessions[0])
	slices.Reverse(want)
	for n := 1; n <= len(want)+1; n++ {
		var got []ledger.Turn
		for below := uint64(math.MaxUint64); ; below = got[len(got)-1].Index {
			more, err := p.E.Ledger.TurnsBefore(sessions[0], below, n)
			if p.Must(err); len(more) == 0 {
				break
			}
			got = append(got, more...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d at once: %+v\nwant %+v", n, got, want)
		}
	}
}

// Who waits while a long log is folded is told how far that is; where one batch is enough there is nothing to tell.
func TestFoldIsTold(t *testing.T) {
	p, sessions := worked(t)
	want := all(p, sessions)
	var told []value.Progress
	ctx := model.WithAsker(enginetest.Bg, model.Asker{Told: func(at value.Progress) { told = append(told, at) }})
	project := p.E.Project()
	v, err := p.E.View(ctx, &project, p.E.Log.Config)
	p.Must(err)
	ledger.InSlices(v.Ledger, 7)
	read := func() []value.Progress {
		t.Helper()
		told = nil
		for session, list := range want {
			got, err := v.Ledger.Turns(session)
			p.Must(err)
			if !reflect.DeepEqual(got, list) {
				t.Errorf("%s: %+v\nwant %+v", session, got, list)
			}
		}
		return told
	}
	if got := read(); len(got) > 0 {
		t.Errorf("told of rows that were there: %+v", got)
	}
	b := p.E.Log.DB.NewBatch()
	p.Must(ledger.Changed(p.E.Log.DB, b))
	p.Must(b.Commit(enginetest.Bg, kv.Written))
	p.Must(b.Close())
	p.E.Log.Rewrote()
	var all []value.Progress
	for last, at := int(p.E.Log.DB.LastSeq()), 7; at < last; at += 7 {
		all = append(all, value.Progress{Phase: "reading the log", Files: at, Total: last})
	}
	if got := read(); len(all) < 3 || !slices.Equal(got, all) {
		t.Errorf("told %+v\nwant %+v", got, all)
	}
}
