package oplog

import (
	"time"

	"rewind/internal/clients"
)

// Hold takes the log's lock for a person's work, which may take long. release gives it back.
func (l *Log) Hold() (release func()) {
	l.Mu.Lock()
	l.held.Store(time.Now().UnixNano())
	return func() {
		l.held.Store(0)
		l.procs = nil
		l.Mu.Unlock()
	}
}

// HeldFor is how long the log's lock has been held by Hold; 0: it is not. Safe for concurrent use.
func (l *Log) HeldFor() time.Duration {
	at := l.held.Load()
	if at == 0 {
		return 0
	}
	return max(time.Since(time.Unix(0, at)), 1)
}

// Processes are the machine's processes, looked at once while the log's lock is held by Hold. The log's lock is held.
func (l *Log) Processes() *clients.Processes {
	if l.HeldFor() == 0 {
		return new(clients.Processes)
	}
	if l.procs == nil {
		l.procs = new(clients.Processes)
	}
	return l.procs
}
