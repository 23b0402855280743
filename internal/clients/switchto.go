package clients

import "rewind/transcript"

// SwitchTo returns what a person types into a running program of the agent to go on in another session. "": nothing is
// known to work, and the program must be closed.
func SwitchTo(agent transcript.Agent, session string) string {
	switch agent {
	case transcript.Claude:
		return "/resume " + session
	case transcript.Gemini:
		return "/resume" // it shows the sessions to choose from
	}
	return ""
}
