package server

import (
	"slices"
	"testing"

	"rewind/api"
	"rewind/hooks"
	"rewind/internal/value"
)

// TestAgentVariables: a request can carry every variable that decides where settings are.
func TestAgentVariables(t *testing.T) {
	var asked []string
	for _, agent := range value.Agents() {
		hooks.SettingsFiles(agent, func(name string) string {
			asked = append(asked, name)
			return ""
		}, "/home/you")
	}
	// not of the person's settings: where Codex has its databases, and Gemini the machine's settings
	asked = append(asked, "CODEX_SQLITE_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
	slices.Sort(asked)
	want := api.AgentVariables()
	slices.Sort(want)
	if asked = slices.Compact(asked); !slices.Equal(asked, want) {
		t.Errorf("hooks asks for %q, a request carries %q", asked, want)
	}
}
