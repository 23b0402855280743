package sessions

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/transcript"
)

// OpenBy is the sign by which an agent is seen to have a session open; "": it has not. The client's own signs and its
// processes count; where neither can be seen, events in the last ten minutes without an end do.
func (ss *Sessions) OpenBy(s *model.Session) string { return ss.OpenIn(s, new(clients.Processes)) }

// OpenIn is OpenBy as of one look at the processes, for lists of sessions.
func (ss *Sessions) OpenIn(s *model.Session, look *clients.Processes) string {
	agent := s.Agent
	root, _, err := transcript.SessionFile(agent, s.Transcript)
	if err != nil {
		return ""
	}
	live, err := look.Running(agent, root, s.ID)
	switch {
	case live.Running:
		return live.How
	case err == nil && runtime.GOOS == "linux":
		return ""
	}
	if age := ss.log.Since(s.Last); s.Event != "" && !s.Ended && age >= 0 && age < model.ActiveWithin {
		return "its last event was " + humanize.RelTime(s.Last, ss.log.Now(), "ago", "from now")
	}
	return ""
}

// MustRest fails with a *model.RunningError while an agent has the session open, or is at work on it by its events. Its
// file must not change then: the agent would go on after records that are no longer there. force lets it be changed.
// The log's lock is held.
func (ss *Sessions) MustRest(s *model.Session, force bool) error {
	if force {
		return nil
	}
	look := new(clients.Processes)
	how := ss.OpenIn(s, look)
	if how == "" {
		how = ss.workOf(s, look)
	}
	if how == "" {
		return nil
	}
	return &model.RunningError{Session: s.Name, How: how}
}

// workOf is what an agent is at in a session whose program is not seen, as its events tell, for people; "": nothing.
func (ss *Sessions) workOf(s *model.Session, look *clients.Processes) string {
	w, ok := ss.AtWork(s, look)
	if !ok {
		return ""
	}
	what := "its turn is under way"
	if w.Known == value.WorkCall {
		what = fmt.Sprintf("a call of %s is open", w.Tools[0].Name)
	}
	return fmt.Sprintf("%s, its last event was %s", what, humanize.RelTime(s.Last, ss.log.Now(), "ago", "from now"))
}

// ListWait is how long an agent's own program may take to put a session into its list.
const ListWait = 15 * time.Second

// Forget has the agent drop what it keeps elsewhere of a session file that was changed.
func (ss *Sessions) Forget(ctx context.Context, s *model.Session, env value.AgentEnv) error {
	agent := s.Agent
	at, err := register.Folders(env).Of(agent, s.Transcript)
	if err != nil {
		return err
	}
	if err := clients.Forget(ctx, agent, env, at.Folder, s.ID); err != nil {
		return &value.OpError{Op: "session", Subject: s.Name, Err: err}
	}
	return nil
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	if a == b {
		return true
	}
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
