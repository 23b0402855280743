package main

import (
	"slices"
	"strings"
	"testing"

	"rewind/internal/value"
)

// TestTopicsAreWhole: each agent and each setting is told of, on at most two screens.
func TestTopicsAreWhole(t *testing.T) {
	t.Parallel()
	const screens = 2 * 50
	if len(agentsText) != len(value.Agents()) {
		t.Errorf("%d agents are told of, there are %d", len(agentsText), len(value.Agents()))
	}
	config := settingsHelp()
	for _, s := range value.Settings() {
		if !strings.Contains(config, "\n  "+s.Key+"  (") {
			t.Errorf("help config has no %s", s.Key)
		}
	}
	if !slices.IsSortedFunc(value.Settings(), func(a, b value.Setting) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("the settings are not in order")
	}
	for _, c := range topics() {
		if n := strings.Count(c.Long, "\n"); n > screens || c.Short == "" {
			t.Errorf("help %s: %d lines", c.Name(), n)
		}
	}
	if n := strings.Count(config, "\n"); n > screens {
		t.Errorf("help config: %d lines", n)
	}
}
