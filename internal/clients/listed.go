package clients

import (
	"context"

	"rewind/internal/value"
	"rewind/transcript"
)

// Listed makes the agent's own list show a session file that was just written. title is how it is called there; "": as
// the agent calls it. An error is to be told to the user; the session can be resumed by its id all the same.
//
// Claude looks into its folders by itself; where a version from before 2.1.30 has left a sessions-index.json, that gets
// an entry. Gemini and Droid look by themselves. Codex is told by its own program: errNoProgram is wrapped where that
// is not on env.Path. It lists what session_meta calls "cli"; a session of `codex exec` is in its list only with
// --include-non-interactive, whatever its title.
func Listed(ctx context.Context, agent transcript.Agent, env value.AgentEnv, root, path, id, title string) error {
	switch agent {
	case transcript.Claude:
		return indexClaude(path, id, title)
	case transcript.Codex:
		return registerCodex(ctx, env, root, id, title)
	}
	return nil
}
