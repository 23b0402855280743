package sessions_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"rewind/engine/model"
	"rewind/internal/value"
)

// TestMustRestAtWork: the file of a session that is at work, as its events tell, is not changed unless it is forced; no
// program needs to be seen.
func TestMustRestAtWork(t *testing.T) {
	d := newDesk(t)
	call := model.Call{ID: "c1", Tool: "Bash"}
	calls := func(ago time.Duration, calls ...model.Call) func(*model.Session) {
		return func(s *model.Session) { s.Last, s.Calls = d.now.Add(-ago), calls }
	}
	turn := func(ago time.Duration) func(*model.Session) {
		return func(s *model.Session) { s.Last, s.Busy = d.now.Add(-ago), true }
	}
	ended := func(s *model.Session) { s.Ended, s.Calls = true, []model.Call{call} }
	left := func(s *model.Session) { s.Left, s.Calls = true, []model.Call{call} }
	for name, c := range map[string]struct {
		set func(*model.Session)
		why string // "": it may be changed
	}{
		"a call":                   {calls(time.Second, call), "a call of Bash is open"},
		"a turn":                   {turn(time.Second), "its turn is under way"},
		"a turn that a tool tells": {calls(time.Second, model.Call{ID: model.TurnCall}), "its turn is under way"},
		"nothing":                  {func(*model.Session) {}, ""},
		"a call, and it has ended": {ended, ""},
		"a call, and it was left":  {left, ""},
		"a call, two hours ago":    {calls(2*time.Hour, call), ""},
		"a turn, half an hour ago": {turn(time.Hour / 2), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d.session("claude/a", func(s *model.Session) {
				s.Agent, s.Last = value.Claude, d.now.Add(-3*time.Second)
				c.set(s)
			})
			s := d.log.Session("claude/a")
			err := d.ss.MustRest(s, false)
			var running *model.RunningError
			switch {
			case c.why == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.why == "":
			case !errors.As(err, &running) || !strings.HasPrefix(running.How, c.why+", its last event was "):
				t.Errorf("%v", err)
			}
			if err := d.ss.MustRest(s, true); err != nil {
				t.Errorf("forced: %v", err)
			}
		})
	}
}
