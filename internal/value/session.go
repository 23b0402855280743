package value

import "time"

// SessionChoice says which session's line a command walks along.
type SessionChoice struct {
	Session string `json:"session,omitempty"` // a session's name, agent/id, or a prefix of the id; "": the current one
	Choose  bool   `json:"choose,omitempty"`  // when several are at work, take the newest and say so instead of refusing
}

// Lineage is where a fork or clone comes from.
type Lineage struct {
	Session    string    `json:"session"`              // the name of the session that it was made of
	Turn       int       `json:"turn"`                 // the last turn that both have, as that session counts
	Message    string    `json:"message,omitempty"`    // the last message of that session that both have
	Checkpoint string    `json:"checkpoint,omitempty"` // id of the checkpoint that it was made at
	Time       time.Time `json:"time"`
	Clone      bool      `json:"clone,omitempty"`
	Kind       string    `json:"kind"` // fork, clone, checkout, undo, redo: the command that made it; agent: the agent itself
}

// Head is where the user's git repository stood.
type Head struct {
	Commit string `json:"commit,omitempty"` // hex
	Branch string `json:"branch,omitempty"` // "" when detached
}
