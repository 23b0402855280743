// Package gc keeps a store small. It reads the whole log and plans the removals by the retention settings. It squashes
// the steps that stay, marks everything that is reached, and lets the object store sweep the rest. It stands back while
// events are taken in. docs/gc.md has the invariants.
package gc

import (
	"rewind/engine/history"
	"rewind/engine/ledger"
	"rewind/engine/oplog"
	"rewind/objstore"
)

// Host keeps some of a store in memory. Its methods are called with the log's lock held.
type Host interface {
	// Pinned calls ref for each object that the store must keep for the host.
	Pinned(ref func(objstore.Kind, objstore.ID) error) error
}

// Collector collects the garbage of an open project's store.
type Collector struct {
	log      *oplog.Log
	ledger   *ledger.Ledger
	history  *history.History
	worktree Host
	*State
}

// State is what all Collectors of a store share. It has a lock of its own.
type State struct{ Run gcState }

// New makes a Collector of a log, of what says where sessions were forked, and of what keeps objects in memory.
func New(log *oplog.Log, rows *ledger.Ledger, h *history.History, w Host, st *State) *Collector {
	return &Collector{log, rows, h, w, st}
}
