package view

// The limits, for tests.
const (
	MaxBytes  = maxBytes
	MaxNodes  = maxNodes
	FileLines = fileLines
	ViewLines = viewLines
)

// Markdown is markdown, for tests.
var Markdown = markdown

// Harmless are the tags that come out of it.
var Harmless = harmless
