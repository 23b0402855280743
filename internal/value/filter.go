package value

import "time"

// Filter says which checkpoints and turns a list has: those for which all of it holds. The zero value has every one.
type Filter struct {
	Session string    `json:"session,omitempty"` // agent/id, or how the agent's id begins
	Agent   string    `json:"agent,omitempty"`
	Tool    string    `json:"tool,omitempty"` // its name, in any case
	By      string    `json:"by,omitempty"`   // agent: changed while a tool call ran; outside: not so
	Since   time.Time `json:"since,omitzero"` // of the end of a turn, as Until
	Until   time.Time `json:"until,omitzero"`
	Prompt  Text      `json:"prompt,omitempty"` // words, each of which the prompt or a person's message has, in any case
}
