package manage

import (
	"context"

	"rewind/engine/model"
	"rewind/engine/register"
	"rewind/engine/sessions"
	"rewind/internal/clients"
	"rewind/internal/value"
	"rewind/transcript"
)

// AddToAgentList has the agent's program put a new session into its list, for at most sessions.ListWait, and sets
// f.Listed or f.Problem. Without it the session can still be resumed by its id.
func AddToAgentList(ctx context.Context, agent transcript.Agent, env value.AgentEnv, f *model.Fork) {
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

// TellTitles has the agents' own lists show the titles that sessions were given; it returns why one does not.
func (m *Manager) TellTitles(ctx context.Context, env value.AgentEnv, managed []value.Managed) string {
	for _, d := range managed {
		s := m.log.Session(d.Session)
		if d.Title == d.WasTitle || s == nil || !model.Understood(s.Agent) {
			continue
		}
		f := &model.Fork{Session: s.Name, Title: string(d.Title), Path: s.Transcript}
		if AddToAgentList(ctx, s.Agent, env, f); f.Problem != "" {
			return f.Problem
		}
	}
	return ""
}
