package view

// The limits, for tests.
const (
	MaxBytes  = maxBytes
	MaxNodes  = maxNodes
	FileLines = fileLines
	ViewLines = viewLines
)
