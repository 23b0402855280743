package history_test

import (
	"os"
	"testing"

	"rewind/engine/enginetest"
	"rewind/engine/history"
	"rewind/engine/manage"
	"rewind/internal/value"
	"rewind/refs"
)

// TestPutAway: a session that a person has archived is in no list that is not asked for it, nor are its turns of which
// only the conversation is known; nobody is told what its agent has lost of it.
func TestPutAway(t *testing.T) {
	t.Parallel()
	p, first := enginetest.TwoTurns(t)
	old := p.Talker(2)
	old.Used("long ago")
	old.Say("done")
	_, err := p.E.Talks.Import(enginetest.Bg, p.Env(), nil)
	p.Must(err)
	h := p.E.History
	told := func(archived bool) {
		t.Helper()
		list, left, err := h.SessionList(enginetest.Bg, false, 0)
		p.Must(err)
		whole, none, err := h.SessionList(enginetest.Bg, true, 0)
		p.Must(err)
		hidden := map[bool]int{true: 1}[archived]
		all := len(whole) == 2 && none == history.Left{}
		if len(list) != 2-hidden || left != (history.Left{Hidden: hidden}) || !all {
			t.Errorf("archived %t: %d and %d sessions, %+v, %+v", archived, len(list), len(whole), left, none)
		}
		loss := map[bool]value.Loss{false: value.LossGone, true: value.NoLoss}[archived]
		for i := range whole {
			if s := &whole[i]; s.Name == old.Name() && s.Loss != loss {
				t.Errorf("archived %t: its loss is %q", archived, s.Loss)
			}
		}
		for session, want := range map[string]int{"": 4 - hidden, old.Name(): 1, first.Name(): 2} {
			o := history.RowOptions{Past: true, Filter: history.Filter{Filter: value.Filter{Session: session}}}
			res, err := h.Rows(enginetest.Bg, o)
			if p.Must(err); len(res.Rows) != want {
				t.Errorf("archived %t: %d rows of %q, want %d", archived, len(res.Rows), session, want)
			}
		}
	}
	raw := p.Slurp(old.File)
	p.Must(os.Remove(old.File))
	told(false)
	p.Must(os.WriteFile(old.File, []byte(raw), 0o600))
	_, err = p.E.Restorer.Manage(enginetest.Bg,
		manage.Request{Kind: refs.KindArchive, Sessions: []string{old.ID}, Env: p.Env()})
	p.Must(err)
	p.Must(os.Remove(old.File))
	told(true)
}
