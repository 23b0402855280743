package restore

import (
	"context"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/refs"
	"rewind/transcript"
)

// sessionFiles are the paths of files that are a known session's own, without the files that agents keep beside them.
func (rs *Restorer) sessionFiles(files []refs.File) []string {
	var out []string
	for _, f := range files {
		if _, ok := rs.agentOf(f.Path); ok {
			out = append(out, f.Path)
		}
	}
	return out
}

// addToAgentList has the agent's program put a new session into its list, for at most sessions.ListWait, and sets f.Listed or f.Problem.
// Without it the session can still be resumed by its id.
func (rs *Restorer) addToAgentList(ctx context.Context, agent transcript.Agent, env value.AgentEnv, f *model.Fork) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.ListWait)
	defer cancel()
	at, err := register.Folders(env).Of(agent, f.Path) // the program runs on this folder: it must be the person's own
	if err == nil {
		_, id := model.SplitSession(f.Session)
		err = clients.Listed(ctx, agent, env, at.Folder, f.Path, id, f.Title)
	}
	if err != nil {
		f.Problem = err.Error()
		return
	}
	f.Listed = true
}
