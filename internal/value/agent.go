package value

// Agent names an agent: the word after --agent. Another name than these is taken as it is.
type Agent string

// The agents whose payloads and session files are understood.
const (
	Claude Agent = "claude"
	Codex  Agent = "codex"
	Gemini Agent = "gemini"
	Droid  Agent = "droid"
)

// Agents lists them in the order in which they are told.
func Agents() []Agent { return []Agent{Claude, Codex, Gemini, Droid} }

// AgentEnv says where agents keep their own: the environment of the person who asks, not that of the process that
// answers.
type AgentEnv struct {
	Home Text            `json:"home"`                // the user's home directory
	Vars map[string]Text `json:"variables,omitempty"` // those that are set of the variables by which agents move their own; absolute paths

	Programs []Agent `json:"programs,omitempty"` // the agents whose program is on the PATH: installed, if they have never been started, too
	Path     Text    `json:"path,omitempty"`     // the PATH, where an agent's program has to be run
	Rewind   Text    `json:"rewind,omitempty"`   // the rewind that asks, which hooks are to start; "": the one of the process that answers
}

// Var is the value of a variable, "" of one that is not set.
func (e AgentEnv) Var(name string) string { return string(e.Vars[name]) }
