package oplog

import (
	"time"

	"rewind/internal/clients"
)

// Lock takes the log's lock: it orders everything that changes a project.
func (l *Log) Lock() { l.mu.Lock() }

// TryLock is Lock, unless somebody has it.
func (l *Log) TryLock() bool { return l.mu.TryLock() }

// Unlock gives the log's lock back.
func (l *Log) Unlock() { l.mu.Unlock() }

// Hold takes the log's lock for a person's work, which may take long. release gives it back.
func (l *Log) Hold() (release func()) {
	l.mu.Lock()
	l.held.Store(time.Now().UnixNano())
	return func() {
		l.held.Store(0)
		l.procs = nil
		l.mu.Unlock()
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

// TakeIn says whether somebody takes events in now, and returns what was said before. Safe for concurrent use.
func (l *Log) TakeIn(now bool) (was bool) { return l.taking.Swap(now) }

// TakesIn reports whether somebody takes events in. Safe for concurrent use.
func (l *Log) TakesIn() bool { return l.taking.Load() }

// StandBack waits while events are taken in, at most a tenth of a second: for what works in the background.
func (l *Log) StandBack() {
	for range 100 {
		if !l.TakesIn() {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
