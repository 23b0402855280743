package model

import (
	"slices"
	"time"

	"rewind/internal/record"
	"rewind/internal/value"
	"rewind/objstore"
	"rewind/tree"
)

// Checkpoint is a state of the project, and how it came about. It is immutable; its id is the hash of its record.
type Checkpoint struct {
	ID           objstore.ID // not part of the record
	Seq          uint64      // the operation that made it: the order of checkpoints
	Time         time.Time   // millisecond precision; for people, never for order
	Session      string
	Tree         objstore.ID
	Note         objstore.ID   // what the snapshot skipped or flagged; zero: nothing
	Parents      []objstore.ID // the first is the step before it
	Base         objstore.ID   // the state of the worktree before it, where that is not the first parent's tree; else zero
	Cause        Cause
	By           []string // the sessions whose tool calls were running since Base, sorted; empty: nobody's, so it came from outside
	Owned        []Owned  // paths that changed since Base and are not By's
	Late         bool     // the agent was answered before the capture was done: what the event announced may have begun
	Minor        bool     // folded in lists: soon after another, or small
	Git          GitHead
	Counts       Counts
	Conversation TranscriptEnd // how far the session's conversation had come; zero: it has none
	// steps that gc has merged into it; not part of the record. Parents, Base, By and Counts are then as its squash
	// record says
	Merged uint64

	Reverted, Aside []string // as its squash record says, too
}

// Parent is the step before a checkpoint; zero: there is none.
func (c *Checkpoint) Parent() (id objstore.ID) {
	if len(c.Parents) > 0 {
		id = c.Parents[0]
	}
	return id
}

// Owned are changed paths that have other authors than the rest of a checkpoint.
type Owned struct {
	By    []string // sessions, sorted; empty: from outside
	Paths []string // sorted
}

// Cause is why a checkpoint was taken. Its text is untrusted.
type Cause struct {
	Event   string // init, save, undo (the unsaved state before one), safety, or the word for an agent's event
	Message string // what a person wrote
	Tool    string // the tool that an agent called
	Call    string // the agent's id of that call
	Turn    uint64 // the session's turn, from 1; 0: before the first
	Prompt  string // how that turn's prompt begins
}

// The events that cause checkpoints.
const (
	EventInit   = "init"
	EventSave   = "save"
	EventUndo   = "undo"
	EventSafety = "safety"
)

// GitHead is where the user's own repository stood; empty without one. Recorded, never restored.
type GitHead = value.Head

// Counts sizes a checkpoint.
type Counts struct {
	Files    int   // files and symlinks in the tree
	Bytes    int64 // their content
	Skipped  int   // entries of the note
	Added    int   // against the first parent
	Modified int
	Deleted  int
}

// How a checkpoint stands in the store, docs/format.md#checkpoint.
var checkpointTable = record.New(
	record.Uint(1, func(c *Checkpoint) *uint64 { return &c.Seq }).Required(),
	record.Time(2, func(c *Checkpoint) *time.Time { return &c.Time }).Required(),
	record.String(3, func(c *Checkpoint) *string { return &c.Session }),
	record.ID(4, func(c *Checkpoint) *objstore.ID { return &c.Tree }).Required(),
	record.ID(5, func(c *Checkpoint) *objstore.ID { return &c.Note }),
	record.IDs(6, func(c *Checkpoint) *[]objstore.ID { return &c.Parents }),
	record.String(7, func(c *Checkpoint) *string { return &c.Cause.Event }),
	record.String(8, func(c *Checkpoint) *string { return &c.Cause.Message }),
	record.String(9, func(c *Checkpoint) *string { return &c.Git.Commit }),
	record.String(10, func(c *Checkpoint) *string { return &c.Git.Branch }),
	record.Count(11, func(c *Checkpoint) *int { return &c.Counts.Files }),
	record.Count(12, func(c *Checkpoint) *int64 { return &c.Counts.Bytes }),
	record.Count(13, func(c *Checkpoint) *int { return &c.Counts.Skipped }),
	record.Count(14, func(c *Checkpoint) *int { return &c.Counts.Added }),
	record.Count(15, func(c *Checkpoint) *int { return &c.Counts.Modified }),
	record.Count(16, func(c *Checkpoint) *int { return &c.Counts.Deleted }),
	record.ID(17, func(c *Checkpoint) *objstore.ID { return &c.Base }),
	record.String(18, func(c *Checkpoint) *string { return &c.Cause.Tool }),
	record.String(19, func(c *Checkpoint) *string { return &c.Cause.Call }),
	record.Uint(20, func(c *Checkpoint) *uint64 { return &c.Cause.Turn }),
	record.String(21, func(c *Checkpoint) *string { return &c.Cause.Prompt }),
	record.Strings(22, func(c *Checkpoint) *[]string { return &c.By }),
	record.Bool(23, func(c *Checkpoint) *bool { return &c.Late }),
	record.Bool(24, func(c *Checkpoint) *bool { return &c.Minor }),
	record.ID(25, func(c *Checkpoint) *objstore.ID { return &c.Conversation.Transcript }),
	record.Count(26, func(c *Checkpoint) *int64 { return &c.Conversation.Length }),
	record.String(27, func(c *Checkpoint) *string { return &c.Conversation.Last }),
	record.String(28, func(c *Checkpoint) *string { return &c.Conversation.Path }),
	record.Uint(29, func(c *Checkpoint) *uint64 { return &c.Conversation.Generation }),
	record.Records(30, ownedTable, func(c *Checkpoint) *[]Owned { return &c.Owned }),
)

var ownedTable = record.New(
	record.Strings(1, func(o *Owned) *[]string { return &o.By }),
	record.Strings(2, func(o *Owned) *[]string { return &o.Paths }).Required(),
)

// Encode gives the bytes of a checkpoint, docs/format.md#checkpoint.
func (c *Checkpoint) Encode() []byte { return checkpointTable.Encode(c) }

// Texts puts to(s) in place of every text s of a checkpoint.
func (c *Checkpoint) Texts(to func(string) string) { checkpointTable.Texts(c, to) }

// DecodeCheckpoint reads what encode wrote, and refuses everything else with record.ErrFormat.
func DecodeCheckpoint(id objstore.ID, raw []byte) (*Checkpoint, error) {
	c := &Checkpoint{ID: id}
	if err := checkpointTable.Decode(raw, c); err != nil {
		return nil, &value.OpError{Op: "checkpoint", Subject: id.Short(), Err: err}
	}
	return c, nil
}

// Add counts one change; directories that come and go do not count.
func (n *Counts) Add(ch tree.Change) {
	both := ch.Old != nil && ch.New != nil
	switch {
	case IsFile(ch.Old) && IsFile(ch.New), both && ch.Old.Type == ch.New.Type:
		n.Modified++ // a directory's permission bits, too
	case IsFile(ch.New):
		n.Added++
	case IsFile(ch.Old):
		n.Deleted++
	}
}

// ChangedBy reports whether a session is among those that a checkpoint's changes are.
func (c *Checkpoint) ChangedBy(session string) bool {
	return slices.Contains(c.By, session) || slices.ContainsFunc(c.Owned, func(o Owned) bool { return slices.Contains(o.By, session) })
}
