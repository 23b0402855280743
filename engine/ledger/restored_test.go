package ledger_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/hooks"
	"rewind/internal/kv"
	"rewind/objstore"
	"rewind/refs"
)

// commit appends operations to the log, and tells the number of the first.
func commit(p *enginetest.Project, ops ...refs.Operation) (first uint64) {
	p.T.Helper()
	_, err := p.E.Log.Begin().CommitAll(enginetest.Bg, kv.Written,
		func(seq uint64) ([]refs.Operation, []refs.Update, error) { first = seq; return ops, nil, nil })
	p.Must(err)
	return first
}

// event is an event of a turn of a session.
func event(session string, turn uint64, kind hooks.Kind) refs.Operation {
	op := refs.Operation{Kind: refs.KindEvent, Session: session, Turn: turn}
	op.Cause.Event = model.EventWords[kind]
	return op
}

// Which code there is at the end of a turn that no checkpoint of the session names: what the newest restore of the
// whole tree left.
func TestCodeBehindRestores(t *testing.T) {
	p := enginetest.NewProject(t)
	part := refs.Scope{Paths: refs.PathSet{"f"}}
	for i, c := range []struct {
		kind   refs.Kind
		scope  refs.Scope
		counts bool
	}{
		{refs.KindCheckout, refs.Scope{}, true},
		{refs.KindUndoRestore, refs.Scope{}, true},
		{refs.KindCheckout, part, false},
		{refs.KindCheckout, refs.Scope{ContextOnly: true}, false},
		{refs.KindCheckout, refs.Scope{Paths: part.Paths, ContextOnly: true}, false},
		{refs.KindAbort, refs.Scope{}, false},
		{refs.KindRedo, refs.Scope{Exact: true}, true},
	} {
		s := fmt.Sprint("claude/", i)
		r := &refs.Restore{Scope: c.scope, Changed: 1}
		first := commit(p, event(s, 1, hooks.Prompt), refs.Operation{Kind: c.kind, Restore: r}, event(s, 1, hooks.Stop))
		want := uint64(0)
		if c.counts {
			want = first + 1
		}
		if got := rows(p, s); len(got) != 1 || got[0].Code != want || got[0].End != first+2 {
			t.Errorf("%c %+v: %+v, want the code of %d", c.kind, c.scope, got, want)
		}
	}
}

// An undo-restore goes to the place before what it sets back, however one came there. One that gc has thinned does not
// say what that was.
func TestPlaceBehindUndoRestores(t *testing.T) {
	p := enginetest.NewProject(t)
	at := func(what, session string, how ledger.How) {
		t.Helper()
		if got := places(p)[0]; got.Session != session || got.Branch != session || got.How != how {
			t.Errorf("%s: at %s, branch %s, how %d; want %s, %d", what, got.Session, got.Branch, got.How, session, how)
		}
	}
	restore := func(kind refs.Kind, session string, undoes uint64) refs.Operation {
		return refs.Operation{Kind: kind, Session: session, Restore: &refs.Restore{Undoes: undoes, Changed: 1}}
	}
	commit(p, event("claude/a", 1, hooks.Prompt), event("claude/b", 1, hooks.Prompt))
	went := commit(p, restore(refs.KindCheckout, "claude/a", 0))
	at("went to a", "claude/a", ledger.Restored)
	back := commit(p, restore(refs.KindUndoRestore, "claude/a", went))
	at("took that back", "claude/b", ledger.Worked)
	commit(p, restore(refs.KindUndoRestore, "claude/a", back))
	at("and that", "claude/a", ledger.Restored)
	commit(p, event("claude/b", 2, hooks.Prompt))
	commit(p, refs.Operation{Kind: refs.KindUndoRestore, Session: "claude/a", Thinned: true})
	at("a thinned one", "claude/a", ledger.Restored)
	p.Must(p.E.Ledger.BringUp())
}

func TestFileOf(t *testing.T) {
	s := &model.Session{Name: "claude/x", Transcript: "/old/x.jsonl"}
	s.Cursor.Path = "/new/y.jsonl"
	for _, c := range []struct {
		files string
		want  int
	}{
		{"", -1},
		{"/old/x.jsonl", 0},
		{"/else/z.jsonl /moved/x.jsonl", 1},
		{"/else/z.jsonl /else/xx.jsonl /moved/y.jsonl", 2},
		{"x.jsonl y.jsonl", 0},
		{"/x.jsonl/z /old", -1},
	} {
		r := &refs.Restore{}
		for _, path := range strings.Fields(c.files) {
			r.Files = append(r.Files, refs.File{Path: path})
		}
		if got := ledger.FileOf(s, r); got != c.want {
			t.Errorf("%s: %d, want %d", c.files, got, c.want)
		}
	}
	// Of a session without a file there is none.
	if got := ledger.FileOf(&model.Session{}, &refs.Restore{Files: []refs.File{{}, {Path: "/x.jsonl"}}}); got != -1 {
		t.Errorf("of no file: %d", got)
	}
}

