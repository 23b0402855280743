package register

import (
	"path/filepath"

	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/transcript"
)

// ClientEnv is the environment in which an agent's program is looked for and run.
func (v AgentEnv) ClientEnv() clients.Env {
	return clients.Env{Home: v.Home, Vars: v.Vars, Path: v.Path}
}

// Folders is where the agents' own folders of the person are.
func (v AgentEnv) Folders() agentfiles.Folders {
	return func(agent transcript.Agent) string {
		if !filepath.IsAbs(v.Home) {
			return ""
		}
		return v.ClientEnv().Root(agent)
	}
}
