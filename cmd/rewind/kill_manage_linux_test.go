package main

import (
	"testing"

	"rewind/transcript"
)

// TestKillManageT10 kills what removes and rewrites session files on a person's word, and what brings them back.
func TestKillManageT10(t *testing.T) {
	t.Parallel()
	remove := []string{"forks", "delete", "5f1c0d2e", "--yes"}
	killConversations(t, []conversationCase{
		{name: "delete", agent: transcript.Claude, args: remove, points: 12},
		{name: "undo-restore of delete", agent: transcript.Claude, then: remove, args: []string{"undo-restore"}, points: 12},
		{name: "rename", agent: transcript.Droid, args: []string{"forks", "rename", "9fb54b8e", "mine"}, points: 10},
	})
}