// changes is a restore that changes a session's file alone: which conversation was in it, and is then; 0: none.
func changes(session string, from, to byte) []refs.Operation {
	f := refs.File{Path: "/" + session + ".jsonl"}
	if from > 0 {
		f.From = objstore.Sum(objstore.Blob, []byte{from})
	}
	if to > 0 {
		f.To = objstore.Sum(objstore.Blob, []byte{to})
	}
	r := &refs.Restore{Files: []refs.File{f}, Scope: refs.Scope{ContextOnly: true}}
	return []refs.Operation{{Kind: refs.KindCheckout, Restore: r}}
}

// numbers are the turns of rows behind an operation, those marked that a version of the file hides.
func numbers(list []ledger.Turn, seq uint64) string {
	var got []string
	for i := range list {
		text := fmt.Sprint(list[i].Number)
		if list[i].Hidden(seq) {
			text += "h"
		}
		got = append(got, text)
	}
	return strings.Join(got, " ")
}

// A restore in place makes versions of the session's file again: turns that came since are hidden where their numbers
// are those of turns that the version has, and those that the version has are seen again.
func TestVersionsHideTurns(t *testing.T) {
	p := enginetest.NewProject(t)
	const s, other = "claude/s", "claude/other"
	for _, name := range []string{s, other} {
		setSession(p, &model.Session{Name: name, Transcript: "/" + name + ".jsonl"})
	}
	turn := func(session string, n uint64) []refs.Operation {
		return []refs.Operation{event(session, n, hooks.Prompt), event(session, n, hooks.Stop)}
	}
	var cuts []uint64
	for _, ops := range [][]refs.Operation{
		turn(s, 1), turn(other, 1), turn(s, 2), turn(s, 3), changes(s, 1, 2), turn(s, 2), turn(s, 4), changes(s, 3, 1),
		turn(s, 4), changes(s, 4, 3), changes(s, 0, 3), changes(s, 3, 0),
	} {
		first := commit(p, ops...)
		if ops[0].Restore != nil {
			cuts = append(cuts, first)
		}
	}
	versions := map[uint64]*ledger.Version{
		cuts[1]: {Turns: 3, From: cuts[0]}, // the three turns of the beginning
		cuts[2]: {Turns: 4, From: cuts[1]}, // what the second restore replaced
	}
	var asked []uint64
	l := ledger.New(p.E.Log, &ledger.State{})
	l.VersionsBy(func(is *model.Session, seq uint64, _ refs.File, _ ledger.Before) *ledger.Version {
		if is.Name != s {
			t.Errorf("a version of %s", is.Name)
		}
		asked = append(asked, seq)
		return versions[seq]
	})
	list, err := l.Turns(s)
	p.Must(err)
	enginetest.Equal(t, "versions are asked of", asked, cuts[:3])
	var behind []uint64
	for _, row := range list {
		behind = append(behind, row.CutBehind())
	}
	enginetest.Equal(t, "cuts behind rows", behind, []uint64{0, 0, cuts[0], 0, cuts[1], cuts[4]})
	for _, c := range []struct {
		seq  uint64
		want string
	}{
		{cuts[0], "1 2 3 2 4 4"},
		{cuts[1] - 1, "1 2 3 2 4 4"},
		{cuts[1], "1 2 3 2h 4 4"},
		{cuts[2], "1 2 3 2 4 4h"},
		{0, "1 2 3 2 4 4h"},
	} {
		if is := numbers(list, c.seq); is != c.want {
			t.Errorf("at %d: %s, want %s", c.seq, is, c.want)
		}
	}
	if list, err = l.Turns(other); err != nil || len(list) != 1 || list[0].CutBehind() > 0 {
		t.Errorf("the other session: %+v, %v", list, err)
	}
	if differ, err := l.Check(); err != nil || len(differ) > 0 {
		t.Errorf("%v differ, %v", differ, err)
	}
}

