package engine

import (
	"os"
	"path/filepath"
	"time"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/hooks"
	"rewind/internal/value"
)

const (
	// unheard is for how long a session that no event came from may write its file before that is said: an agent makes
	// the file before it calls the first hook.
	unheard = time.Minute
	// quietFor is the same for one that events came from: a turn may think for long, and with few hooks works for long
	// without one.
	quietFor = 15 * time.Minute
	// grown is by how many bytes its file must be longer than what is known of it: a title, or a name, is no work.
	grown = 2 << 10
)

// Began is when this store was made: what agents did before it nobody should have heard of.
func (e *Engine) Began() time.Time {
	fi, err := os.Stat(filepath.Join(e.Log.Project.Store, "format"))
	if err != nil {
		return e.Log.Now()
	}
	return fi.ModTime()
}

// An audience is what is known in a project of who was heard.
type audience struct {
	root     string
	began    time.Time
	sessions []model.Session // newest first
}

// silent is the newest session file that an agent has written in the project while no event came from it: whatever the
// settings say, its hooks are not called. It costs a look at the names in the agent's folder. ok: there is none.
//
// An event of the agent from here on, of any session, ends the finding.
func (a audience) silent(agent hooks.Agent, env value.AgentEnv) (path string, at time.Time, ok bool) {
	if a.root == "" {
		return "", time.Time{}, true
	}
	since := a.began
	known := map[string]model.Session{}
	for _, s := range a.sessions {
		if s.Agent != agent {
			continue
		}
		known[s.ID] = s
		if s.Event != "" && s.Last.After(since) {
			since = s.Last
		}
	}
	for _, f := range register.Written(agent, env, a.root, since.Add(unheard)) {
		s, heard := known[f.Session]
		switch {
		case !heard:
		case s.Event == "" && f.At.Before(s.Last.Add(unheard)), f.Size < s.Cursor.Length+grown:
			continue // rewind's own fork, or a name that it was given
		case s.Event != "" && f.At.Before(s.Last.Add(quietFor)):
			continue
		}
		return f.Path, f.At, false
	}
	return "", time.Time{}, true
}
