package model

import (
	"rewind/internal/record"
	"rewind/objstore"
)

// TranscriptEnd is a place in a conversation.
type TranscriptEnd struct {
	Transcript objstore.ID // the bytes up to it, docs/format.md#transcript; zero: there is no conversation
	Length     int64       // how many; they end with a whole record
	Last       string      // the agent's id of the newest record that has one
	Path       string      // of the session file
	Generation uint64      // from 1: how many files, or versions of one that did not continue each other, the session has had
}

// Cursor is how far a session file has been captured.
type Cursor struct {
	TranscriptEnd
	Base    int64 // bytes at the beginning that stand in another file
	Checked int64 // the length at which the whole file was compared last
	// Lost is the whole conversation, where the agent's file was cut by nobody's wish; zero: it was not.
	Lost objstore.ID
}

// docs/format.md#session-record, 18.
var cursorTable = record.New(
	record.ID(1, func(c *Cursor) *objstore.ID { return &c.Transcript }),
	record.Count(2, func(c *Cursor) *int64 { return &c.Length }),
	record.String(3, func(c *Cursor) *string { return &c.Last }),
	record.String(4, func(c *Cursor) *string { return &c.Path }),
	record.Uint(5, func(c *Cursor) *uint64 { return &c.Generation }),
	record.Count(6, func(c *Cursor) *int64 { return &c.Base }),
	record.Count(7, func(c *Cursor) *int64 { return &c.Checked }),
	record.ID(8, func(c *Cursor) *objstore.ID { return &c.Lost }),
)
