// Package bisect finds the checkpoint since which something fails. It chooses which one is to be tried next, and lays
// it out in a scratch directory. Somebody else tries it there.
//
//   - line.go has the line: the states that the worktree went through on its way to a checkpoint.
//   - choose.go says which of them to ask about, and what the answers mean. It is pure.
//   - session.go is what is known so far, as it is kept in a file between two answers.
//   - scratch.go makes the scratch directory what a checkpoint holds. link.go says what is in there besides, decide.go how, and view.go
//     makes it.
//   - bisect.go is what people ask for: Start, Mark, Show, Reset; answer.go is where that leads.
//
// Nothing here writes to the worktree or to the log. Where the state of the worktree is what fails, the store has it as
// a checkpoint that no list has.
// What is kept lies in rewind's home, a directory for each session of this room; it is all of the session, and goes as
// a whole.
package bisect

import (
	"sync"

	"rewind/engine/capture"
	"rewind/engine/history"
	"rewind/engine/oplog"
)

// Bisector bisects an open project's history. Safe for concurrent use; sessions do not wait for each other.
type Bisector struct {
	log      *oplog.Log
	history  *history.History
	worktree *capture.Worktree
	*State
}

// State is what all views of a Bisector share. It has a lock of its own.
type State struct {
	mu   sync.Mutex
	busy map[string]*sync.Mutex // by session: held while a request works with it
}

// New makes a Bisector of the rooms that it works with.
func New(log *oplog.Log, h *history.History, w *capture.Worktree, st *State) *Bisector {
	return &Bisector{log, h, w, st}
}

// hold keeps other requests from a session until release.
func (st *State) hold(session string) (release func()) {
	st.mu.Lock()
	if st.busy == nil {
		st.busy = map[string]*sync.Mutex{}
	}
	mu := st.busy[session]
	if mu == nil {
		mu = &sync.Mutex{}
		st.busy[session] = mu
	}
	st.mu.Unlock()
	mu.Lock()
	return mu.Unlock
}

// forget drops the lock of a session that is gone.
func (st *State) forget(session string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.busy, session)
}
