// Package history is the log for people. It is the one place that turns a name (an id's prefix, a tag, a time, turn:5,
// @~3) into a checkpoint or a moment. It gives the lists: checkpoints, turns, messages, sessions, tags, operations.
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

// History answers what people ask of an open project's log: its lists and pictures are its own. Below it is a layer for
// each question that others ask in turn, and a layer asks only those below:
//
//	nameReader    which state, moment or session a name means
//	forkReader    which sessions there are, and where forks part
//	turnReader    what a turn is: where it begins and ends, its number, its prompt
//	talkReader    what a stored conversation says
type History struct{ *nameReader }

type (
	nameReader struct{ *forkReader }
	forkReader struct{ *turnReader }
	turnReader struct {
		*talkReader
		ledger *ledger.Ledger
	}
	talkReader struct {
		log           *oplog.Log
		leaks         *secrets.Leaks
		sessions      *sessions.Sessions
		conversations *conversation.Conversations
		*State
	}
)

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
	h := &History{&nameReader{&forkReader{&turnReader{&talkReader{log, k, s, c, st}, rows}}}}
	rows.VersionsBy(h.version)
	s.TitlesBy(h.titled)
	return h
}

// memo reads objects of one kind, each mostly a version of one that was read a moment ago, through a memo, and others
// as they are.
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
