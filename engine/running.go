package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"rewind/hooks"
	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/transcript"
)

// clientEnv is the environment in which an agent's program is looked for and run.
func (v AgentEnv) clientEnv() clients.Env {
	return clients.Env{Home: v.Home, Vars: v.Vars, Path: v.Path}
}

// folders is where the agents' own folders of the person are.
func (v AgentEnv) folders() agentfiles.Folders {
	return func(agent transcript.Agent) string {
		if !filepath.IsAbs(v.Home) {
			return ""
		}
		return v.clientEnv().Root(agent)
	}
}

// openBy reports by what an agent is seen to have a session open; "": it is not. The client's own signs and its processes count; where neither can be seen,
// events in the last ten minutes and no end do.
func (e *Engine) openBy(s *Session) string {
	agent := transcript.Agent(s.Agent)
	root, _, err := transcript.SessionFile(agent, s.Transcript)
	if err != nil {
		return ""
	}
	live, err := clients.Running(agent, root, s.ID)
	switch {
	case live.Running:
		return live.How
	case err == nil && runtime.GOOS == "linux":
		return ""
	}
	if age := e.since(s.Last); s.Event != "" && !s.Ended && age >= 0 && age < activeWithin {
		return "its last event was " + humanize.RelTime(s.Last, e.now(), "ago", "from now")
	}
	return ""
}

// mustRest refuses to change the file of a session that an agent has open: it would go on writing behind records that are not there any more.
func (e *Engine) mustRest(s *Session, force bool) error {
	if force {
		return nil
	}
	if how := e.openBy(s); how != "" {
		return &RunningError{Session: s.Name, How: how}
	}
	return nil
}

// listWait is how long an agent's own program may take to put a session into its list.
const listWait = 15 * time.Second

// list has the agent's own list show a session that was made. It can be resumed by its id in any case.
func (e *Engine) list(ctx context.Context, agent transcript.Agent, env AgentEnv, f *Fork) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listWait)
	defer cancel()
	at, err := env.folders().Of(agent, f.Path) // its program is run on that folder: on no other than the person's
	if err == nil {
		_, id := SplitSession(f.Session)
		err = clients.Listed(ctx, agent, env.clientEnv(), at.Folder, f.Path, id, f.Title)
	}
	if err != nil {
		f.Problem = told(err)
		return
	}
	f.Listed = true
}

// forget has the agent forget what it has noted elsewhere of a session file that was changed.
func (e *Engine) forget(ctx context.Context, s *Session, env AgentEnv) error {
	agent := transcript.Agent(s.Agent)
	at, err := env.folders().Of(agent, s.Transcript)
	if err != nil {
		return err
	}
	if err := clients.Forget(ctx, agent, env.clientEnv(), at.Folder, s.ID); err != nil {
		return fmt.Errorf("engine: session %s: %w", s.Name, err)
	}
	return nil
}

// resumeLine is the command line by which an agent opens a session.
func resumeLine(session string) []string {
	agent, id := SplitSession(session)
	if !understood(hooks.Agent(agent)) || id == "" {
		return nil
	}
	return transcript.Resume(transcript.Agent(agent), id)
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
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
