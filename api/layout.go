package api

import "rewind/internal/value"

// LayOutRequest makes a directory of what a checkpoint holds. Nothing of the project changes.
type LayOutRequest struct {
	Project
	Walk
	Checkpoint Text   `json:"checkpoint"`
	Paths      []Text `json:"paths,omitempty"`
	Into       Text   `json:"into"` // absolute; must not exist, and lies outside the project and the store
}

// LayOutResponse says what was made.
type LayOutResponse struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Into       Text       `json:"into"`
	Paths      int        `json:"paths"`          // files, links and directories
	Left       []Kept     `json:"left,omitempty"` // not made: their content was purged from the store, or is lost
	Without    []Without  `json:"without,omitempty"`
	Notices    []string   `json:"notices,omitempty"`
}

// Without is a path that a restore set, or found set, without something: setuid, setgid, sticky, owner, group, capabilities, attributes,
// links.
type Without struct {
	Path Text     `json:"path"`
	What []string `json:"what"`
}

// Kept is a path that stays although the target has it otherwise.
type Kept struct {
	Path   Text             `json:"path"`
	Dir    bool             `json:"dir,omitempty"`
	Reason value.KeptReason `json:"reason"`
	By     string           `json:"by,omitempty"`     // of session: which one changed it, as agent/id
	Shared bool             `json:"shared,omitempty"` // of session: the one that goes back may have written it, too, for calls of both ran
}

// Taken are paths that were set, or removed, only because exact was asked for.
type Taken struct {
	By    string `json:"by,omitempty"` // the other session that changed them, as agent/id; missing: no checkpoint held them
	Paths []Text `json:"paths"`
}
