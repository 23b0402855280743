package clients

import "rewind/transcript"

// SwitchTo is what a person types into a running program of the agent to have it go on in another session; "": there is
// nothing that is known to work, and the program has to be left.
func SwitchTo(agent transcript.Agent, session string) string {
	switch agent {
	case transcript.Claude:
		return "/resume " + session
	case transcript.Gemini:
		return "/resume" // it shows the sessions to choose from
	}
	return ""
}
