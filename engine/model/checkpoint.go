package model

import (
	"fmt"
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
	Merged       uint64        // steps that gc has merged into it; not part of the record. Parents, Base, By and Counts are then as its squash record says

	Reverted, Aside []string // as its squash record says, too
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

// Field tags of the checkpoint record, docs/format.md#checkpoint.
const (
	tagSeq = iota + 1
	tagTime
	tagSession
	tagTree
	tagNote
	tagParents
	tagEvent
	tagMessage
	tagCommit
	tagBranch
	tagFiles
	tagBytes
	tagSkipped
	tagAdded
	tagModified
	tagDeleted
	tagBase
	tagTool
	tagCall
	tagTurn
	tagPrompt
	tagBy
	tagLate
	tagMinor
	tagTranscript
	tagLength
	tagLast
	tagPath
	tagGeneration
	tagOwned
)

const (
	tagOwnedBy = iota + 1
	tagOwnedPaths
)

// Encode gives the bytes of a checkpoint, docs/format.md#checkpoint.
func (c *Checkpoint) Encode() []byte {
	var e record.Encoder
	e.Uint(tagSeq, c.Seq)
	e.Uint(tagTime, uint64(c.Time.UnixMilli()))
	e.String(tagSession, c.Session)
	e.NonZero(tagTree, c.Tree[:])
	e.NonZero(tagNote, c.Note[:])
	e.List(tagParents, len(c.Parents), func(i int) []byte { return c.Parents[i][:] })
	e.String(tagEvent, c.Cause.Event)
	e.String(tagMessage, c.Cause.Message)
	e.String(tagCommit, c.Git.Commit)
	e.String(tagBranch, c.Git.Branch)
	e.Uint(tagFiles, uint64(c.Counts.Files))
	e.Uint(tagBytes, uint64(c.Counts.Bytes))
	e.Uint(tagSkipped, uint64(c.Counts.Skipped))
	e.Uint(tagAdded, uint64(c.Counts.Added))
	e.Uint(tagModified, uint64(c.Counts.Modified))
	e.Uint(tagDeleted, uint64(c.Counts.Deleted))
	e.NonZero(tagBase, c.Base[:])
	e.String(tagTool, c.Cause.Tool)
	e.String(tagCall, c.Cause.Call)
	e.Uint(tagTurn, c.Cause.Turn)
	e.String(tagPrompt, c.Cause.Prompt)
	e.List(tagBy, len(c.By), func(i int) []byte { return []byte(c.By[i]) })
	e.Bool(tagLate, c.Late)
	e.Bool(tagMinor, c.Minor)
	e.NonZero(tagTranscript, c.Conversation.Transcript[:])
	e.Uint(tagLength, uint64(c.Conversation.Length))
	e.String(tagLast, c.Conversation.Last)
	e.String(tagPath, c.Conversation.Path)
	e.Uint(tagGeneration, c.Conversation.Generation)
	encodeOwned(&e, tagOwned, c.Owned)
	return e.Encoded()
}

func encodeOwned(e *record.Encoder, tag uint64, list []Owned) {
	e.List(tag, len(list), func(i int) []byte {
		var o record.Encoder
		o.List(tagOwnedBy, len(list[i].By), func(k int) []byte { return []byte(list[i].By[k]) })
		o.List(tagOwnedPaths, len(list[i].Paths), func(k int) []byte { return []byte(list[i].Paths[k]) })
		return o.Encoded()
	})
}

func decodeOwned(raw record.Field) (Owned, error) {
	var o Owned
	err := record.Decode(raw, func(tag uint64, f record.Field) error {
		switch tag {
		case tagOwnedBy:
			return f.List(func(v record.Field) error {
				o.By = append(o.By, string(v))
				return nil
			})
		case tagOwnedPaths:
			return f.List(func(v record.Field) error {
				o.Paths = append(o.Paths, string(v))
				return nil
			})
		}
		return record.Unknown(tag)
	})
	if err == nil && len(o.Paths) == 0 {
		err = fmt.Errorf("%w: owners of no path", record.ErrFormat)
	}
	return o, err
}

// DecodeCheckpoint reads what encode wrote, and refuses everything else; the error is objstore.ErrCorrupt.
func DecodeCheckpoint(id objstore.ID, raw []byte) (*Checkpoint, error) {
	c := &Checkpoint{ID: id}
	err := record.Decode(raw, func(tag uint64, f record.Field) (err error) {
		switch tag {
		case tagSeq:
			c.Seq, err = f.Uint()
		case tagTime:
			var ms int64
			err = DecodeCount(f, &ms)
			c.Time = time.UnixMilli(ms)
		case tagSession:
			c.Session = string(f)
		case tagTree:
			err = f.NonZero(c.Tree[:])
		case tagNote:
			err = f.NonZero(c.Note[:])
		case tagParents:
			err = f.List(func(v record.Field) error {
				var p objstore.ID
				err := v.NonZero(p[:])
				c.Parents = append(c.Parents, p)
				return err
			})
		case tagEvent:
			c.Cause.Event = string(f)
		case tagMessage:
			c.Cause.Message = string(f)
		case tagCommit:
			c.Git.Commit = string(f)
		case tagBranch:
			c.Git.Branch = string(f)
		case tagFiles:
			err = DecodeCount(f, &c.Counts.Files)
		case tagBytes:
			err = DecodeCount(f, &c.Counts.Bytes)
		case tagSkipped:
			err = DecodeCount(f, &c.Counts.Skipped)
		case tagAdded:
			err = DecodeCount(f, &c.Counts.Added)
		case tagModified:
			err = DecodeCount(f, &c.Counts.Modified)
		case tagDeleted:
			err = DecodeCount(f, &c.Counts.Deleted)
		case tagBase:
			err = f.NonZero(c.Base[:])
		case tagTool:
			c.Cause.Tool = string(f)
		case tagCall:
			c.Cause.Call = string(f)
		case tagTurn:
			c.Cause.Turn, err = f.Uint()
		case tagPrompt:
			c.Cause.Prompt = string(f)
		case tagBy:
			err = f.List(func(v record.Field) error {
				c.By = append(c.By, string(v))
				return nil
			})
		case tagLate:
			c.Late, err = f.Bool()
		case tagMinor:
			c.Minor, err = f.Bool()
		case tagTranscript:
			err = f.NonZero(c.Conversation.Transcript[:])
		case tagLength:
			err = DecodeCount(f, &c.Conversation.Length)
		case tagLast:
			c.Conversation.Last = string(f)
		case tagPath:
			c.Conversation.Path = string(f)
		case tagGeneration:
			c.Conversation.Generation, err = f.Uint()
		case tagOwned:
			err = f.List(func(v record.Field) error {
				o, err := decodeOwned(v)
				c.Owned = append(c.Owned, o)
				return err
			})
		default:
			return record.Unknown(tag)
		}
		return err
	})
	if err == nil && (c.Tree.IsZero() || c.Seq == 0 || c.Time.IsZero()) {
		err = fmt.Errorf("%w: checkpoint without tree, sequence or time", record.ErrFormat)
	}
	if err != nil {
		return nil, &value.OpError{Op: "checkpoint", Subject: id.Short(), Err: err}
	}
	return c, nil
}

// DecodeCount reads a count or size; 2^53 keeps every one of them exact in JSON.
func DecodeCount[T int | int64](f record.Field, n *T) error {
	v, err := f.Uint()
	if err == nil && v > 1<<53 {
		err = fmt.Errorf("%w: count %d", record.ErrFormat, v)
	}
	*n = T(v)
	return err
}

// Add counts one change; directories that come and go do not count.
func (n *Counts) Add(ch tree.Change) {
	switch {
	case IsFile(ch.Old) && IsFile(ch.New), ch.Old != nil && ch.New != nil && ch.Old.Type == ch.New.Type:
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
