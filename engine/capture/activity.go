package capture

import (
	"sync/atomic"
	"time"

	"rewind/internal/value"
)

// activity is a value.Activity as it goes on.
type activity struct {
	Since   time.Time
	What    string // the restore that it is, as checkout or undo; "": a capture
	Process int    // who waits for it; 0: unknown
	Files   atomic.Int64
	Total   atomic.Int64 // 0: unknown
	Bytes   atomic.Int64
}

// Reach says how far it is.
func (a *activity) Reach(r value.Progress) {
	a.Files.Store(int64(r.Files))
	a.Total.Store(int64(r.Total))
	a.Bytes.Store(r.Bytes)
}

// Restoring says that a restore is under way, until end is called; captures are part of it meanwhile.
func (wt *Worktree) Restoring(what string, process int) (end func()) {
	wt.Busy.Store(&activity{Since: wt.log.Now(), What: what, Process: process})
	return func() { wt.Busy.Store(nil) }
}
