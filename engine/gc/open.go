// Package gc keeps a store small: it reads the whole log, plans by the retention of the settings what goes, squashes what stays, marks what
// is reached, and has the object store sweep the rest. It stands back while events are taken in. docs/gc.md has the invariants.
package gc

import (
	"rewind/engine/oplog"
	"rewind/objstore"
)

// Host is who keeps some of a store in memory. Its methods are called with the log's lock held.
type Host interface {
	// Pinned names to ref each object that the store has to keep for it.
	Pinned(ref func(objstore.Kind, objstore.ID) error) error
}

// Collector collects an open project's store.
type Collector struct {
	log      *oplog.Log
	worktree Host
	*State
}

// State is what all views have in common; it has a lock of its own.
type State struct{ Run gcState }

// New gives a view of what st knows.
func New(log *oplog.Log, w Host, st *State) *Collector { return &Collector{log, w, st} }
