package main

import (
	"testing"

	"rewind/transcript"
)

// TestKillSwitchT10 kills a switch to the session that a checkout has left, and with a tag for what is left behind.
func TestKillSwitchT10(t *testing.T) {
	t.Parallel()
	then := []string{"checkout", "turn:1"}
	for _, c := range []conversationCase{
		{name: "switch", agent: transcript.Claude, then: then, args: []string{"switch", "-"}, points: 6},
		{name: "switch with a tag", agent: transcript.Droid, then: then, args: []string{"switch", "-", "--tag", "left"}, points: 5},
	} {
		t.Run(string(c.agent)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			killConversation(t, c)
		})
	}
}
