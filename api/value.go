package api

import (
	"rewind/internal/value"
)

// The values that the engine knows, too, each declared once.
type (
	Text     = value.Text
	Agent    = value.Agent
	AgentEnv = value.AgentEnv
	Walk     = value.Whose
	Head     = value.Head
	Lineage  = value.Lineage
	Store    = value.Store
	Check    = value.Check
	Leak     = value.Leak
	Finding  = value.Finding
	Span     = value.Span
)

// Texts converts strings.
func Texts(list []string) []Text { return value.Texts(list) }

// Strings converts texts.
func Strings(list []Text) []string { return value.Strings(list) }
