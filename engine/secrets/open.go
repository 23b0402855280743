// Package secrets looks for secrets in what was captured, after it was captured. It remembers how far it got, which
// contents have a secret, and which files were left out. What is done about a secret (skip, flag) is decided where a
// capture is made.
package secrets

import "rewind/engine/oplog"

// Leaks is what is known of the secrets of an open project.
type Leaks struct {
	log *oplog.Log
	*State
}

// State is what all views have in common; it has a lock of its own.
type State struct{ Scan leakState }

// New gives a view of what st knows.
func New(log *oplog.Log, st *State) *Leaks { return &Leaks{log, st} }
