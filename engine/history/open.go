// Package history is the log for people: it is the one place where a name (an id's prefix, a tag, a time, turn:5, @~3) becomes a checkpoint
// or a moment, and it gives the lists: checkpoints, turns, messages, sessions, tags, operations.
package history

import (
	"sync/atomic"

	"rewind/engine/conversation"
	"rewind/engine/ledger"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
	"rewind/objstore"
)

// History answers what people ask of an open project's log.
type History struct {
	log           *oplog.Log
	leaks         *secrets.Leaks
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	ledger        *ledger.Ledger
	*State
}

// State is what all views of a History share. Its parts have locks of their own.
type State struct {
	talks talks
	sums  sums
	works works
	turns turnLogs
	known knowing

	lastKin atomic.Pointer[kin]
}

// New makes a History of the rooms that it reads.
func New(
	log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, rows *ledger.Ledger,
	st *State,
) *History {
	h := &History{log, k, s, c, rows, st}
	rows.VersionsBy(h.version)
	s.TitlesBy(h.titled)
	return h
}

// memo reads objects of one kind, each mostly a version of one that was read a moment ago, through a memo, and others as they are.
type memo struct {
	objstore.Getter
	kind objstore.Kind
	memo *objstore.Memo
}

func newMemo(s *objstore.Store, k objstore.Kind) memo { return memo{s, k, s.Memo(k)} }

// Get implements objstore.Getter.
func (m memo) Get(k objstore.Kind, id objstore.ID) ([]byte, error) {
	if k == m.kind {
		return m.memo.Get(id)
	}
	return m.Getter.Get(k, id)
}
