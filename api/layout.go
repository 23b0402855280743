package api

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
