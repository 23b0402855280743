package main

import (
	"os"
	"path/filepath"
	"testing"

	"rewind/transcript"
)

// TestKillManageT10 kills what removes and rewrites session files on a person's word, what changes how sessions stand
// among others, and what takes either back.
func TestKillManageT10(t *testing.T) {
	t.Parallel()
	remove, archive := []string{"forks", "delete", "5f1c0d2e", "--yes"}, []string{"forks", "archive", "5f1c0d2e"}
	promote := func(k *talker) []string { return []string{"forks", "promote", k.other()} }
	undo := []string{"undo-restore"}
	lost := func(k *talker) []string {
		rel, err := filepath.Rel(k.home, k.file)
		must(t, err, os.Remove(k.file), os.Remove(filepath.Join(k.saved(), rel)))
		return []string{"sessions", "restore", "5f1c0d2e"}
	}
	killConversations(t, []conversationCase{
		{name: "delete", agent: transcript.Claude, args: remove, points: 5},
		{name: "undo-restore of delete", agent: transcript.Claude, then: remove, args: undo, points: 5, leaves: true},
		{name: "rename", agent: transcript.Droid, args: []string{"forks", "rename", "9fb54b8e", "mine"}, points: 5},
		{name: "promote", agent: transcript.Claude, then: []string{"fork", "turn:1"}, argsOf: promote, standings: true, points: 5},
		{name: "archive", agent: transcript.Claude, args: archive, standings: true, points: 5},
		{
			name: "restore", agent: transcript.Claude, then: archive, args: []string{"forks", "restore", "5f1c0d2e"}, standings: true,
			points: 5,
		},
		{name: "what its agent lost", agent: transcript.Claude, argsOf: lost, points: 5},
		{name: "undo-restore of archive", agent: transcript.Claude, then: archive, args: undo, standings: true, rare: true},
	})
}
