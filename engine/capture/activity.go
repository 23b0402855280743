package capture

import (
	"sync/atomic"
	"time"

	"rewind/engine/model"
)

// activity is the capture or restore under way, with how far it is.
type activity struct {
	Since   time.Time
	What    string // the kind of restore, as checkout or undo; "": a capture
	Process int    // who waits for it; 0: unknown
	Files   atomic.Int64
	Total   atomic.Int64 // 0: unknown
	Bytes   atomic.Int64
}

// Reach stores how far the activity is. Safe for concurrent use.
func (a *activity) Reach(r model.Reached) {
	a.Files.Store(int64(r.Files))
	a.Total.Store(int64(r.Total))
	a.Bytes.Store(r.Bytes)
}

// Restoring makes a restore the activity until end is called; the captures that it takes are part of it. process is that of who waits.
func (wt *Worktree) Restoring(what string, process int) (end func()) {
	wt.Busy.Store(&activity{Since: wt.log.Now(), What: what, Process: process})
	return func() { wt.Busy.Store(nil) }
}
