package value

import "time"

// Level says how a check ended.
type Level string

// The levels of checks.
const (
	LevelOK      Level = "ok"
	LevelNote    Level = "note"    // worth knowing, nothing to be done
	LevelFinding Level = "finding" // something does not work as it should
)

// Check is one thing that rewind needs, as it was found.
type Check struct {
	Name   string     `json:"name"` // what was looked at: project, store, daemon, an agent, disk, watches, ...
	Level  Level      `json:"level"`
	Text   Text       `json:"text"`
	Remedy Text       `json:"remedy,omitempty"` // of a finding: a command, or what to do
	Last   *time.Time `json:"last,omitempty"`   // of an agent: its newest event in this project; nil: none is known
}

// Lost is an object of a store that is damaged, and that nothing was found to repair.
type Lost struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Place Text   `json:"place"` // what names it
}

// Affected is a checkpoint that cannot be restored whole.
type Affected struct {
	Checkpoint   string `json:"checkpoint"`
	Whole        bool   `json:"whole,omitempty"` // all of it is lost, and with it which paths it had
	Paths        []Text `json:"paths,omitempty"` // what of it is lost, the first 100; a directory stands for all below it
	More         int    `json:"more,omitempty"`  // further paths
	Conversation bool   `json:"conversation,omitempty"`
	Note         bool   `json:"note,omitempty"` // what was not captured is not known any more
}
