// Package capture makes checkpoints. It takes agents' events in, in batches, and finds the changes of the worktree
// since the last capture and their owners. Then it commits a checkpoint with its conversation. It also watches the
// worktree, and looks again after a turn.
package capture

import (
	"sync"
	"sync/atomic"

	"rewind/engine/conversation"
	"rewind/engine/oplog"
	"rewind/engine/secrets"
	"rewind/engine/sessions"
	"rewind/internal/gitinfo"
	"rewind/tree/snapshot"
)

// Worktree makes the checkpoints of an open project.
type Worktree struct {
	log           *oplog.Log
	leaks         *secrets.Leaks
	sessions      *sessions.Sessions
	conversations *conversation.Conversations
	*State
}

// State is what is known of the worktree in memory. The log's lock guards what has none of its own.
type State struct {
	cache      *snapshot.Cache // loaded by the first capture
	Unsaved    *Overlay        // objects of the tree that Cache describes, which the store may lack; nil: it has them all
	git        gitinfo.Reader  // reads the user's repository; safe for concurrent use
	repo       *repository     // the user's repository as the last capture found it
	unread     unreadable      // what the last capture could not read of the repository
	named      *snapshot.Named // the files that calls have named, captured although a rule leaves them out
	repoSeen   repoSeen        // whether there was a repository
	namesRead  bool            // named is known
	seen       *oplog.Recent   // events recorded lately; nil: not loaded yet
	WatchState *watching       // nil: nobody watches
	// TurnEnded is a session whose turn has ended since the last scan of the whole tree; "": none
	TurnEnded   string
	Busy        atomic.Pointer[activity] // the capture or restore under way; nil: none
	Waiting     queue                    // events that wait for a capture
	preemptions int                      // how often in a row a scan of the whole tree was preempted
	callers     sync.Map                 // by session, the caller of an open call
	begun       sync.Map                 // sessions that are not known yet, to a channel: closed when the newest event is taken in
}

// NewState is the state before the first capture.
func NewState(log *oplog.Log) *State {
	st := new(State)
	st.Waiting.log = log
	return st
}

// New makes a Worktree of the rooms that it works with.
func New(log *oplog.Log, k *secrets.Leaks, s *sessions.Sessions, c *conversation.Conversations, st *State) *Worktree {
	return &Worktree{log, k, s, c, st}
}

// Close waits for the events that are being handled, and ends the watcher.
func (wt *Worktree) Close() error {
	wt.Waiting.idle.Wait()
	wt.log.Lock()
	defer wt.log.Unlock()
	return wt.unwatch()
}
