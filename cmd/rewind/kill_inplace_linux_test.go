package main

import (
	"testing"

	"rewind/transcript"
)

// TestKillInPlaceT10 kills what changes an agent's own session file, what gives it its end back, and what makes another
// version of it: at any moment it has the old bytes or the new.
func TestKillInPlaceT10(t *testing.T) {
	t.Parallel()
	inPlace, forward := []string{"checkout", "turn:1", "--in-place"}, []string{"forward", "--in-place"}
	killConversations(t, []conversationCase{
		{name: "in-place", agent: transcript.Claude, args: inPlace, points: 8, leaves: true},
		{name: "in-place", agent: transcript.Droid, args: inPlace, points: 6},
		{name: "in-place", agent: transcript.Codex, args: inPlace, rare: true},
		{name: "version", agent: transcript.Claude, then: inPlace, args: forward, points: 6},
		{name: "version", agent: transcript.Droid, then: inPlace, args: forward, rare: true},
		{name: "version", agent: transcript.Codex, then: inPlace, args: forward, rare: true},
		{name: "undo-restore", agent: transcript.Claude, then: inPlace, args: []string{"undo-restore"}, points: 6},
		{name: "undo-restore", agent: transcript.Droid, then: inPlace, args: []string{"undo-restore"}, rare: true},
		{name: "undo-restore", agent: transcript.Codex, then: inPlace, args: []string{"undo-restore"}, rare: true},
		{name: "context-only", agent: transcript.Claude, args: append(inPlace, "--context-only"), rare: true},
	})
}
