package history_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/model"
	"rewind/internal/value"
)

// TestTurnsThatAFileLost: what a session's file had before it was cut by nobody's wish can still be named, read and
// listed, also of a session that was imported; what the file has again is its own.
func TestTurnsThatAFileLost(t *testing.T) {
	t.Parallel()
	for _, imported := range []bool{false, true} {
		t.Run(fmt.Sprint("imported ", imported), func(t *testing.T) { lostTurns(t, imported) })
	}
}

func lostTurns(t *testing.T, imported bool) {
	t.Helper()
	p, k := enginetest.Begun(t)
	for n, text := range []string{"one", "two", "three"} {
		if imported {
			k.Used(text)
			k.Say("done: " + text)
			continue
		}
		k.Take(text, p.Edits("f", fmt.Sprint(n+1)))
	}
	if imported {
		_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
		p.Must(err)
	}
	p.Settle()
	left, _, _ := strings.Cut(p.Slurp(k.File), "done: one")
	p.Must(os.WriteFile(k.File, enginetest.WholeLines([]byte(left)), 0o600))
	h, w := p.E.History, model.SessionChoice{Session: k.Name()}
	l, err := h.Turns(enginetest.Bg, w, 0)
	p.Must(err)
	var got []string
	for i := range l.Turns {
		turn := &l.Turns[i]
		got = append(got, fmt.Sprintf("%d %s %t %t", turn.Number, turn.Summary, turn.Gone, turn.Checkpoint != ""))
	}
	coded := !imported
	enginetest.Equal(t, "turns", got, []string{
		fmt.Sprint("1 one false ", coded), fmt.Sprint("2 two true ", coded), fmt.Sprint("3 three true ", coded),
	})
	if l.Loss != value.LossCut {
		t.Errorf("the loss is %q", l.Loss)
	}
	lostMoments(t, p, k.Name(), imported)
}

// lostMoments holds what the turns that a file lost, and those before and behind them, are by their names.
func lostMoments(t *testing.T, p *enginetest.Project, session string, imported bool) {
	t.Helper()
	h := p.E.History
	p.Must(p.E.Log.LoadSessions())
	for n, text := range map[int]string{1: "one", 2: "two", 3: "three"} {
		name := fmt.Sprintf("turn:%d@%s", n, session)
		m, err := h.Moment("", name)
		p.Must(err)
		if m.Turn != n || m.Err != nil || (m.Checkpoint == nil) != imported {
			t.Errorf("%s: %+v", name, m)
		}
		row, err := h.TurnRow(enginetest.Bg, name, "")
		if p.Must(err); row == nil || row.Prompt != text || row.NoCode != imported {
			t.Errorf("the row of %s: %+v", name, row)
		}
	}
	for n := range 3 {
		m, err := h.Moment(session, fmt.Sprintf("before:%d", n+1))
		if imported && n == 0 {
			if !errors.Is(err, model.ErrNotFound) {
				t.Errorf("before the first: %+v, %v", m, err)
			}
			continue
		}
		if p.Must(err); m.Turn != n {
			t.Errorf("before turn %d: %+v", n+1, m)
		}
	}
	if _, err := h.Moment("", "turn:4@"+session); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a turn that nobody took: %v", err)
	}
}
