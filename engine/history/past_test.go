package history_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/model"
	"rewind/internal/value"
)

// TestPast: turns from before rewind heard of a session are rows behind the log, the newest first, page by page; each
// is known by its name, and who wants its code is told that there is none.
func TestPast(t *testing.T) {
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	said := func(n, turns int) *enginetest.Talker {
		k := p.Talker(n)
		for i := range turns {
			k.Line("user", fmt.Sprintf(`{"role":"user","content":"%d of %d"}`, i+1, n))
			k.Say("there")
		}
		return k
	}
	said(1, 3)
	said(2, 1)
	on := said(3, 2)
	if _, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil); err != nil {
		t.Fatal(err)
	}
	on.Take("3 of 3", p.Edits("f", "1"))
	begun := said(4, 1) // heard of from its second turn on
	begun.Take("2 of 4", p.Edits("f", "2"))
	begun.Line("user", `{"role":"user","content":"not captured yet"}`)

	list := func(o history.RowOptions) (out []string, next uint64) {
		t.Helper()
		res, err := p.E.History.Rows(enginetest.Bg, o)
		p.Must(err)
		for i := range res.Rows {
			r := &res.Rows[i]
			out = append(out, fmt.Sprintf("%s %t", strings.TrimSpace(r.Prompt), r.NoCode))
			if r.NoCode != (r.Checkpoint == nil) {
				t.Errorf("%s of %s: %t, %v", r.Prompt, r.Of, r.NoCode, r.Checkpoint)
			}
		}
		return out, res.Next
	}
	all, next := list(history.RowOptions{Past: true})
	if len(all) != 10 || next != 0 || all[0] != "2 of 4 false" {
		t.Errorf("%d %q, next %d", len(all), all, next)
	}
	for _, want := range []string{"1 of 4", "2 of 3", "1 of 3", "1 of 2", "3 of 1", "1 of 1"} {
		want += " true"
		if strings.Count(strings.Join(all, "\n"), want) != 1 {
			t.Errorf("%s is not once in %q", want, all)
		}
	}
	var paged []string
	for o := (history.RowOptions{Past: true, Limit: 2}); ; {
		rows, next := list(o)
		paged = append(paged, rows...)
		if o.Before = next; next == 0 {
			break
		}
	}
	enginetest.Equal(t, "pages", paged, all)
	if rows, _ := list(history.RowOptions{}); len(rows) != 3 {
		t.Errorf("without the past: %q", rows)
	}
	of1 := value.Filter{Session: "claude/" + enginetest.ClaudeID(1), Prompt: "2 of"}
	rows, _ := list(history.RowOptions{Past: true, Filter: history.Filter{Filter: of1}})
	enginetest.Equal(t, "filtered", rows, []string{"2 of 1 true"})
	res, err := p.E.History.Rows(enginetest.Bg, history.RowOptions{Past: true})
	p.Must(err)
	links, err := p.E.History.Graph(enginetest.Bg, res.Rows)
	p.Must(err)
	for i, l := range links {
		if r := &res.Rows[i]; r.NoCode && (l != nil) != (r.Turn > 1) {
			t.Errorf("turn %d of %s goes on from %+v", r.Turn, r.Of, l)
		} else {
			onFromTheTurnBefore(t, res.Rows, i, l)
		}
	}

	name := "turn:2@" + enginetest.ClaudeID(1)
	s, row, err := p.E.History.ShowTurn(enginetest.Bg, name, "", nil)
	if err != nil || row == nil || !row.NoCode || row.Prompt != "2 of 1" || s.Checkpoint != nil {
		t.Errorf("%+v, %v", row, err)
	}
	var none *model.NoCodeError
	if _, err := p.E.History.Resolve(name); !errors.As(err, &none) || !strings.HasPrefix(name, none.Moment) {
		t.Errorf("%v", err)
	}
	var noTurn *model.NoTurnError
	_, _, err = p.E.History.ShowTurn(enginetest.Bg, "turn:4@"+enginetest.ClaudeID(1), "", nil)
	if !errors.As(err, &noTurn) || noTurn.Turns != 3 {
		t.Errorf("%v", err)
	}
	_, row, err = p.E.History.ShowTurn(enginetest.Bg, "turn:3@"+enginetest.ClaudeID(3), "", nil)
	if err != nil || !row.Coded() {
		t.Errorf("%+v, %v", row, err)
	}
}

// onFromTheTurnBefore holds that a row without code goes on from the turn before it, with nothing between.
func onFromTheTurnBefore(t *testing.T, rows []history.Row, i int, l *history.Link) {
	t.Helper()
	r := &rows[i]
	if !r.NoCode || l == nil {
		return
	}
	if b := &rows[l.Row]; b.Of != r.Of || b.Turn != r.Turn-1 || l.Elided != 0 {
		t.Errorf("turn %d of %s goes on from turn %d of %s, elided %d", r.Turn, r.Of, b.Turn, b.Of, l.Elided)
	}
}

// TestPastAskedFor: of a turn without code it is told from which one it goes on, also where that is not listed; who
// asks for a tool or for whose changes they are gets none.
func TestPastAskedFor(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProject(t)
	p.Write("f", "0")
	p.Save("first")
	k := p.Talker(1)
	for n := range 3 {
		k.Used(fmt.Sprint("turn ", n+1))
		k.Say("there")
	}
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	for _, tt := range []struct {
		f    value.Filter
		want string
	}{
		{value.Filter{Prompt: "turn"}, "3>1 2>2 1"},
		{value.Filter{Prompt: "2"}, "2>-1"},
		{value.Filter{Prompt: "1"}, "1"},
		{value.Filter{Agent: "codex"}, ""},
		{value.Filter{Session: k.ID, Prompt: "3"}, "3>-1"},
		{value.Filter{Agent: "claude", Tool: "Bash"}, ""},
		{value.Filter{Agent: "claude", By: "outside"}, ""},
	} {
		o := history.RowOptions{Past: true, Filter: history.Filter{Filter: tt.f}}
		res, err := p.E.History.Rows(enginetest.Bg, o)
		p.Must(err)
		links, err := p.E.History.Graph(enginetest.Bg, res.Rows)
		p.Must(err)
		var got []string
		for i := range res.Rows {
			line := fmt.Sprint(res.Rows[i].Turn)
			if links[i] != nil {
				line += fmt.Sprint(">", links[i].Row)
			}
			got = append(got, line)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %s, want %s", tt.f, got, tt.want)
		}
	}
}
