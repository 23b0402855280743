package project

import (
	"time"
)

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
	Name   string // what was looked at: an agent, watches, disk, ...
	Level  Level
	Text   string
	Remedy string    // of a finding: a command, or what to do
	Last   time.Time // of an agent: its newest event in this project; zero: none is known
}

// RegisterRemedy is what puts hooks right.
const RegisterRemedy = "rewind config --register-hooks"
