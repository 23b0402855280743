package register

import (
	"path/filepath"

	"rewind/internal/agentfiles"
	"rewind/internal/clients"
	"rewind/internal/value"
)

// Folders is where the agents' own folders of the person are.
func Folders(env value.AgentEnv) agentfiles.Folders {
	return func(agent value.Agent) string {
		if !filepath.IsAbs(string(env.Home)) {
			return ""
		}
		return clients.Root(env, agent)
	}
}
