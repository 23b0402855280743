// Package sessions answers which session is meant, by names and prefixes of names, and what it does. It says where the
// project stands (Position), which sessions are at work, and whose program has one open. It reads the log and looks at
// processes; it reads no conversation.
package sessions

import (
	"rewind/engine/ledger"
	"rewind/engine/model"
	"rewind/engine/oplog"
	"rewind/transcript"
)

// Sessions answers questions about the sessions of an open project. Methods that want the log's lock held say so.
type Sessions struct {
	log    *oplog.Log
	rows   *ledger.Ledger
	titled func(title string, whole bool) ([]string, error) // nil: sessions have no titles
	// what a person did not allow, by a session's file; nil: nobody knows
	refusal func(*model.Session) transcript.Refusal
}

// New makes Sessions of the log and its rows.
func New(log *oplog.Log, rows *ledger.Ledger) *Sessions { return &Sessions{log: log, rows: rows} }
