package capture

import (
	"context"
	"time"

	"rewind/engine/model"
	"rewind/hooks"
)

// departAgain is when it is looked again whether the program of an open call runs.
const departAgain = 3 * time.Second

// A caller is the program of a session with a call open, as it was seen in a turn.
type caller struct {
	turn    uint64
	program interface{ Runs() bool } // nil: it is not seen
}

// departed ends the sessions whose program was seen during an open call, and has ended. A killed agent, or one with a
// closed terminal, sends no event, and later changes by others are not that call's. A program that cannot be seen is
// taken to run. again is when to look once more; 0: no need.
func (wt *Worktree) departed(ctx context.Context) (again time.Duration, err error) {
	wt.log.Lock()
	var calling []model.Session
	err = wt.log.LoadSessions()
	for name, s := range wt.log.EachSession() {
		if len(s.Calls) > 0 && !s.Ended {
			calling = append(calling, *s)
		} else {
			wt.callers.Delete(name)
		}
	}
	wt.log.Unlock()
	for i := range calling {
		s := &calling[i]
		known, ok := wt.callers.Load(s.Name)
		c, _ := known.(caller)
		if ok && c.turn == s.Turn && (c.program == nil || c.program.Runs()) {
			if c.program != nil {
				again = departAgain
			}
			continue
		}
		// looked for once a turn, and where it is gone: the session may have been gone on with by another one
		now := wt.caller(s)
		wt.callers.Store(s.Name, now)
		if now.program != nil {
			again = departAgain
			continue
		}
		if c.program == nil || c.program.Runs() {
			continue
		}
		if _, err := wt.Handle(ctx, hooks.Event{Agent: s.Agent, Session: s.ID, Kind: hooks.SessionEnd, Name: model.Departed},
			HandleOptions{Tier: wt.log.Config.HookTier()}); err != nil {
			return again, err
		}
	}
	return again, err
}

func (wt *Worktree) caller(s *model.Session) caller {
	c := caller{turn: s.Turn}
	if p := wt.sessions.Program(s); p != nil {
		c.program = p
	}
	return c
}
