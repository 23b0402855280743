package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/engine/restore"
	"rewind/hooks"
)

// TestGoesOnInANewSession: Droid's /compress goes on in a session that has no turn of the one before. What lies before
// is on the line all the same: nobody went back.
func TestGoesOnInANewSession(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	a := p.Scribe(hooks.Droid, "aaaaaaaa-0000-4000-8000-000000000001")
	turn := func(s *enginetest.Scribe, text string) {
		s.Asked(text)
		s.Tell(hooks.Prompt, map[string]any{"prompt": text})
		s.Does(text, text)
		s.Says("done: " + text)
		s.Tell(hooks.Stop, nil)
	}
	a.Tell(hooks.SessionStart, map[string]any{"source": "startup"})
	for _, text := range []string{"one", "two"} {
		turn(a, text)
	}
	id := "bbbbbbbb-0000-4000-8000-000000000002"
	file := filepath.Join(filepath.Dir(a.File), id+".jsonl")
	p.Must(os.WriteFile(file, fmt.Appendf(nil, `{"type":"session_start","id":%q,"title":"t","owner":"unknown",`+
		`"parent":%q,"version":2,"cwd":%q}`+"\n"+
		`{"type":"compaction_state","id":"c1","timestamp":"2026-11-20T10:30:00.000Z","summaryText":"short","summaryTokens":3,`+
		`"summaryKind":"llm_summary","removedCount":9}`+"\n", id, a.ID, p.Root), 0o600))
	b := p.PickUp(hooks.Droid, id, file)
	b.Tell(hooks.SessionStart, map[string]any{"source": "compact"})
	turn(b, "three")
	p.Settle()
	if of := p.Session(b.Name()).Fork; of == nil || of.Session != a.Name() || of.Turn != 2 || of.Unsaid != 2 {
		t.Fatalf("it goes on from %+v", of)
	}
	rows, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	var got []string
	for i := range rows.Rows {
		r := &rows.Rows[i]
		got = append(got, fmt.Sprint(r.Turn, " ", r.Prompt, " ", r.Aside))
	}
	enginetest.Equal(t, "aside", got, []string{"3 three false", "2 two false", "1 one false", "0  false"})
	list, err := p.E.History.Turns(enginetest.Bg, model.SessionChoice{Session: b.Name()}, 0)
	p.Must(err)
	got = nil
	for i := range list.Turns {
		info := &list.Turns[i]
		got = append(got, fmt.Sprint(info.Number, " ", info.Summary, " ", info.Gone, " ", list.OwnAt == info.Number))
	}
	enginetest.Equal(t, "turns", got, []string{"1 one false false", "2 two false false", "3 three false true"})
	for n, want := range map[string]string{"1": a.Name() + " 1", "2": a.Name() + " 2", "3": b.Name() + " 1"} {
		m, err := p.E.History.Moment(b.Name(), "turn:"+n)
		p.Must(err)
		enginetest.Equal(t, "turn:"+n, []string{fmt.Sprint(m.Session, " ", m.Turn)}, []string{want})
	}
	fork := p.Fork("turn:3", restore.Options{Env: p.Env(), Session: model.SessionChoice{Session: b.Name()}})
	if of := p.Session(fork.Session).Fork; of.Turn != 3 || of.Both != 3 || of.Unsaid != 2 {
		t.Errorf("a fork of it has %+v", of)
	}
	turn(a, "on")
	rows, err = p.E.History.Rows(enginetest.Bg, history.RowOptions{})
	p.Must(err)
	if !rows.Rows[1].Aside || rows.Rows[2].Aside {
		t.Errorf("back in the session before: %+v", rows.Rows[:3])
	}
}
