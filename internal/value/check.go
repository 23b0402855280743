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
