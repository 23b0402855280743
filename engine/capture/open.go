// Package capture makes checkpoints: it takes agents' events in, in batches, looks at the worktree for what has changed since the last
// look, says whose changes those are, and commits a checkpoint with the conversation that belongs to it. It also watches the worktree, and
// looks again after a turn.
package capture

import (
	"sync/atomic"

	"rewind/engine/conversation"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
	"rewind/internal/gitinfo"
	"rewind/tree/snapshot"
)

// Worktree is a view of an open project's worktree.
type Worktree struct {
	log           *oplog.Log
	leaks         *secrets.Leaks
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	*State
}

// State is what all views have in common, guarded by the log's lock where its types need one.
type State struct {
	cache      *snapshot.Cache // loaded by the first capture
	Unsaved    *Overlay        // objects of the tree that Cache describes, which the store may lack; nil: it has them all
	git        gitinfo.Reader  // looks at the user's repository; needs no lock
	repo       *repository     // the user's repository as the last capture found it
	unread     unreadable      // what of it the last capture could not read
	seen       *oplog.Recent   // events recorded lately; nil: not loaded yet
	WatchState *watching       // nil: nobody watches
	// TurnEnded is the session whose turn ended since the whole tree was scanned last; "": none
	TurnEnded   string
	Busy        atomic.Pointer[activity] // the capture or restore under way; nil: none
	Waiting     queue                    // events that wait for a capture
	preemptions int                      // times in a row that a look at the whole tree was left off for an event
}

// NewState is the state of a worktree that nobody has looked at.
func NewState(log *oplog.Log) *State {
	st := new(State)
	st.Waiting.taking = &log.Taking
	return st
}

// New gives a view of what st knows.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, st *State) *Worktree {
	return &Worktree{log, k, s, c, st}
}

// Close waits for the events that are being handled, and ends the watcher.
func (wt *Worktree) Close() error {
	wt.Waiting.idle.Wait()
	wt.log.Mu.Lock()
	defer wt.log.Mu.Unlock()
	return wt.unwatch()
}
