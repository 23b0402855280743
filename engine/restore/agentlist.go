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

// sessionFiles are the paths of the sessions' own files among steps; what lies beside them goes without saying.
func (rs *Restorer) sessionFiles(files []refs.File) []string {
	var out []string
	for _, f := range files {
		if _, ok := rs.agentOf(f.Path); ok {
			out = append(out, f.Path)
		}
	}
	return out
}

// addToAgentList has the agent's own list show a session that was made. It can be resumed by its id in any case.
func (rs *Restorer) addToAgentList(ctx context.Context, agent transcript.Agent, env value.AgentEnv, f *model.Fork) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.ListWait)
	defer cancel()
	at, err := register.Folders(env).Of(agent, f.Path) // its program is run on that folder: on no other than the person's
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