// A version that the very change before had made again is that one: of changes in a row none is passed over.
func TestVersionsInARow(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	const s = "claude/s"
	setSession(p, &model.Session{Name: s, Transcript: "/" + s + ".jsonl"})
	commit(p, event(s, 1, hooks.Prompt), event(s, 2, hooks.Prompt))
	commit(p, changes(s, 1, 2)...)
	commit(p, event(s, 2, hooks.Prompt))
	cut := commit(p, slices.Concat(changes(s, 2, 1), changes(s, 1, 2), changes(s, 2, 1), changes(s, 1, 2))...)
	versions := map[uint64]*ledger.Version{ // the first two turns, and all else
		cut: {Turns: 2, From: cut - 2}, cut + 1: {Turns: 2, From: cut}, cut + 2: {Turns: 2, From: cut + 1},
		cut + 3: {Turns: 2, From: cut + 2},
	}
	l := ledger.New(p.E.Log, &ledger.State{})
	l.VersionsBy(func(_ *model.Session, seq uint64, _ refs.File, _ ledger.Before) *ledger.Version {
		return versions[seq]
	})
	list, err := l.Turns(s)
	p.Must(err)
	for i, want := range []string{"1 2 2h", "1 2 2", "1 2 2h", "1 2 2"} {
		if is := numbers(list, cut+uint64(i)); is != want {
			t.Errorf("behind change %d: %s, want %s", i, is, want)
		}
	}
}

// More operations than are folded at once are folded as few are; a check goes no further than the rows.
func TestRowsInSlices(t *testing.T) {
	p := enginetest.NewProject(t)
	var ops []refs.Operation
	for n := range uint64(1300) {
		s := fmt.Sprint("claude/", n%3)
		ops = append(ops, event(s, 1+n/9, hooks.Prompt), event(s, 1+n/9, hooks.Stop))
	}
	few := ledger.New(p.E.Log, &ledger.State{})
	for some := range slices.Chunk(ops[:2100], 300) {
		commit(p, some...)
		_, err := few.Turns("claude/0")
		p.Must(err)
	}
	commit(p, ops[2100:]...)
	if differ, err := few.Check(); err != nil || len(differ) > 0 {
		t.Errorf("before all is folded: %v differ, %v", differ, err)
	}
	want := ask(p, few)
	forget(p)
	got := ask(p, ledger.New(p.E.Log, &ledger.State{}))
	if !reflect.DeepEqual(got, want) {
		t.Error("folded at once, rows are others")
	}
	for session, list := range got {
		for i, row := range list {
			if row.Number != uint64(i+1) || row.End != row.First+1 {
				t.Fatalf("%s: %+v", session, row)
			}
		}
	}
	if n := len(got["claude/2"]); n != 145 {
		t.Errorf("%d turns", n)
	}
}

// ask gives the rows of all sessions.
func ask(p *enginetest.Project, l *ledger.Ledger) map[string][]ledger.Turn {
	p.T.Helper()
	m := map[string][]ledger.Turn{}
	p.Must(l.Each(func(session string, row *ledger.Turn) error {
		m[session] = append(m[session], *row)
		return nil
	}))
	return m
}

// The newest operations are gone: rows go up to what there is, and on from there.
func TestRowsWithoutTheLastOperation(t *testing.T) {
	p := enginetest.NewProject(t)
	const s = "claude/s"
	commit(p, event(s, 1, hooks.Prompt), event(s, 1, hooks.Stop))
	rows(p, s)
	last := commit(p, event(s, 2, hooks.Prompt))
	write(p, kv.OperationKey(last), nil)
	if list := rows(p, s); len(list) != 1 {
		t.Errorf("without the last operation: %+v", list)
	}
	commit(p, event(s, 3, hooks.Prompt))
	if list := rows(p, s); len(list) != 2 || list[1].Number != 3 || list[1].First != last+1 {
		t.Errorf("with the next one: %+v", list)
	}
	p.SameTurns(s)
}

func TestWordOf(t *testing.T) {
	aside := []string{
		model.EventWords[hooks.SessionStart], model.EventWords[hooks.SessionEnd], model.EventScan, model.EventSave,
		model.EventUndo, model.EventSafety,
	}
	tool := []string{model.EventWords[hooks.BeforeTool], model.EventWords[hooks.AfterTool]}
	words := append([]string{"", "subagent-stop", "other"}, aside...)
	for _, word := range model.EventWords {
		words = append(words, word)
	}
	for _, word := range words {
		want := ledger.Loose
		switch {
		case word == model.EventWords[hooks.Stop]:
			want = ledger.Stop
		case slices.Contains(tool, word):
			want = ledger.Tool
		case slices.Contains(aside, word):
			want = ledger.Aside
		}
		if got := ledger.WordOf(word); got != want {
			t.Errorf("%q: %d, want %d", word, got, want)
		}
	}
}
