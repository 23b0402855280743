package api

import "rewind/internal/value"

// The values that the engine knows, too, each declared once.
type (
	Text     = value.Text
	Agent    = value.Agent
	AgentEnv = value.AgentEnv
)

// Texts converts strings.
func Texts(list []string) []Text { return value.Texts(list) }

// Strings converts texts.
func Strings(list []Text) []string { return value.Strings(list) }
