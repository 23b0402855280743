package engine

import (
	"time"

	"rewind/internal/clients"
)

// hold takes e.mu for work that may take long: a person's, not an agent's. It returns what lets go.
func (e *Engine) hold() (release func()) {
	e.mu.Lock()
	e.held.Store(time.Now().UnixNano())
	return func() {
		e.held.Store(0)
		e.procs = nil
		e.mu.Unlock()
	}
}

// HeldFor is how long the worktree has been held by work that events have to wait for: a first snapshot, a restore, a comparison. 0: it is not.
// Safe for concurrent use.
func (e *Engine) HeldFor() time.Duration {
	at := e.held.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, at)), 1)
}

// processes is a look at the processes: one for all that a command asks of them while it has the worktree held; e.mu is held.
func (e *Engine) processes() *clients.Look {
	if e.HeldFor() == 0 {
		return new(clients.Look)
	}
	if e.procs == nil {
		e.procs = new(clients.Look)
	}
	return e.procs
}
