package oplog

import (
	"time"

	"rewind/internal/clients"
)

// Hold takes the log's lock for work that may take long: a person's, not an agent's. It returns what lets go.
func (l *Log) Hold() (release func()) {
	l.Mu.Lock()
	l.held.Store(time.Now().UnixNano())
	return func() {
		l.held.Store(0)
		l.procs = nil
		l.Mu.Unlock()
	}
}

// HeldFor is how long the worktree has been held by work that events have to wait for: a first snapshot, a restore, a comparison. 0: it is
// not. Safe for concurrent use.
func (l *Log) HeldFor() time.Duration {
	at := l.held.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, at)), 1)
}

// Processes is a look at the processes: one for all that a command asks of them while it has the worktree held; the log's lock is held.
func (l *Log) Processes() *clients.Processes {
	if l.HeldFor() == 0 {
		return new(clients.Processes)
	}
	if l.procs == nil {
		l.procs = new(clients.Processes)
	}
	return l.procs
}
