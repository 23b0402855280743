package value

// Uncaptured is a file that a call of an agent's edit tool changed, and that no checkpoint has as it was before:
// nothing takes that edit back.
type Uncaptured struct {
	Path    Text   `json:"path"`              // from the project's root; of a file outside of it absolute
	Reason  string `json:"reason"`            // outside (of the project), or the word for why a path is skipped: secret, size, ...
	Session string `json:"session,omitempty"` // whose call it was
	Turn    uint64 `json:"turn,omitempty"`    // of which turn, the newest that did
	Whose   string `json:"whose,omitempty"`   // as of a Checkpoint
	Project Text   `json:"project,omitempty"` // of one outside: the project there, which has it
}

// ReasonOutside is the reason of a file that lies outside of the project.
const ReasonOutside = "outside"
